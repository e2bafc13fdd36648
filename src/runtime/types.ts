/** The public shapes of runtime and session. */
import type { Config } from '../config/config.ts'
import type { ConfigInput } from '../config/inputs.ts'
import type { ConfigFile } from '../config/load.ts'
import type { LogLevel } from '../connections/lessees.ts'
import type { ExecutorDefinition } from '../connections/executor.ts'
import type { ErrorCode, TaplineError } from '../errors.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Explanation } from '../hooks/trace.ts'
import type { CompleteResult, GetPromptResult, ReadResourceResult, ToolAnnotations } from '../mcp.ts'
import type { JsonObject } from '../json.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { PluginMode } from '../plugin-mode.ts'
import type { ApprovalMode } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { Environments } from './live-environments.ts'
import type { RuntimeEnvironment } from './take-executors.ts'
import type { ServerKey } from '../servers/key.ts'
import type { Approvals } from './approvals.ts'
import type { PromptItem, ResourceItem, ResourceTemplateItem } from './item-types.ts'
import type { HookEntry } from './hook-entry.ts'
import type { PluginModeChange } from './plugin-modes.ts'
import type { SessionHookPlugin } from './session-plugins.ts'
import type { PackageQuery, PluginPackage } from './package-types.ts'
import type { FlagOptions } from './flag-options.ts'
import type { Logger } from './logger.ts'
import type { ResourceTool } from './resource-tools.ts'
import type { SessionEvent } from './session-event.ts'
import type { SessionOptions } from './session-options.ts'
import type { StoreOption } from './store-option.ts'
import type { TraceOption } from './trace-option.ts'

/** How untrusted input names a server. `environmentId: null` = the thread-wide one; left out = "whichever it is, if there is only one". */
export interface ServerSelector {
  readonly server: string
  readonly environmentId?: string | null
  readonly installationId?: string | null
}

/** One tool of a session. */
export interface Tool {
  /** flat, unique in the session: what a model without namespaces sees */
  readonly name: string
  readonly namespace: string
  /** within the namespace */
  readonly nameInNamespace: string
  readonly namespaceDescription: string
  readonly owner: ServerKey
  /** raw name, as the server calls it */
  readonly tool: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations: ToolAnnotations
  readonly approval: ApprovalMode
  /** from the inventory on disk: its server is not connected, and no call is judged by this */
  readonly cached: boolean
  /** every field of the tool as its server listed it */
  readonly raw: JsonObject
}

export interface ServerFailure {
  readonly owner: ServerKey
  readonly error: TaplineError
}

export interface ToolList {
  readonly tools: readonly Tool[]
  /** those for resources, to be offered beside `tools`; empty without `resourceTools`, and where the query names a server or an environment */
  readonly resourceTools: readonly ResourceTool[]
  /** servers without a list yet: they are starting, or with `cached` were never listed */
  readonly pending: readonly ServerKey[]
  readonly errors: readonly ServerFailure[]
  /** changes when, and only when, the list does */
  readonly generation: number
}

export interface ListToolsOptions {
  /** ms to wait for servers that have no list yet; 0: what is there; default: each up to its own start limit */
  readonly waitMs?: number
  /** start nothing: servers that are not connected show the tools that they had when they last ran */
  readonly cached?: boolean
  /** only this server (bare name), and only in this environment (null: the thread-wide one) */
  readonly server?: string
  readonly environmentId?: string | null
  /** only this installation; null: servers without an installation id */
  readonly installationId?: string | null
  readonly signal?: AbortSignal
}

/** `arguments` is unknown on purpose: it is the model's; what is no object ends as `invalid_request`. */
export type ToolCallRequest = { readonly arguments?: unknown } & (
  | { readonly name: string; readonly namespace?: string; readonly tool?: never; readonly server?: never; readonly owner?: never }
  | (ServerSelector & { readonly tool: string; readonly name?: never; readonly owner?: never })
  | { readonly owner: ServerKey; readonly tool: string; readonly name?: never; readonly server?: never }
)

