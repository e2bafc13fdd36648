/** Leaf room: every error code of the library in one place, and the one error class. docs/reference/errors.md has cause and remedy of each. */

/** Code → the remedy that is shown when the thrower has nothing more exact to say. */
const REMEDIES = {
  HOOK_CHANGED_OWNER: 'Take the ownership field out of what the tap returns or assigns: a hook can never move a call.',
  HOOK_BAD_RETURN: 'Return only what this hook allows (docs/reference/hooks.md lists it for each hook).',
  HOOK_FAILED: 'Fix the tap, or set onFailure: "continue" where its failure may be ignored.',
  HOOK_TIMED_OUT: 'Make the tap faster, or raise its timeoutMs.',
  HOOK_BAD_TAP: 'Correct the registration; docs/reference/hooks.md lists the options of a tap.',
  HOOK_BAD_PLUGIN: 'Export a hook plugin, { name, apply }, as the default export of the module.',
  CALL_INVALID_REQUEST: 'Correct the request and call again.',
  CALL_REFUSED: 'Choose another tool or other arguments, or change the rule that refused the call.',
  CALL_DECLINED: 'The person said no; ask before trying again.',
  CALL_DISMISSED: 'The question was closed without an answer; call again to be asked again.',
  CALL_APPROVAL_TIMED_OUT: 'Nobody answered in time; call again when somebody is there.',
  CALL_REVIEW_DENIED: 'Choose another tool or other arguments, or ask whoever runs the reviewer of the environment.',
  CALL_NO_APPROVER:
    'Give the session an approver (on the command line: a terminal, or --approve), or set the approval mode of the tool to "approve".',
  CALL_TOOL_DISABLED: 'Take the tool out of disabledTools, or add it to enabledTools.',
  CALL_CANCELLED: 'The call was cancelled by its caller; call again if it is still wanted.',
  CALL_TIMED_OUT: 'Raise the limit, or find out why the server is slow.',
  CALL_AUTHORITY_CHANGED: 'Call again: the call will be judged by what holds now.',
  ELICITATION_UNROUTABLE: 'Take sharing: "runtime" off the server, so that every session that answers questions has a process of its own.',
  APPROVAL_POLICY_NEVER: 'Change approvalPolicy of the environment, or the approval mode of the tool.',
  AMBIGUOUS_SERVER: 'Name the environment (and the installation) too.',
  UNKNOWN_SERVER: 'List the servers with `tapline status`.',
  UNKNOWN_TOOL: 'List the tools with `tapline tools`.',
  UNKNOWN_ARGUMENT: 'Leave the argument out, or switch multi_environment_mcp on.',
  INVALID_CURSOR: 'Start again without a cursor; a cursor is the nextCursor of an earlier page, unchanged.',
  SESSION_CLOSED: 'Open a new session.',
  SERVER_FAILED: 'Look at the message of the server; `tapline status` shows its state.',
  SERVER_START_FAILED: 'Run the command of the server by hand to see why it does not start.',
  SERVER_START_TIMED_OUT: 'Raise startupTimeoutSec, or find out why the server does not answer.',
  SERVER_EXITED: 'The next call starts the server again; look at the last lines of its stderr.',
  SERVER_AUTH_REQUIRED: 'Give the server the credentials that it wants.',
  SERVER_DISABLED: 'Set enabled to true.',
  SERVER_PROTOCOL: 'Update the server, or set its protocol to a revision that both sides speak.',
  ENVIRONMENT_UNKNOWN: 'Declare the environment, or correct its name.',
  ENVIRONMENT_UNAVAILABLE: 'Check that the environment can be reached.',
  ENVIRONMENT_UNSUPPORTED: 'Use an executor that can do this.',
  ENVIRONMENT_FILE_FAILED: 'Check the path, and who may read it on the machine of the environment.',
  FLAG_UNKNOWN: 'List the flags with `tapline flags list`.',
  FLAG_BAD_VALUE: 'Give the flag one of its values.',
  CONFIG_INVALID: 'Correct the file at the place named.',
  CONFIG_NOT_FOUND: 'Name a configuration with --config, or write a tapline.json or .mcp.json.',
  CONFIG_UNTRUSTED: 'Read the file, then run `tapline trust`.',
  STORE_FAILED: 'Check the folder of the store and its permissions.',
  SANDBOX_POLICY_UNREADABLE: 'Give the policy as JSON that parses and prints back to the same value.',
  SANDBOX_UNAVAILABLE:
    'Call through a host that sends the sandbox metadata (docs/guides/sandbox.md); the operator of the server may allow commands without it.',
  SANDBOX_CONTRADICTION: 'Correct the host: it has to send one state under both names, and an absolute path of the launcher.',
  SANDBOX_LAUNCHER_FAILED: 'Look at the stderr of the launcher; never run the command without it.',
  SANDBOX_OUTPUT_TOO_LARGE: 'Let the command print less, raise maxBytes, or use spawn().',
  SANDBOX_AUTHORITY_CHANGED: 'Throw the process or result away and start again for this call.',
  TRACE_UNREADABLE: 'Name a file that --trace-file, or trace.file of the configuration, has written.',
  CLI_USAGE: 'Run `tapline --help` to see the commands and options.',
  INTERNAL: 'This is a bug in tapline; please report it with the output of TAPLINE_DEBUG=1.',
} as const

