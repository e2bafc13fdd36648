/** Servers whose tools are functions of the test. */
import type { JsonObject } from '../json.ts'
import type { ScriptedConnection } from './scripted-connection.ts'
import type { ScriptedServer, ScriptedServerSpec, ScriptedTool } from './types.ts'

/** Makes a server of in-memory tools and resources, to be given to `openTestRuntime`. */
export function scriptedServer(spec: ScriptedServerSpec = {}): ScriptedServer {
  return liveServer(spec)
}

/** A scripted server with its open connections. */
class LiveScriptedServer implements ScriptedServer {
  // own fields, so that a copy by spread is a specification again
  tools: Readonly<Record<string, ScriptedTool>>
  readonly resources?: Readonly<Record<string, string>>
  readonly resourceTemplates?: NonNullable<ScriptedServerSpec['resourceTemplates']>
  readonly prompts?: NonNullable<ScriptedServerSpec['prompts']>
  readonly complete?: NonNullable<ScriptedServerSpec['complete']>
  readonly experimental?: JsonObject
  readonly instructions?: string
  readonly #connections = new Set<ScriptedConnection>()

  constructor({ tools, resources, resourceTemplates, prompts, complete, experimental, instructions }: ScriptedServerSpec) {
    this.tools = tools ?? {}
    if (resources !== undefined) this.resources = resources
    if (resourceTemplates !== undefined) this.resourceTemplates = resourceTemplates
    if (prompts !== undefined) this.prompts = prompts
    if (complete !== undefined) this.complete = complete
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
