/** Questions of servers and of the pipeline, put to the client as MCP requests. */
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Root } from '../mcp.ts'
import { printable } from '../connections/printable.ts'
import type { ApprovalQuestion, Approver, ElicitationAnswer, SessionOptions } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ClientPeer } from './client-peer.ts'
import { uniqueUri } from './resource-uri.ts'

type Handlers = Pick<SessionOptions, 'approver' | 'onElicitation' | 'onSampling' | 'onRoots' | 'declares'>

/** Handlers for exactly what the client declared. */
export function clientHandlers(peer: () => ClientPeer, capabilities: JsonObject): Handlers {
  const { elicitation, sampling, roots } = capabilities
  return {
    ...(isJsonObject(elicitation) && {
      // a client that says nothing of modes has forms
      ...((elicitation['form'] !== undefined || elicitation['url'] === undefined) && { approver: formApprover(peer) }),
      onElicitation: async ({ owner, message, params }, { signal }) =>
        (await peer().request(
          'elicitation/create',
          {
            ...params,
            message: `${owner}: ${message}`,
            // two servers may use one id, and each can only say of its own that it is done
            ...(typeof params['elicitationId'] === 'string' && { elicitationId: uniqueUri(owner, params['elicitationId']) }),
            _meta: withOwner(params['_meta'], owner),
          },
          signal,
        )) as unknown as ElicitationAnswer,
    }),
    ...(isJsonObject(sampling) && {
      onSampling: async ({ owner, request }, { signal }) =>
        (await peer().request(
          'sampling/createMessage',
          { ...(request as unknown as JsonObject), _meta: withOwner((request as unknown as JsonObject)['_meta'], owner) },
          signal,
        )) as never,
    }),
    ...(isJsonObject(roots) && {
      onRoots: async ({ signal }) => {
        const { roots: folders } = await peer().request('roots/list', {}, signal)
        return Array.isArray(folders) ? (folders as readonly Root[]) : []
      },
    }),
    ...((isJsonObject(elicitation) || isJsonObject(sampling)) && {
      declares: { ...(isJsonObject(elicitation) && { elicitation }), ...(isJsonObject(sampling) && { sampling }) },
    }),
  }
}

/** Over whatever the server says there. */
const withOwner = (meta: unknown, owner: ServerKey): JsonObject => ({ ...(isJsonObject(meta) && meta), 'tapline/owner': String(owner) })

const CHOICES = { once: 'Yes, once', session: 'Yes, for this session', always: 'Yes, always', deny: 'No' } as const
type Choice = keyof typeof CHOICES

/** Asks whether a call may run, as a form with one choice. */
function formApprover(peer: () => ClientPeer): Approver {
  return async (question, { signal }) => {
    const choices: readonly Choice[] = ['once', ...question.canRemember, 'deny']
    const answer = await peer().request('elicitation/create', approvalForm(question, choices), signal)
    const { action, content } = answer
    if (action === 'cancel') return { action }
    const decision = isJsonObject(content) ? choices.find((choice) => choice === content['decision']) : undefined
    if (action !== 'accept' || decision === undefined || decision === 'deny') return { action: 'decline' }
    return decision === 'once' ? { action: 'accept' } : { action: 'accept', remember: decision }
  }
}

/** Characters of the arguments that a question shows. */
const LONGEST_ARGUMENTS = 4000

// one line each: a text of a server cannot write a line of ours
const cut = (text: string): string => printable(text, 200)

/** JSON in which nothing turns the order of the text around or cannot be seen. */
const plain = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

function approvalForm(question: ApprovalQuestion, choices: readonly Choice[]): JsonObject {
  const { owner, environmentId, tool, description, notes, changes } = question
  const args = JSON.stringify(question.arguments, null, 2)
  const half = LONGEST_ARGUMENTS / 2
  // head and tail: what does harm likes to stand at the end
  const shown = plain(
    args.length > LONGEST_ARGUMENTS
      ? `${args.slice(0, half)} … ${args.length - LONGEST_ARGUMENTS} more characters … ${args.slice(-half)}`
      : args,
  )
  const lines = [
    `May the tool ${cut(tool || question.title)} of ${owner} run? It is governed by the environment ${environmentId}.`,
    ...(description === '' ? [] : [`Its server says: ${printable(description, 500)}`]),
    ...notes.map(({ plugin, question: text }) => `${plugin}: ${text}`),
    ...changes.map(({ what, before, after }) => `Changed since the last yes: ${cut(what)}, from ${cut(before)} to ${cut(after)}`),
    `Arguments: ${shown}`,
  ]
  return {
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        // the older of the two forms of a choice, which every client knows
        decision: { type: 'string', title: 'Run it?', enum: choices, enumNames: choices.map((choice) => CHOICES[choice]) },
      },
      required: ['decision'],
    },
  }
}
