/** What carries messages of one server: stdio here, HTTP with its own issue. */
import type { JsonObject } from '../json.ts'
import type { ExitStatus } from './executor.ts'

/** Why no more messages come. */
export interface TransportEnd {
  /** null where the process is not known to have ended */
  readonly status: ExitStatus | null
  readonly cause: string | null
}

/** Carries JSON-RPC objects both ways; knows nothing of what they mean. */
export interface MessageTransport {
  onMessage: ((message: JsonObject) => void) | null
  /** an answer was dropped because of its size; null where its id could not be read */
  onTooLong: ((id: number | null) => void) | null
  /** called once */
  onEnd: ((end: TransportEnd) => void) | null
  start(): void
  /** Writes within the call; rejects where nothing can be written. */
  send(message: object): Promise<void>
  close(): void
}
