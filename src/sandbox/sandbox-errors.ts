/** What can go wrong for a server that runs commands in the sandbox of its caller; each class is a code of docs/reference/errors.md. */
import { TaplineError } from '../errors.ts'

/** The call carries no sandbox state, or no launcher. */
export class SandboxUnavailableError extends TaplineError {
  declare readonly code: 'SANDBOX_UNAVAILABLE'
  override readonly name = 'SandboxUnavailableError'

  constructor(message: string) {
    super('SANDBOX_UNAVAILABLE', message)
  }
}

/** What the call carries contradicts itself, or is no launcher. */
export class SandboxContradictionError extends TaplineError {
  declare readonly code: 'SANDBOX_CONTRADICTION'
  override readonly name = 'SandboxContradictionError'

  constructor(message: string) {
    super('SANDBOX_CONTRADICTION', message)
  }
}

/** The command never ran. */
export class SandboxLauncherError extends TaplineError {
  declare readonly code: 'SANDBOX_LAUNCHER_FAILED'
  override readonly name = 'SandboxLauncherError'
  /** what the launcher said; empty where it could not be started */
  readonly stderr: string

  constructor(message: string, stderr = '', cause?: unknown) {
    super('SANDBOX_LAUNCHER_FAILED', message, { cause })
    this.stderr = stderr
  }
}

/** The command printed more than was allowed, and was ended. */
export class SandboxOutputError extends TaplineError {
  declare readonly code: 'SANDBOX_OUTPUT_TOO_LARGE'
  override readonly name = 'SandboxOutputError'

  constructor(maxBytes: number) {
    super('SANDBOX_OUTPUT_TOO_LARGE', `the command printed more than ${maxBytes} bytes and was ended`)
  }
}

/** Something that one call left behind was about to be used by a call with another authority. */
export class SandboxAuthorityChangedError extends TaplineError {
  declare readonly code: 'SANDBOX_AUTHORITY_CHANGED'
  override readonly name = 'SandboxAuthorityChangedError'

  constructor() {
    super('SANDBOX_AUTHORITY_CHANGED', 'the sandbox state or launcher is not the one of the call that this was made for')
  }
}