export type { ApprovalAnswer, Approver } from '../pipeline/approver.ts'
export type { ApprovalQuestion, Reviewer } from '../servers/approval-question.ts'
export type { LogLevel } from '../connections/lessees.ts'
export type { ElicitationAnswer, ElicitationQuestion, Elicitor, RootsProvider, Sampler, SamplingQuestion } from '../pipeline/elicitor.ts'
export type { CallOptions } from '../pipeline/request.ts'
export type { FlagOptions } from './flag-options.ts'
export type { PromptItem, ResourceItem, ResourceTemplateItem } from './item-types.ts'
export type { HookEntry, ModeFlag } from './hook-entry.ts'
export type { Logger } from './logger.ts'
export type { PluginModeChange } from './plugin-modes.ts'
export type { SessionHookPlugin } from './session-plugins.ts'
export type { ResourceTool } from './resource-tools.ts'
export type { SessionEvent } from './session-event.ts'
export type { SessionEnvironment, SessionOptions } from './session-options.ts'
export type { TraceOption, TraceOptions } from './trace-option.ts'

export interface ListQuery extends Partial<ServerSelector> {
  readonly cursor?: string
  readonly signal?: AbortSignal
}
/** What one server answered, and which. */
export interface Owned {
  readonly owner: ServerKey
}
/** A server: by the key that a listing gave, or as untrusted input names it. */
export type OwnerOrSelector =
  | (ServerSelector & { readonly owner?: never })
  | { readonly owner: ServerKey; readonly server?: never; readonly environmentId?: never; readonly installationId?: never }
/** A resource of one server. */
export type ResourceRequest = OwnerOrSelector & { readonly uri: string }
/** A prompt of one server, with its arguments. */
export type PromptRequest = OwnerOrSelector & { readonly prompt: string; readonly arguments?: Readonly<Record<string, string>> }
/** What is typed so far of one argument of a prompt or of a resource template. */
export type CompletionRequest = OwnerOrSelector & {
  readonly ref: { readonly prompt: string; readonly uriTemplate?: never } | { readonly uriTemplate: string; readonly prompt?: never }
  readonly argument: { readonly name: string; readonly value: string }
  /** arguments that are filled in already */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> }
}
export interface Listing<T> {
  readonly items: readonly T[]
  readonly errors: readonly ServerFailure[]
  readonly nextCursor: string | null
}

export interface StatusQuery {
  /** rows of a page; 0 acts as 1; left out: all */
  readonly limit?: number
  readonly cursor?: string
  readonly detail?: 'full' | 'tools_and_auth'
  /** false: what is known already, also of servers that are starting; nothing is started and nobody is asked. Default true */
  readonly discover?: boolean
  /** bare name; an empty text counts as left out */
  readonly server?: string
  /** null: thread-wide ones only; an empty text counts as left out */
  readonly environmentId?: string | null
  /** null: those without an installation id; an empty text counts as left out */
  readonly installationId?: string | null
  readonly signal?: AbortSignal
}
/** A status query of a runtime. */
export interface RuntimeStatusQuery extends StatusQuery {
  /** id of an open session; left out: the configuration's own selection of environments */
  readonly sessionId?: string
}
export interface Page<T> {
  readonly data: readonly T[]
  readonly nextCursor: string | null
}
/** One row of the status. */
export interface ServerStatus {
  readonly owner: ServerKey
  /** `idle`: nobody has needed it yet. `auth_required`: it answers, and wants to know who asks */
  readonly runtimeStatus: 'disabled' | 'idle' | 'starting' | 'connected' | 'failed' | 'auth_required'
  /** `unsupported`: it is not reached over HTTP. `unknown`: it was not asked yet */
  readonly authStatus: 'unsupported' | 'not_logged_in' | 'bearer_token' | 'oauth' | 'unknown'
  readonly provenance: readonly string[]
  readonly pluginId: string | null
  readonly httpOrigin: string | null
  readonly protocolVersion: string | null
  readonly serverInfo: JsonObject | null
  readonly capabilities: JsonObject | null
  readonly tools: readonly Tool[]
  /** null with detail `tools_and_auth` or without `discover`, and where it could not be read */
  readonly resources: readonly JsonObject[] | null
  readonly resourceTemplates: readonly JsonObject[] | null
  readonly prompts: readonly JsonObject[] | null
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly remedy: string } | null
  /** ISO 8601, or null */
  readonly startedAt: string | null
  readonly startMs: number | null
  readonly pid: number | null
}

/** A server that a session sees. */
export interface SessionServer {
  readonly owner: ServerKey
  /** what the visible names of its tools begin with, before `__` */
  readonly namespace: string
  readonly enabled: boolean
}

