/** From the options of a test to a configuration whose commands are functions. */
import type { Config, EnvironmentDefinition, ServerDefinition } from '../config/config.ts'
import type { MemoryServer } from '../connections/executors/memory.ts'
import type { JsonObject } from '../json.ts'
import type { KeyParts } from '../servers/key.ts'
import { ScriptedConnection } from './scripted-connection.ts'
import { liveServer } from './scripted-server.ts'
import type { TestEnvironment, TestRuntimeOptions, TestServerPolicy, TestServers } from './types.ts'

/** A configuration, and what its commands stand for. */
export interface ScriptedConfig {
  readonly config: Pick<Config, 'environments' | 'mcpServers'>
  readonly servers: Readonly<Record<string, MemoryServer>>
}

/** Told of every message that reaches a server. */
export type OnSent = (owner: KeyParts, method: string, params: JsonObject) => void

type Policies = Readonly<Record<string, TestServerPolicy>>

/** Makes the configuration; `onSent` is called before a message is answered. */
export function scriptedConfig({ environments = {}, threadWide = {}, policies = {} }: TestRuntimeOptions, onSent: OnSent): ScriptedConfig {
  const programs: Record<string, MemoryServer> = {}
  const define = (servers: TestServers, environmentId: string | null, own: Policies): Record<string, ServerDefinition> => {
    const defined = Object.entries(servers).map(([name, spec]): [string, ServerDefinition] => {
      const server = liveServer(spec)
      const command = `scripted-${Object.keys(programs).length + 1}`
      const policy = { ...at(policies, name), ...at(own, name) }
      const owner: KeyParts = { name, environmentId, installationId: policy.installation ?? null }
      programs[command] = (duplex) =>
        server.serve(new ScriptedConnection(server, duplex, (method, params) => onSent(owner, method, params)))
      return [name, { ...policy, command }]
    })
    return Object.fromEntries(defined)
  }
  const places = Object.entries(environments).map(([id, given]): [string, EnvironmentDefinition] => {
    const { servers, policies: own = {}, ...definition } = isEnvironment(given) ? given : { servers: given }
    return [id, { ...definition, mcpServers: define(servers, id, own) }]
  })
  return { config: { environments: Object.fromEntries(places), mcpServers: define(threadWide, null, {}) }, servers: programs }
}

function isEnvironment(given: TestServers | TestEnvironment): given is TestEnvironment {
  return Object.hasOwn(given, 'servers')
}

function at(policies: Policies, name: string): TestServerPolicy {
  return (Object.hasOwn(policies, name) && policies[name]) || {}
}
