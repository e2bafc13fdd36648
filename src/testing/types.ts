/** The public shapes of `tapline/testing`. */
import type { EnvironmentDefinition, ServerDefinition } from '../config/config.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { JsonObject } from '../json.ts'
import type { ToolAnnotations, ToolResult } from '../mcp.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { ApprovalQuestion, Approver, Runtime, RuntimeOptions, Session, SessionOptions, ToolCallRequest } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'

/** What a scripted tool is told beside its arguments. */
export interface ScriptedToolContext {
  /** `_meta` of the request as it came; empty where there was none */
  readonly meta: JsonObject
  /** aborts when the call is cancelled and when the server ends */
  readonly signal: AbortSignal
}

/** One tool of a scripted server. */
export interface ScriptedTool {
  readonly description?: string
  /** default: any object */
  readonly inputSchema?: JsonObject
  /** a tool that has one answers with a whole result and its `structuredContent` */
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  /** Text counts as a result of one text block, a throw as a result with `isError`. Default: its arguments as JSON text. */
  readonly run?: (args: JsonObject, context: ScriptedToolContext) => ToolResult | string | Promise<ToolResult | string>
}

/** What a scripted server has. */
export interface ScriptedServerSpec {
  /** raw name → tool */
  readonly tools?: Readonly<Record<string, ScriptedTool>>
  /** uri → text */
  readonly resources?: Readonly<Record<string, string>>
  /** uri templates; a read of what one stands for is up to `resources` */
  readonly resourceTemplates?: readonly string[]
  /** name → the text of its one message; a throw is an error of the request */
  readonly prompts?: Readonly<Record<string, (args: Readonly<Record<string, string>>) => string>>
  /** the values of a `completion/complete`; gets its params */
  readonly complete?: (params: JsonObject) => readonly string[]
  /** the `experimental` part of its capabilities */
  readonly experimental?: JsonObject
  readonly instructions?: string
}

/** A scripted server that a test holds on to. It may stand for several servers: each gets a connection of its own. */
export interface ScriptedServer extends ScriptedServerSpec {
  /** Other tools from now on; announces `list_changed` to every connection. */
  replaceTools(tools: Readonly<Record<string, ScriptedTool>>): void
  /** Ends every connection as a process that exits with code 1; the next call starts it again. */
  crash(): void
}

/** What a definition says of a server beside how it is started: approval modes, filters, limits … */
export type TestServerPolicy = Omit<
  Extract<ServerDefinition, { readonly command: string }>,
  'command' | 'args' | 'env' | 'envVars' | 'cwd' | 'url'
>

/** Servers by bare name. */
export type TestServers = Readonly<Record<string, ScriptedServerSpec>>

/** An environment with more than servers. */
export interface TestEnvironment
  extends Pick<EnvironmentDefinition, 'cwd' | 'extraRoots' | 'permissions' | 'approvalPolicy' | 'reviewer' | 'codexExecutable'> {
  readonly servers: TestServers
  /** bare name of a server → what is said of it here; stronger than that of the runtime */
  readonly policies?: Readonly<Record<string, TestServerPolicy>>
}

/** Options of a session of a test runtime. */
export interface TestSessionOptions extends Omit<SessionOptions, 'approver'> {
  /** default: accepts once; null: nobody is there to be asked */
  readonly approver?: Approver | null
}

/** Everything of `RuntimeOptions` but what says where servers come from. */
export interface TestRuntimeOptions extends Omit<RuntimeOptions, 'environments' | 'mcpServers' | 'config' | 'executors'> {
  /** id → its servers, or an object with `servers` and more (an environment with a server named `servers` needs that form) */
  readonly environments?: Readonly<Record<string, TestServers | TestEnvironment>>
  /** servers without an environment */
  readonly threadWide?: TestServers
  /** bare name of a server → what is said of it, in every environment */
  readonly policies?: Readonly<Record<string, TestServerPolicy>>
  /** the session that is opened at once */
  readonly session?: TestSessionOptions
}

/** A request or notification that reached a server. */
export interface SentMessage {
  readonly owner: ServerKey
  /** `initialize`, `tools/list`, `tools/call`, `notifications/cancelled` … */
  readonly method: string
  /** as they came; frozen */
  readonly params: JsonObject & { readonly _meta?: JsonObject }
}

/** A question that was put to a person. */
export interface AskedQuestion extends ApprovalQuestion {
  readonly kind: 'approval'
}

/** A real runtime whose servers are functions of the test. */
export interface TestRuntime extends Runtime {
  /** one session, opened already */
  readonly session: Session
  /** everything that reached a server, in order: a copy as of now */
  readonly sent: readonly SentMessage[]
  /** every question of every session, in order: a copy as of now */
  readonly asked: readonly AskedQuestion[]
  /** A call of `session`. */
  callTool(request: ToolCallRequest, options?: CallOptions): Promise<CallOutcome>
  openSession(options?: TestSessionOptions): Promise<Session>
}
