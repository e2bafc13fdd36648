/** Servers whose tools are functions of the test. */
import type { JsonObject } from '../json.ts'
import type { ToolAnnotations, ToolResult } from '../mcp.ts'
import type { ScriptedConnection } from './scripted-connection.ts'

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

/** Makes a server of in-memory tools and resources, to be given to `openTestRuntime`. */
export function scriptedServer(spec: ScriptedServerSpec = {}): ScriptedServer {
  return liveServer(spec)
}

/** A scripted server with its open connections. */
export class LiveScriptedServer implements ScriptedServer {
  // own fields, so that a copy by spread is a specification again
  tools: Readonly<Record<string, ScriptedTool>>
  readonly resources?: Readonly<Record<string, string>>
  readonly experimental?: JsonObject
  readonly instructions?: string
  readonly #connections = new Set<ScriptedConnection>()

  constructor({ tools, resources, experimental, instructions }: ScriptedServerSpec) {
    this.tools = tools ?? {}
    if (resources !== undefined) this.resources = resources
    if (experimental !== undefined) this.experimental = experimental
    if (instructions !== undefined) this.instructions = instructions
  }

  replaceTools(tools: Readonly<Record<string, ScriptedTool>>): void {
    this.tools = tools
    for (const connection of this.#connections) connection.toolsChanged()
  }

  crash(): void {
    for (const connection of this.#connections) connection.crash()
  }

  /** Answers until the connection ends. */
  async serve(connection: ScriptedConnection): Promise<void> {
    this.#connections.add(connection)
    try {
      await connection.run()
    } finally {
      this.#connections.delete(connection)
    }
  }
}

/** The server itself, or a new one for a bare specification. */
export function liveServer(spec: ScriptedServerSpec): LiveScriptedServer {
  return spec instanceof LiveScriptedServer ? spec : new LiveScriptedServer(spec)
}
