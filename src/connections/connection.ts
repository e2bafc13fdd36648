/** One server as the rooms above see it: a stable handle that starts, restarts and closes what is behind it. */
import type { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Progress, ToolAnnotations } from '../mcp.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'

/** What the server said in `initialize`. */
export interface ServerInfo {
  readonly protocolVersion: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | null
  /** pid on this machine, or null */
  readonly pid: number | null
}

/** One tool as its server listed it. Frozen. */
export interface ToolRecord {
  /** raw name */
  readonly name: string
  /** every field as it came */
  readonly raw: JsonObject
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  /** an empty object schema where the server gave none that is an object */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | null
  /** digest of `raw`; computed on first read */
  readonly digest: string
}

/** A merged, guarded list of tools. A new object for every change; `generation` grows. */
export interface ToolListing {
  readonly tools: ReadonlyMap<string, ToolRecord>
  readonly generation: number
  readonly diagnostics: readonly Diagnostic[]
}

export type ListKind = 'resources' | 'resourceTemplates' | 'prompts'

/** The end of whoever waits: what an `AbortSignal` tells, for a small part of what one costs. */
export interface Cancellation {
  readonly isCancelled: boolean
  /** Calls the listener once, when the waiting ends; gives the function that takes it back. */
  onCancel(listener: () => void): () => void
}

export interface RequestOptions {
  readonly signal?: AbortSignal
  /** the same end as `signal`; a connection that listens here leaves `signal` unread, and then none is ever made */
  readonly cancellation?: Cancellation
  /** ms without progress; the request ends with CALL_TIMED_OUT (`data.phase` 'idle') */
  readonly idleTimeoutMs: number
  /** ms in all; null or left out: no limit (`data.phase` 'total') */
  readonly totalTimeoutMs?: number | null
  readonly onProgress?: (progress: Progress) => void
}

/** A server of one environment instance. `connection.key === call.owner` is what dispatch asserts. */
export interface Connection {
  /** unique in the runtime; for traces */
  readonly id: string
  readonly key: ServerKey
  /** where it executes */
  readonly environment: Environment
  readonly state: 'idle' | 'starting' | 'connected' | 'failed' | 'closed'
  readonly transport: 'stdio' | 'http' | 'memory'
  readonly info: ServerInfo | null
  /** why the last start failed, or the last run ended */
  readonly error: TaplineError | null
  /** ms since the epoch of the last start, and how long it took */
  readonly startedAt: number | null
  readonly startMs: number | null
  /** the tools, where the connection is up and the list is known to be current; else null */
  readonly tools: ToolListing | null
  /** Starts or joins a start, and lists the tools. Rejects with SERVER_START_FAILED, SERVER_START_TIMED_OUT, SERVER_PROTOCOL … An abort ends the waiting only, not the start. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<ToolListing>
  /**
   * Writes one request, synchronously within this call where the connection is up, and gives the raw result, every field kept.
   * Rejects with TaplineError: SERVER_FAILED (the server's error; `data.rpcCode`), SERVER_EXITED (`data.sent` 'no' | 'unknown'), CALL_TIMED_OUT, CALL_CANCELLED.
   */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>
  /** All pages of a list, guarded (cycle, 64 pages, time); [] where the server has no such capability. Items as they came. */
  list(
    kind: ListKind,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly items: readonly JsonObject[]; readonly diagnostics: readonly Diagnostic[] }>
  /** Tells the server something that it does not answer; without effect where it is not connected. */
  notify(method: string): void
  /** Sends `logging/setLevel` where a session wants logs and the server can; a server that starts is told by itself. */
  applyLogLevel(): void
  /** Called after every change of state or of the tools. */
  subscribe(listener: () => void): Disposable
}
