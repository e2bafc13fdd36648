/** What carries the messages of one server, over pipes or over HTTP, and ends what is behind it. */
import type { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { ExitStatus } from './executor.ts'

/** Why no more messages come. */
export interface TransportEnd {
  /** null where no process is known to have ended */
  readonly status: ExitStatus | null
  readonly cause: string | null
  /** where the transport knows the whole story */
  readonly error?: TaplineError
}

/** Carries JSON-RPC objects both ways; knows nothing of what they mean. */
export interface MessageCarrier {
  onMessage: ((message: JsonObject) => void) | null
  /** the request of this id came to nothing; the others go on */
  onFailed: ((id: number, error: TaplineError) => void) | null
  /** called once */
  onEnd: ((end: TransportEnd) => void) | null
  start(): void
  /** Takes the message over within the call; rejects where nothing can be written. */
  send(message: object): Promise<void>
  /** No message is given or taken from now on. */
  close(): void
  /** The revision that `initialize` agreed on. */
  agreed?(version: string): void
}

/** What carries the messages of a server, and what is known of it. */
export interface MessageTransport extends MessageCarrier {
  /** an answer was dropped because of its size; null where its id could not be read */
  onTooLong: ((id: number | null) => void) | null
  /** pid on this machine, or null */
  readonly pid: number | null
  /** why the place of the process cannot be reached, as `StdioProcess` has it */
  readonly trouble: string | null | undefined
  agreed(version: string): void
  /** What came beside messages, as one text; empty where there was nothing. */
  junk(secrets: Secrets): string
  /** The last lines of stderr, redacted. */
  lastLines(secrets: Secrets): readonly string[]
  /** Ends the process, or takes leave of the server: at most about three times `graceMs`. Never rejects. */
  stop(graceMs: number): Promise<void>
}