/** Every code that an error or an outcome of the library can carry. */
export type ErrorCode = keyof typeof REMEDIES
/** All codes, in the order of docs/reference/errors.md. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(REMEDIES) as ErrorCode[]

/** The hooks of the pipeline, as errors and traces name them. */
export type HookName = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch' | 'settled'

/** What an error may say beside code and message. */
export interface ErrorDetails {
  readonly remedy?: string
  readonly cause?: unknown
  readonly hook?: HookName
  readonly tap?: string
  readonly plugin?: string
  readonly callId?: string
  /** `file:line:column` of the mistake */
  readonly where?: string
  /** machine-readable facts (candidates, limits, the key that was at fault); never a secret */
  readonly data?: Readonly<Record<string, unknown>>
}

const BRAND = Symbol.for('tapline.error')

/** The only error class that the library throws; `remedy` is one sentence that says what to do. */
export class TaplineError extends Error {
  override readonly name: string = 'TaplineError'
  readonly code: ErrorCode
  readonly remedy: string
  readonly hook?: HookName
  readonly tap?: string
  readonly plugin?: string
  readonly callId?: string
  readonly where?: string
  readonly data?: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    Object.defineProperty(this, BRAND, { value: true })
    this.code = code
    this.remedy = details.remedy ?? REMEDIES[code]
    if (details.hook !== undefined) this.hook = details.hook
    if (details.tap !== undefined) this.tap = details.tap
    if (details.plugin !== undefined) this.plugin = details.plugin
    if (details.callId !== undefined) this.callId = details.callId
    if (details.where !== undefined) this.where = details.where
    if (details.data !== undefined) this.data = details.data
  }
}

/** True for errors of the library, also across duplicate copies of the package (unlike `instanceof`). */
export function isTaplineError(value: unknown): value is TaplineError {
  try {
    return typeof value === 'object' && value !== null && BRAND in value
  } catch {
    // a Proxy that throws
    return false
  }
}

/** The value itself where it is one of ours, else a new error of the given code with the value as its cause. */
export function asTaplineError(value: unknown, code: ErrorCode, message?: string): TaplineError {
  if (isTaplineError(value)) return value
  return new TaplineError(code, message ?? messageOf(value), { cause: value })
}

/** The message of whatever was thrown; never throws itself, whatever that is. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? (thrown.message as unknown) : thrown)
  } catch {
    return 'a value that cannot be shown'
  }
}
