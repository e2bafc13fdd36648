/** How a place starts processes and reaches servers. A harness can bring its own executor. */
import type { JsonObject } from '../json.ts'

/** What to start. */
export interface LaunchRequest {
  readonly command: string
  readonly args: readonly string[]
  /** a path of that machine */
  readonly cwd: string
  /** exactly the variables that the configuration names; the base (HOME, PATH …) is the executor's own */
  readonly env: Readonly<Record<string, string>>
  /** a short label for logs, e.g. `files (environment vm)` */
  readonly label: string
}

export interface ExitStatus {
  readonly code: number | null
  readonly signal: string | null
}

/** A process with pipes. Node and web streams are async iterables already. */
export interface StdioProcess {
  readonly stdout: AsyncIterable<Uint8Array>
  /** drained by us, always */
  readonly stderr: AsyncIterable<Uint8Array>
  /** resolves once the bytes are taken over; order is kept; rejects where the process is gone */
  write(chunk: Uint8Array): Promise<void>
  /** false where stdin cannot be closed: then `terminate` comes at once */
  endStdin(): Promise<boolean>
  /** the whole process group */
  kill(how: 'terminate' | 'kill'): Promise<void>
  /** never rejects; settles on exit, not on the end of the pipes */
  readonly exited: Promise<ExitStatus>
  /** only where it is a process of this machine */
  readonly pid?: number
  /** why it cannot be reached at the moment, or why it ended, where that is the fault of its place; else null */
  readonly trouble?: string | null
}

/** What a place says of itself. */
export interface PlaceInfo {
  /** its operating system, in its own words */
  readonly platform: string | null
  /** of what carries the servers there, where it has one */
  readonly version: string | null
  /** home folder of the user that servers run as */
  readonly home: string | null
}

/** A connected place. Anything that it does not implement is refused with ENVIRONMENT_UNSUPPORTED, never done locally instead. */
export interface Executor {
  startStdio(request: LaunchRequest, context: { readonly signal: AbortSignal }): Promise<StdioProcess>
  fetch?(input: URL, init: RequestInit): Promise<Response>
  readFile?(path: string, context: { readonly signal: AbortSignal }): Promise<Uint8Array>
  listDirectory?(
    path: string,
    context: { readonly signal: AbortSignal },
  ): Promise<readonly { readonly name: string; readonly kind: 'file' | 'directory' | 'other' }[]>
  /** Asks the place whether it is there, over the way that its servers take. */
  check?(context: { readonly signal: AbortSignal }): Promise<PlaceInfo>
  /** the path with every link resolved; rejects where nothing is there. Without it nobody can say whether a link leaves the root of a plugin package, which is told */
  realPath?(path: string, context: { readonly signal: AbortSignal }): Promise<string>
  /** roots of the plugin packages that the place itself knows of, for one working directory */
  discoverPackages?(folder: string, context: { readonly signal: AbortSignal }): Promise<readonly string[]>
  /** settles when the place is lost; running processes count as exited then */
  readonly lost: Promise<{ readonly cause: string }>
  dispose(): Promise<void>
}

/** Told about process groups of this machine: those still on the list are ended when this process dies, in whatever way. */
export interface ProcessWatch {
  add(group: number): void
  delete(group: number): void
}

/** What an executor gets when it is connected. */
export interface ExecutorContext {
  /** aborts when the runtime closes */
  readonly signal: AbortSignal
  readonly environmentId: string
  /** what the configuration says beside the kind */
  readonly options: JsonObject
  readonly log: (line: string) => void
  /** for processes of this machine */
  readonly watch: ProcessWatch
}

/** Makes executors. `connect` is called lazily, once an environment instance, and again after `lost`. */
export interface ExecutorDefinition {
  readonly kind: string
  /** the options that it was made with, as a configuration file would have them beside the kind */
  readonly options?: JsonObject
  connect(context: ExecutorContext): Promise<Executor>
}
