/** From the error that ended a call to its outcome: one table, so that the same thing always ends the same way. */
import type { ErrorCode, TaplineError } from '../errors.ts'
import type { CallOutcome, ForModel, Overflow, PipelineHook } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'
import { cutResult } from './cut-result.ts'
import { modelResult, modelText } from './for-model.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { sizeOver } from './result-size.ts'

type Kind = Exclude<CallOutcome['outcome'], 'completed'>

const KINDS: Partial<Record<ErrorCode, Kind>> = {
  HOOK_CHANGED_OWNER: 'ownership_violation',
  HOOK_BAD_RETURN: 'refused',
  HOOK_FAILED: 'refused',
  HOOK_TIMED_OUT: 'refused',
  CALL_REFUSED: 'refused',
  CALL_TOOL_DISABLED: 'refused',
  CALL_DECLINED: 'refused',
  CALL_DISMISSED: 'refused',
  CALL_APPROVAL_TIMED_OUT: 'refused',
  CALL_REVIEW_DENIED: 'refused',
  APPROVAL_POLICY_NEVER: 'refused',
  SERVER_DISABLED: 'refused',
  SANDBOX_POLICY_UNREADABLE: 'refused',
  CALL_NO_APPROVER: 'no_approver',
  CALL_CANCELLED: 'cancelled',
  SESSION_CLOSED: 'cancelled',
  CALL_TIMED_OUT: 'timed_out',
  SERVER_START_TIMED_OUT: 'timed_out',
  CALL_AUTHORITY_CHANGED: 'authority_changed',
  CALL_INVALID_REQUEST: 'invalid_request',
  AMBIGUOUS_SERVER: 'invalid_request',
  UNKNOWN_SERVER: 'invalid_request',
  UNKNOWN_TOOL: 'invalid_request',
  UNKNOWN_ARGUMENT: 'invalid_request',
  INVALID_CURSOR: 'invalid_request',
  ENVIRONMENT_UNKNOWN: 'invalid_request',
  CONFIG_INVALID: 'invalid_request',
}

const HOOK_FAILURES: ReadonlySet<ErrorCode> = new Set(['HOOK_CHANGED_OWNER', 'HOOK_BAD_RETURN', 'HOOK_FAILED', 'HOOK_TIMED_OUT'])
const BY_PERSON: ReadonlySet<ErrorCode> = new Set(['CALL_DECLINED', 'CALL_DISMISSED', 'CALL_APPROVAL_TIMED_OUT'])

/** A finished call. Frozen; `forModel` is built on first read. */
export function completed(run: PipelineRun, result: JsonObject, overflow: Overflow | null = null): CallOutcome<Method> {
  return new Completed(run, result, overflow) as unknown as CallOutcome<Method>
}

/** The end that belongs to an error. A hook that failed after something was sent withholds the result. */
export function failed(run: PipelineRun, error: TaplineError): CallOutcome<Method> {
  const { code, data = {} } = error
  const text = (value: string): string => run.host.secrets.redact(value)
  const common = { code, message: text(error.message), remedy: text(error.remedy) }
  // what a tap refuses after the call was sent is the result
  const isOfHook = HOOK_FAILURES.has(code) || (code === 'CALL_REFUSED' && error.hook === 'dispatch')
  const kind: Kind = isOfHook && run.sent !== 'no' ? 'result_withheld' : (KINDS[code] ?? 'server_failed')
  const hook = (error.hook ?? run.phase) as PipelineHook
  const tap = error.tap ?? ''
  const more = ((): object => {
    switch (kind) {
      case 'refused': {
        const by =
          code === 'CALL_REVIEW_DENIED'
            ? 'reviewer'
            : BY_PERSON.has(code)
              ? 'person'
              : HOOK_FAILURES.has(code)
                ? 'tap_failure'
                : data['by'] === 'tap'
                  ? 'tap'
                  : 'policy'
        return { by, reason: text(typeof data['reason'] === 'string' ? data['reason'] : error.message) }
      }
      case 'cancelled':
        return { by: 'host' }
      case 'timed_out':
        return { phase: code === 'SERVER_START_TIMED_OUT' ? 'start' : run.phase, limitMs: Number(data['limitMs'] ?? run.limit.limitMs) }
      case 'ownership_violation':
        return { hook, tap, plugin: error.plugin ?? '', key: typeof data['key'] === 'string' ? data['key'] : '' }
      case 'authority_changed':
        return { what: data['what'] }
      case 'server_failed':
        return {
          ...(data['rawResult'] !== undefined && { rawResult: withinLimit(run, data['rawResult'] as JsonObject) }),
          ...(typeof data['rpcCode'] === 'number' && { rpcError: { code: data['rpcCode'], data: (data['rpcData'] ?? null) as Json } }),
        }
      case 'result_withheld':
        return { hook, tap, ...(code === 'CALL_REFUSED' && { reason: text(String(data['reason'])) }) }
      case 'invalid_request':
        return { candidates: (data['keys'] as readonly ServerKey[] | undefined) ?? [] }
      default:
        return {}
    }
  })()
  return new Failed(run, kind, forModel(kind, common.message, more), { ...common, ...more }) as unknown as CallOutcome<Method>
}