/** One thread of work of a harness. */
export interface Session extends AsyncDisposable {
  readonly id: string
  readonly flags: CapturedFlags
  /** in the selected order */
  readonly environments: readonly Environment[]
  /** in the order of keys; starts nothing */
  readonly servers: readonly SessionServer[]
  readonly diagnostics: readonly Diagnostic[]
  /** with their modes as they are now, in the order in which they register */
  readonly hookPlugins: readonly SessionHookPlugin[]
  /** Never rejects because of a server. */
  listTools(options?: ListToolsOptions): Promise<ToolList>
  /** Never rejects: every end is an outcome. */
  callTool(request: ToolCallRequest, options?: CallOptions): Promise<CallOutcome>
  /** Runs everything up to dispatch and stops; asks nobody. */
  explain(request: ToolCallRequest, options?: CallOptions): Promise<Explanation>
  /** The host's own requests: the same pipeline; they reject with TaplineError. */
  listResources(query?: ListQuery): Promise<Listing<ResourceItem>>
  listResourceTemplates(query?: ListQuery): Promise<Listing<ResourceTemplateItem>>
  readResource(request: ResourceRequest, options?: CallOptions): Promise<ReadResourceResult & Owned>
  listPrompts(query?: ListQuery): Promise<Listing<PromptItem>>
  getPrompt(request: PromptRequest, options?: CallOptions): Promise<GetPromptResult & Owned>
  /** Values that its server proposes for one argument. */
  complete(request: CompletionRequest, options?: CallOptions): Promise<CompleteResult & Owned>
  status(query?: StatusQuery): Promise<Page<ServerStatus>>
  /** one page at a time, discovered as it is asked for */
  statusPages(query?: StatusQuery): AsyncIterable<Page<ServerStatus>>
  /** From now on; servers that can log are told. Throws CALL_INVALID_REQUEST. */
  setLogLevel(level: LogLevel): void
  /** Tells servers that were given the folders of `onRoots` to ask again. */
  rootsChanged(): void
  /** A listener that throws is reported as a diagnostic. */
  subscribe(listener: (event: SessionEvent) => void): Disposable
  /** Cancels running calls, gives back connections. */
  close(): Promise<void>
}

/** The configuration file word for word, plus what only code can give. */
export interface RuntimeOptions extends Omit<Config, 'environments'> {
  readonly environments?: Readonly<Record<string, RuntimeEnvironment>>
  /** files, later ones stronger; what code says is stronger than files. None is looked for: give `await discoverConfig()` for that */
  readonly config?: string | readonly (string | ConfigFile)[]
  /** added to the hooks that the files name, and run after them */
  readonly hooks?: readonly HookEntry[]
  readonly flags?: FlagOptions
  /** kinds that a configuration file may name, made by `defineExecutor` */
  readonly executors?: readonly ExecutorDefinition[]
  /** where remembered approvals and other things outlive the process; default: `store.file` of the files, else the user's folder. A store that is given stays open when the runtime closes */
  readonly store?: StoreOption
  /** ms without a session after which a connection is closed; default 60,000 */
  readonly idleCloseMs?: number
  /** true: every outcome carries its trace. An object: where records of calls go; stronger than `trace` of the files */
  readonly trace?: TraceOption
  readonly logger?: Logger
  /** answers an input of a VS Code mcp.json, each once, while the runtime opens; without it, and for undefined, its variable `TAPLINE_INPUT_…` or its default counts */
  readonly onInput?: (input: ConfigInput) => Promise<string | undefined>
}

/** Many sessions share one runtime and its connections. */
export interface Runtime extends AsyncDisposable {
  /** get an environment to `update` its permissions or policy, live */
  readonly environments: Environments
  /** what people let the runtime remember: for its open sessions, and for always */
  readonly approvals: Approvals
  readonly diagnostics: readonly Diagnostic[]
  openSession(options?: SessionOptions): Promise<Session>
  /** What is configured, with what sessions have running; with `sessionId` what that session sees. No hook runs. */
  status(query?: RuntimeStatusQuery): Promise<Page<ServerStatus>>
  /** One page at a time, discovered as it is asked for. */
  statusPages(query?: RuntimeStatusQuery): AsyncIterable<Page<ServerStatus>>
  /** The plugin packages of the selected environments, read where no session has needed them yet. One that cannot be read is a diagnostic. Rejects with ENVIRONMENT_UNKNOWN, CALL_CANCELLED, SESSION_CLOSED */
  packages(query?: PackageQuery): Promise<readonly PluginPackage[]>
  /** For sessions that are opened later. */
  use(entry: HookEntry): Disposable
  /** For every plugin of the name. A lower mode reaches open sessions at once, a higher one only those opened later; null: what configuration and flags say. Throws CALL_INVALID_REQUEST. */
  setPluginMode(name: string, mode: PluginMode | null): PluginModeChange
  /** Ends every session, then every process. */
  close(): Promise<void>
}
