/** How a command ends, as the exit status of the process (spec 95): the one table. */
import type { ErrorCode } from '../errors.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Explanation } from '../hooks/trace.ts'
import type { Method } from '../mcp.ts'

export const EXIT_DONE = 0
const EXIT_TOOL_ERROR = 1
/** what was asked for was found wanting */
export const EXIT_FINDINGS = 1
export const EXIT_USAGE = 2
const EXIT_REFUSED = 3
export const EXIT_FAILED = 4
const EXIT_VIOLATION = 5
/** Ctrl-C: 128 + SIGINT. */
const EXIT_INTERRUPTED = 130

const BY_OUTCOME: Readonly<Record<CallOutcome['outcome'], number>> = {
  completed: EXIT_DONE,
  invalid_request: EXIT_USAGE,
  refused: EXIT_REFUSED,
  no_approver: EXIT_REFUSED,
  result_withheld: EXIT_REFUSED,
  server_failed: EXIT_FAILED,
  timed_out: EXIT_FAILED,
  cancelled: EXIT_FAILED,
  ownership_violation: EXIT_VIOLATION,
  authority_changed: EXIT_VIOLATION,
}

/** Statuses of what fails outside a call. A new code does not compile until it has one. */
const BY_CODE: Readonly<Record<ErrorCode, number>> = {
  HOOK_CHANGED_OWNER: EXIT_VIOLATION,
  HOOK_BAD_RETURN: EXIT_REFUSED,
  HOOK_FAILED: EXIT_REFUSED,
  HOOK_TIMED_OUT: EXIT_REFUSED,
  HOOK_BAD_TAP: EXIT_USAGE,
  HOOK_BAD_PLUGIN: EXIT_USAGE,
  CALL_INVALID_REQUEST: EXIT_USAGE,
  CALL_REFUSED: EXIT_REFUSED,
  CALL_DECLINED: EXIT_REFUSED,
  CALL_DISMISSED: EXIT_FAILED,
  CALL_APPROVAL_TIMED_OUT: EXIT_REFUSED,
  CALL_REVIEW_DENIED: EXIT_REFUSED,
  CALL_NO_APPROVER: EXIT_REFUSED,
  CALL_TOOL_DISABLED: EXIT_REFUSED,
  CALL_CANCELLED: EXIT_FAILED,
  CALL_TIMED_OUT: EXIT_FAILED,
  CALL_AUTHORITY_CHANGED: EXIT_VIOLATION,
  ELICITATION_UNROUTABLE: EXIT_REFUSED,
  APPROVAL_POLICY_NEVER: EXIT_REFUSED,
  AMBIGUOUS_SERVER: EXIT_USAGE,
  UNKNOWN_SERVER: EXIT_USAGE,
  UNKNOWN_TOOL: EXIT_USAGE,
  UNKNOWN_ARGUMENT: EXIT_USAGE,
  INVALID_CURSOR: EXIT_USAGE,
  SESSION_CLOSED: EXIT_FAILED,
  SERVER_FAILED: EXIT_FAILED,
  SERVER_START_FAILED: EXIT_FAILED,
  SERVER_START_TIMED_OUT: EXIT_FAILED,
  SERVER_EXITED: EXIT_FAILED,
  SERVER_AUTH_REQUIRED: EXIT_FAILED,
  SERVER_DISABLED: EXIT_USAGE,
  SERVER_PROTOCOL: EXIT_FAILED,
  ENVIRONMENT_UNKNOWN: EXIT_USAGE,
  ENVIRONMENT_UNAVAILABLE: EXIT_FAILED,
  ENVIRONMENT_UNSUPPORTED: EXIT_FAILED,
  ENVIRONMENT_FILE_FAILED: EXIT_FAILED,
  FLAG_UNKNOWN: EXIT_USAGE,
  FLAG_BAD_VALUE: EXIT_USAGE,
  CONFIG_INVALID: EXIT_USAGE,
  CONFIG_NOT_FOUND: EXIT_USAGE,
  CONFIG_UNTRUSTED: EXIT_USAGE,
  STORE_FAILED: EXIT_USAGE,
  SANDBOX_POLICY_UNREADABLE: EXIT_USAGE,
  SANDBOX_UNAVAILABLE: EXIT_FAILED,
  SANDBOX_CONTRADICTION: EXIT_FAILED,
  SANDBOX_LAUNCHER_FAILED: EXIT_FAILED,
  SANDBOX_OUTPUT_TOO_LARGE: EXIT_FAILED,
  SANDBOX_AUTHORITY_CHANGED: EXIT_FAILED,
  TRACE_UNREADABLE: EXIT_USAGE,
  CLI_USAGE: EXIT_USAGE,
  INTERNAL: EXIT_FAILED,
}

/** Status of a call. `completed` is 1 where the tool itself answered `isError`; a person who left the question with Ctrl-C is 130. */
export function statusOfOutcome(outcome: CallOutcome<Method>): number {
  if (outcome.outcome === 'completed') return 'isError' in outcome.result && outcome.result.isError === true ? EXIT_TOOL_ERROR : EXIT_DONE
  if (outcome.outcome === 'cancelled' && outcome.by === 'person') return EXIT_INTERRUPTED
  return BY_OUTCOME[outcome.outcome]
}

/** Status of an explanation: 0 where the call would be sent or somebody would be asked, else that of the call. */
export function statusOfExplanation({ wouldEnd, outcome }: Explanation): number {
  if (wouldEnd === 'sent' || wouldEnd === 'asked') return EXIT_DONE
  return outcome === null ? BY_OUTCOME[wouldEnd] : statusOfOutcome(outcome)
}

/** Status of an error that was thrown outside a call; 4 for a code of a newer copy of the library. */
export function statusOfCode(code: ErrorCode): number {
  return BY_CODE[code] ?? EXIT_FAILED
}
