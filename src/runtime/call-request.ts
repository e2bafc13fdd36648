/** From what a host hands in to a request of the pipeline. Nothing here throws: a request that makes no sense has its end in the pipeline. */
import { LONGEST_DELAY } from '../connections/pending-request.ts'
import { TaplineError } from '../errors.ts'
import type { CallOptions, PipelineRequest, Target } from '../pipeline/request.ts'
import type { KeyRegistry } from '../servers/key.ts'
import { unknownKey } from './unknown-key.ts'

const REQUEST_KEYS = ['arguments', 'name', 'namespace', 'server', 'environmentId', 'installationId', 'owner', 'tool'] as const
const OPTION_KEYS = ['signal', 'timeoutMs', 'idleTimeoutMs', 'onProgress', 'meta', 'callId', 'trace', 'overflowFile'] as const

/** A tool call, read strictly: the request comes from a model. */
export function toolRequest(request: unknown, options: CallOptions, keys: KeyRegistry, isClosed: boolean): PipelineRequest {
  try {
    const given: object = typeof request === 'object' && request !== null ? request : {}
    const tool = own(given, 'tool')
    return {
      method: 'tools/call',
      target: targetOf(request, options, keys, isClosed),
      subject: typeof tool === 'string' ? tool : '',
      arguments: own(given, 'arguments'),
    }
  } catch (error) {
    // a getter or a Proxy
    const unreadable = new TaplineError('CALL_INVALID_REQUEST', 'the request cannot be read', { cause: error })
    return { method: 'tools/call', target: nothing(unreadable), subject: '', arguments: {} }
  }
}

/** The options without limits that are none; those were told of already, as the target of the request. */
export function checkedOptions(options: CallOptions): CallOptions {
  return problemOf(options) === null ? options : {}
}

function targetOf(request: unknown, options: CallOptions, keys: KeyRegistry, isClosed: boolean): Target {
  if (isClosed) return nothing(new TaplineError('SESSION_CLOSED', 'the session is closed'))
  const problem = problemOf(options)
  if (problem !== null) return invalid(problem)
  if (typeof request !== 'object' || request === null) return invalid('a call is an object with name, or with server and tool')
  // a misspelt environment must not mean "any"
  const unknown = unknownKey('a call', request, REQUEST_KEYS)
  if (unknown !== null) return invalid(unknown)
  const owner = own(request, 'owner')
  const tool = own(request, 'tool')
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
  const name = own(request, 'name')
  const server = own(request, 'server')
  if (server !== undefined) {
    const environmentId = own(request, 'environmentId')
    const installationId = own(request, 'installationId')
    if (name !== undefined) return invalid('a call has either name, or server and tool')
    if (typeof server !== 'string' || typeof tool !== 'string') return invalid('server and tool must be text')
    if (!isOptionalText(environmentId) || !isOptionalText(installationId))
      return invalid('environmentId and installationId must be text or null')
    return { by: 'server', server, environmentId, installationId }
  }
  if (typeof name !== 'string' || name === '') return invalid('a call needs a name, or a server and a tool')
  const namespace = own(request, 'namespace')
  if (namespace !== undefined && typeof namespace !== 'string') return invalid('namespace must be text')
  return { by: 'name', name, namespace }
}

function problemOf(options: CallOptions): string | null {
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

/** A field that the request has itself: what somebody put on Object.prototype names no server. */
function own(request: object, field: string): unknown {
  // read first: most fields are not there, and then there is nothing to look at twice
  const value = (request as Readonly<Record<string, unknown>>)[field]
  return value === undefined || Object.hasOwn(request, field) ? value : undefined
}

const isOptionalText = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string'
const nothing = (error: TaplineError): Target => ({ by: 'nothing', error })
const invalid = (message: string): Target => nothing(new TaplineError('CALL_INVALID_REQUEST', message))