/** The raw result of a tool, cut where it is too large. */
function withinLimit(run: PipelineRun, raw: JsonObject): JsonObject {
  const limitBytes = run.sealed.entry.registration.policy.maxResultBytes
  const bytes = sizeOver(raw, limitBytes)
  return bytes === null ? raw : cutResult(raw, { bytes, limitBytes, file: null })
}

/** A guard's own words reach the model only where its author wrote them for it: deny(reason). */
function forModel(kind: Kind, message: string, more: { readonly by?: string; readonly reason?: string }): string {
  switch (kind) {
    case 'refused':
      return more.by === 'tap_failure' ? 'The call was blocked because a guard could not judge it.' : `The call was refused: ${more.reason}`
    case 'result_withheld':
      return more.reason !== undefined
        ? `The call ran, but its result is withheld: ${more.reason}`
        : 'The call ran, but its result is withheld because a guard could not judge it. Do not assume that nothing happened.'
    case 'ownership_violation':
      return 'The call was blocked because a plugin tried to move it to another server.'
    case 'no_approver':
      return 'The call needs approval, and nobody is there to give it.'
    case 'cancelled':
      return 'The call was cancelled.'
    default:
      return message
  }
}

/** Classes, because an object with a getter of its own has a hidden class of its own, and making one costs as much as the rest of a call. */
class Ended {
  readonly outcome: CallOutcome['outcome']
  readonly callId: string
  readonly owner: ServerKey | null
  readonly tool: string | null
  readonly sent: PipelineRun['sent']
  readonly durationMs: number
  declare readonly trace?: CallTrace
  declare readonly additionalContext?: readonly string[]

  constructor(run: PipelineRun, outcome: CallOutcome['outcome']) {
    this.outcome = outcome
    this.callId = run.callId
    this.owner = run.located?.owner ?? null
    this.tool = run.located?.tool ?? null
    this.sent = run.sent
    this.durationMs = performance.now() - run.began
    if (run.additionalContext !== null)
      this.additionalContext = Object.freeze(run.additionalContext.map((text) => run.host.secrets.redact(text)))
    if (run.trace !== null && (run.options.trace === true || run.host.traceAll)) this.trace = run.trace.read()
  }
}

class Completed extends Ended {
  readonly code = 'OK'
  readonly result: JsonObject
  declare readonly overflow?: Overflow
  #model: ForModel | null = null

  constructor(run: PipelineRun, result: JsonObject, overflow: Overflow | null) {
    super(run, 'completed')
    this.result = result
    if (overflow !== null) this.overflow = overflow
    Object.freeze(this)
  }

  get forModel(): ForModel {
    return (this.#model ??= modelResult(this.result))
  }
}

class Failed extends Ended {
  readonly #text: string
  #model: ForModel | null = null

  constructor(run: PipelineRun, kind: Kind, text: string, rest: object) {
    super(run, kind)
    this.#text = text
    Object.assign(this, rest)
    Object.freeze(this)
  }

  get forModel(): ForModel {
    return (this.#model ??= modelText(this.#text))
  }
}
