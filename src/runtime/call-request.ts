/** From what a host hands in to a request of the pipeline. Nothing here throws: a request that makes no sense has its end in the pipeline. */
import { LONGEST_DELAY } from '../connections/pending-request.ts'
import { TaplineError } from '../errors.ts'
import type { CallOptions, PipelineRequest, Target } from '../pipeline/request.ts'
import type { KeyRegistry } from '../servers/key.ts'
import { unknownKey } from './unknown-key.ts'

const REQUEST_KEYS = ['arguments', 'name', 'namespace', 'server', 'environmentId', 'installationId', 'owner', 'tool'] as const
const OPTION_KEYS = ['signal', 'timeoutMs', 'idleTimeoutMs', 'onProgress', 'meta', 'callId', 'trace', 'overflowFile'] as const

/** A tool call, read strictly: the request comes from a model. `problem`: of its options. */
export function toolRequest(request: unknown, problem: string | null, keys: KeyRegistry, isClosed: boolean): PipelineRequest {
  try {
    const given: Fields = typeof request === 'object' && request !== null ? request : {}
    const tool = own(given, 'tool', given.tool)
    return {
      method: 'tools/call',
      target: targetOf(request, problem, keys, isClosed),
      subject: typeof tool === 'string' ? tool : '',
      arguments: own(given, 'arguments', given.arguments),
    }
  } catch (error) {
    // a getter or a Proxy
    const unreadable = new TaplineError('CALL_INVALID_REQUEST', 'the request cannot be read', { cause: error })
    return { method: 'tools/call', target: nothing(unreadable), subject: '', arguments: {} }
  }
}

function targetOf(request: unknown, problem: string | null, keys: KeyRegistry, isClosed: boolean): Target {
  if (isClosed) return nothing(new TaplineError('SESSION_CLOSED', 'the session is closed'))
  if (problem !== null) return invalid(problem)
  if (typeof request !== 'object' || request === null) return invalid('a call is an object with name, or with server and tool')
  // a misspelt environment must not mean "any"
  const unknown = unknownKey('a call', request, REQUEST_KEYS)
  if (unknown !== null) return invalid(unknown)
  const given: Fields = request
  const owner = own(given, 'owner', given.owner)
  const tool = own(given, 'tool', given.tool)
  if (owner !== undefined) {
    if (typeof tool !== 'string') return invalid('a call by owner needs a tool')
    return keys.owns(owner)
      ? { by: 'owner', owner }
      : nothing(
          new TaplineError('UNKNOWN_SERVER', 'owner is no server key of this runtime', {
            remedy: 'Use the owner of a tool that listTools gave.',
          }),
        )
  }
  const name = own(given, 'name', given.name)
  const server = own(given, 'server', given.server)
  if (server !== undefined) {
    const environmentId = own(given, 'environmentId', given.environmentId)
    const installationId = own(given, 'installationId', given.installationId)
    if (name !== undefined) return invalid('a call has either name, or server and tool')
    if (typeof server !== 'string' || typeof tool !== 'string') return invalid('server and tool must be text')
    if (!isOptionalText(environmentId) || !isOptionalText(installationId))
      return invalid('environmentId and installationId must be text or null')
    return { by: 'server', server, environmentId, installationId }
  }
  if (typeof name !== 'string' || name === '') return invalid('a call needs a name, or a server and a tool')
  const namespace = own(given, 'namespace', given.namespace)
  if (namespace !== undefined && typeof namespace !== 'string') return invalid('namespace must be text')
  return { by: 'name', name, namespace }
}

/** Of a call that has none. It has every key itself, so that nothing on Object.prototype counts as one. */
export const NO_OPTIONS: CallOptions = Object.freeze(Object.fromEntries(OPTION_KEYS.map((key) => [key, undefined]))) as CallOptions

/** What is wrong with the options of a call, or null. */
export function problemOf(options: CallOptions): string | null {
  if (options === NO_OPTIONS) return null
  try {
    return mistakeIn(options)
  } catch {
    // a getter or a Proxy
    return 'the options of the call cannot be read'
  }
}

function mistakeIn(options: CallOptions): string | null {
  if (typeof options !== 'object' || options === null) return 'the options of a call are an object'
  const unknown = unknownKey('the options of a call', options, OPTION_KEYS)
  if (unknown !== null) return unknown
  const { timeoutMs, idleTimeoutMs, signal, callId, onProgress, overflowFile } = options
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') return 'signal must be an AbortSignal'
  if (callId !== undefined && typeof callId !== 'string') return 'callId must be text'
  if (onProgress !== undefined && typeof onProgress !== 'function') return 'onProgress must be a function'
  if (overflowFile !== undefined && (typeof overflowFile !== 'string' || overflowFile === '' || overflowFile.includes('\0')))
    return 'overflowFile must be the path of a file'
  if (timeoutMs === undefined && idleTimeoutMs === undefined) return null
  for (const [name, ms] of Object.entries({ timeoutMs, idleTimeoutMs })) {
    if (ms !== undefined && !(typeof ms === 'number' && ms >= 1 && ms <= LONGEST_DELAY)) return `${name} must be 1 to ${LONGEST_DELAY} ms`
  }
  return null
}

type Fields = { readonly [Field in (typeof REQUEST_KEYS)[number]]?: unknown }

/** The value of a field that the request has itself: what somebody put on Object.prototype names no server. The field is read by name, since one that is looked up costs ten times as much. */
function own(request: Fields, field: keyof Fields, value: unknown): unknown {
  return value === undefined || Object.hasOwn(request, field) ? value : undefined
}

const isOptionalText = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string'
const nothing = (error: TaplineError): Target => ({ by: 'nothing', error })
const invalid = (message: string): Target => nothing(new TaplineError('CALL_INVALID_REQUEST', message))
