/** What a host says about traces, and what a session gets of it. */
import type { TraceRecord } from '../trace/records.ts'

/** Where records of calls go: to a file, to a function, or to both. */
export interface TraceOptions {
  /** JSON lines are appended to it; relative to the working directory */
  readonly file?: string
  /** gets every record after its call has ended; one that throws is a diagnostic */
  readonly sink?: (record: TraceRecord) => void
  /** true: records have the arguments themselves, up to 64 KiB of JSON; default: a digest */
  readonly arguments?: boolean
}

/** `true`: every outcome carries its trace. An object: records of calls go there; that of a session takes the place of its runtime's. */
export type TraceOption = boolean | TraceOptions

/** Where the records of a session go, strongest first: what the session says, what the runtime says, what the configuration says. */
export function traceTarget(...said: readonly (TraceOption | null | undefined)[]): TraceOptions | null {
  const options = said.find((one): one is TraceOptions => typeof one === 'object' && one !== null)
  return options === undefined || (options.file === undefined && options.sink === undefined) ? null : options
}

/** One line about what is wrong with the option; null where nothing is. */
export function traceProblem(option: unknown): string | null {
  if (option === undefined || typeof option === 'boolean') return null
  if (typeof option !== 'object' || option === null) return 'trace must be true, false or an object with file or sink'
  const { file, sink, arguments: args } = option as Readonly<Record<string, unknown>>
  if (file !== undefined && (typeof file !== 'string' || file === '')) return 'trace.file must be the path of a file'
  if (sink !== undefined && typeof sink !== 'function') return 'trace.sink must be a function'
  if (file === undefined && sink === undefined) return 'trace needs file or sink'
  if (args !== undefined && typeof args !== 'boolean') return 'trace.arguments must be true or false'
  return null
}

/** Keys of `TraceOptions`. */
export const TRACE_KEYS = ['file', 'sink', 'arguments'] as const
