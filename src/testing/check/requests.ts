/** The requests of a check. */
import type { JsonObject } from '../../json.ts'
import type { Method } from '../../mcp.ts'
import { isTaplineError } from '../../errors.ts'
import type { CallOptions } from '../../pipeline/request.ts'
import type { Session } from '../../runtime/types.ts'
import { displayKey } from '../../servers/key.ts'
import type { ArenaNames } from './arena.ts'
import { ANSWERS, ODD_TOOLS } from './arena.ts'
import type { CheckedCall } from './finding.ts'
import { hostileArguments, PLAIN_ARGUMENTS } from './hostile-arguments.ts'

/** One request that a check can make any number of times. */
export interface CheckRequest {
  /** unique */
  readonly label: string
  readonly call: CheckedCall
  /** small enough to be made two thousand times at once */
  readonly isSmall: boolean
  /** Gives what the caller sees of the end, without what differs from run to run; never rejects. */
  send(session: Session, options: CallOptions): Promise<unknown>
}

interface Target {
  readonly server: string
  readonly environmentId: string | null
}

/** Requests whose answers are the same whenever they are made. */
export function ordinaryRequests({ environments, servers, tools }: ArenaNames): readonly CheckRequest[] {
  const [notes = 'notes'] = servers
  const alpha = { server: notes, environmentId: 'alpha' }
  const places = environments.flatMap((environmentId) => servers.map((server): Target => ({ server, environmentId })))
  const single = (server: string, names: readonly string[]): CheckRequest[] =>
    names.map((tool) => toolCall({ server, environmentId: 'alpha' }, tool, 'plain', PLAIN_ARGUMENTS))
  return [
    ...places.flatMap((place) => tools.map((tool) => toolCall(place, tool, 'plain', PLAIN_ARGUMENTS))),
    ...hostileArguments().map(([name, args]) => toolCall(alpha, 'plain', name, args)),
    // each tool that a filter names gets all of them too
    ...tools.slice(3).flatMap((tool) => hostileArguments().map(([name, args]) => toolCall(alpha, tool, name, args))),
    ...['text', [1], null, 5].map((args, at) => toolCall(alpha, 'plain', `no object ${at}`, args)),
    toolCall({ server: 'nobody', environmentId: 'alpha' }, 'plain', 'plain', {}),
    toolCall(alpha, 'no such tool', 'plain', {}),
    ...single('constructor', ODD_TOOLS),
    ...single('answers', ANSWERS),
    ...single('asked', ['read', 'write']),
    ...single('odd:@na.me/-', ['plain']),
    ...(['alpha', 'beta', null] as const).flatMap((environmentId) => otherMethods({ server: notes, environmentId })),
  ]
}

/** Requests whose `next()` rejects. */
export function failingRequests(): readonly CheckRequest[] {
  const place = { server: 'failing', environmentId: 'alpha' }
  return [
    toolCall(place, 'mismatch', 'failing', { text: 'x' }),
    toolCall(place, 'wait', 'failing', { text: 'x' }, { idleTimeoutMs: 30 }),
    toolCall(place, 'crash', 'failing', { text: 'x' }),
  ]
}

/** A call that ends only when it is aborted. */
export const endlessRequest: CheckRequest = toolCall({ server: 'failing', environmentId: 'alpha' }, 'wait', 'endless', PLAIN_ARGUMENTS)

function toolCall(target: Target, tool: string, name: string, args: unknown, own: CallOptions = {}): CheckRequest {
  const label = `${place(target)} ${tool}: ${name}`
  // each has arguments of its own, so that a plugin that mixes calls up is seen
  const given = args === PLAIN_ARGUMENTS ? { ...PLAIN_ARGUMENTS, note: label } : args
  const request = { ...target, tool, arguments: given }
  return {
    label,
    call: described('tools/call', target, tool, given),
    isSmall: name === 'plain' && !['large', 'many'].includes(tool),
    send: async (session, options) => {
      const outcome = await session.callTool(request, { ...own, ...options })
      return [outcome.outcome, outcome.code, outcome.outcome === 'completed' ? outcome.result : null]
    },
  }
}

function otherMethods(target: Target): readonly CheckRequest[] {
  const one = (
    method: Method,
    subject: string | null,
    args: JsonObject,
    run: (session: Session, options: CallOptions) => Promise<unknown>,
  ) => ({
    label: `${place(target)} ${method} ${subject ?? ''}`,
    call: described(method, target, subject, args),
    isSmall: true,
    send: (session: Session, options: CallOptions) =>
      run(session, options).then(
        (value) => JSON.parse(JSON.stringify(value)) as unknown,
        (error: unknown) => (isTaplineError(error) ? error.code : String(error)),
      ),
  })
  const uris = ['notes://one', 'file:///etc/shadow', 'odd:\u202e💥', 'notes://missing', '']
  return [
    one('resources/list', null, {}, (session) => session.listResources(target)),
    one('resources/templates/list', null, {}, (session) => session.listResourceTemplates(target)),
    ...uris.map((uri) => one('resources/read', uri, { uri }, (session, options) => session.readResource({ ...target, uri }, options))),
    one('prompts/list', null, {}, (session) => session.listPrompts(target)),
    one('prompts/get', 'greet', { name: '💥' }, (session, options) =>
      session.getPrompt({ ...target, prompt: 'greet', arguments: { name: '💥' } }, options),
    ),
    one('prompts/get', 'constructor', {}, (session, options) => session.getPrompt({ ...target, prompt: 'constructor' }, options)),
    one('completion/complete', 'greet', { name: 'o' }, (session, options) =>
      session.complete({ ...target, ref: { prompt: 'greet' }, argument: { name: 'name', value: 'o' } }, options),
    ),
  ]
}

function place({ server, environmentId }: Target): string {
  return displayKey({ name: server, environmentId, installationId: null })
}

function described(method: Method, target: Target, subject: string | null, args: unknown): CheckedCall {
  const text = JSON.stringify(args)
  return Object.freeze({
    method,
    owner: place(target),
    target: subject,
    arguments: text.length > 200 ? `${text.slice(0, 199)}…` : text,
  })
}
