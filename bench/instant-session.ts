/** A session whose servers answer at once and in memory, so that only our own code takes time. */
import type { Connection, ServerInfo, ToolListing, ToolRecord } from '../src/connections/connection.ts'
import { toolRecord } from '../src/connections/tool-record.ts'
import type { LoadedConfig } from '../src/config/config.ts'
import { FlagRegistry } from '../src/flags/registry.ts'
import { captureFlags } from '../src/flags/capture.ts'
import { DeadlineWheel } from '../src/hooks/deadline-wheel.ts'
import type { HookPlugin } from '../src/hooks/plugin.ts'
import type { JsonObject } from '../src/json.ts'
import { LauncherProbe } from '../src/launcher-probe.ts'
import type { PluginMode } from '../src/plugin-mode.ts'
import { ApprovalBook } from '../src/pipeline/approval-book.ts'
import { SchemaChecker } from '../src/pipeline/tool-schema.ts'
import type { LiveRuntime } from '../src/runtime/live-runtime.ts'
import { HookSource } from '../src/runtime/hook-source.ts'
import { SessionPlugins } from '../src/runtime/session-plugins.ts'
import { LiveSession } from '../src/runtime/live-session.ts'
import { Secrets } from '../src/secrets.ts'
import type { Catalog } from '../src/servers/catalog.ts'
import { CatalogBuilder } from '../src/servers/catalog-builder.ts'
import { DEFAULT_POLICY, type ServerRegistration } from '../src/servers/definition.ts'
import { Environment } from '../src/servers/environment.ts'
import { KeyRegistry, type ServerKey } from '../src/servers/key.ts'
import { memoryStore } from '../src/storage/memory-store.ts'

const INFO: ServerInfo = { protocolVersion: '2025-06-18', serverInfo: {}, capabilities: { tools: {} }, instructions: null, pid: null }
const RESULT: JsonObject = { content: [{ type: 'text', text: 'hello' }] }

/** Some servers, all of one environment, and the raw names of the tools that each of them lists. */
export interface Servers {
  readonly catalog: Catalog
  readonly keys: KeyRegistry
  readonly environment: Environment
  readonly listing: ToolListing
}

/** As a configuration file would declare them: `server_0`, `server_1` … with the tools `tool_0`, `tool_1` …. */
export function servers(count: number, toolsEach: number): Servers {
  const environment = new Environment({
    id: 'local',
    executor: { kind: 'local', options: {} },
    cwd: '/',
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: 'host',
  })
  const keys = new KeyRegistry()
  const builder = new CatalogBuilder()
  for (const registration of registrations(count)) builder.add(registration)
  const tools = new Map<string, ToolRecord>()
  for (let i = 0; i < toolsEach; i++) tools.set(`tool_${i}`, tool(`tool_${i}`))
  return { catalog: builder.build(keys, 1), keys, environment, listing: { tools, generation: 1, diagnostics: [] } }
}

/** Registrations of so many servers, in an order that is not the one of their keys. */
export function registrations(count: number): readonly ServerRegistration[] {
  return Array.from({ length: count }, (_, index): ServerRegistration => {
    const name = `server_${(index * 7919) % count}`
    return {
      key: { name, environmentId: null, installationId: null },
      launch: { type: 'stdio', command: 'none', args: [], env: {}, envVars: [], cwd: null },
      policy: DEFAULT_POLICY,
      executesOn: 'local',
      template: { command: 'none' },
      provenance: { source: 'host', rank: 0, where: 'host', pluginId: null, root: null },
      problem: null,
    }
  })
}

function tool(name: string): ToolRecord {
  return toolRecord({
    name,
    description: 'Gives the text back.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  }) as ToolRecord
}

class InstantConnection implements Connection {
  readonly id = 'c1'
  readonly state = 'connected'
  readonly transport = 'memory'
  readonly info: ServerInfo = INFO
  readonly error: null = null
  readonly startedAt = 0
  readonly startMs = 0
  readonly key: ServerKey
  readonly environment: Environment
  readonly tools: ToolListing

  constructor(key: ServerKey, environment: Environment, tools: ToolListing) {
    this.key = key
    this.environment = environment
    this.tools = tools
  }

  ready(): Promise<ToolListing> {
    return Promise.resolve(this.tools)
  }
  request(): Promise<JsonObject> {
    return Promise.resolve(RESULT)
  }
  list(): ReturnType<Connection['list']> {
    return Promise.resolve({ items: [], diagnostics: [] })
  }
  notify(): void {}
  applyLogLevel(): void {}
  subscribe(): Disposable {
    return { [Symbol.dispose]: () => {} }
  }
}

/** A connection alone, for the cost of a call without a pipeline. */
export function instantConnection({ catalog, environment, listing }: Servers): Connection {
  return new InstantConnection(catalog.entries[0]!.key, environment, listing)
}

/** A session over the servers; the real one, but for its pool. */
export function instantSession(
  { catalog, keys, environment, listing }: Servers,
  plugins: readonly HookPlugin[] = [],
  mode: PluginMode = 'enforce',
): LiveSession {
  const runtime = {
    parts: {
      keys,
      catalog,
      secrets: new Secrets(),
      environments: new Map([['local', environment]]),
      logger: null,
      loaded: { naming: { scheme: 'stable', maxLength: 64 } } as Partial<LoadedConfig>,
    },
    pool: {
      has: () => true,
      lease: ({ key }: { readonly key: ServerKey }) => ({
        connection: new InstantConnection(key, environment, listing),
        release: () => {},
      }),
    },
    catalog,
    environments: { held: () => new Map([['local', environment]]) },
    book: new ApprovalBook(memoryStore(), () => {}),
    inventory: { note: () => {} },
    probe: new LauncherProbe(),
    schemas: new SchemaChecker(),
    wheel: new DeadlineWheel(),
  } as unknown as LiveRuntime
  const flags = captureFlags(new FlagRegistry([]), { override: {}, variables: {}, features: [] })
  return new LiveSession(
    runtime,
    { id: 'bench' },
    { environments: [environment], held: new Map([[environment.id, environment]]), catalog: runtime.catalog, own: [] },
    flags,
    new SessionPlugins(
      plugins.map((plugin) => new HookSource({ plugin, filter: {}, mode })),
      flags,
    ),
    () => Promise.resolve(),
  )
}
