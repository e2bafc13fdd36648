/** One environment that code adds while a runtime runs: read like a section of the host's own configuration. */
import { TaplineError } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import type { EnvironmentDefinition } from './config.ts'
import { readEnvironments } from './environments.ts'
import type { Variables } from './expand.ts'
import { Expansion } from './expand.ts'
import { readServers } from './load.ts'
import type { Source } from './source.ts'
import { fromCode } from '../documents/value.ts'

export interface OneEnvironment {
  readonly spec: EnvironmentSpec
  readonly registrations: readonly ServerRegistration[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface OneEnvironmentContext {
  /** all that the runtime has, by id */
  readonly environments: ReadonlyMap<string, EnvironmentSpec>
  /** above the ranks of all files */
  readonly rank: number
  readonly env: Variables
  readonly secrets: Secrets
  readonly cwd: string
}

/** Throws CONFIG_INVALID with all mistakes of the environment as such; what is wrong with one of its servers is a diagnostic. */
export function readOneEnvironment(id: string, definition: EnvironmentDefinition, context: OneEnvironmentContext): OneEnvironment {
  const { environments, rank, env, secrets, cwd } = context
  const mistakes: string[] = []
  const diagnostics: Diagnostic[] = []
  const source: Source = { label: 'host', kind: 'host', rank, folder: cwd, format: 'tapline' }
  const [draft] = readEnvironments(fromCode({ [id]: definition }), {
    source,
    cwd,
    expansion: new Expansion(env, secrets),
    report: (_, message) => mistakes.push(secrets.redact(message)),
  })
  if (draft === undefined || mistakes.length > 0)
    throw new TaplineError(
      'CONFIG_INVALID',
      `the environment ${JSON.stringify(id)} is wrong: ${mistakes.join('; ') || 'it is no object'}`,
      {
        where: 'host',
      },
    )
  const registrations = readServers([{ source, servers: [], environments: [draft] }], {
    specs: new Map(environments).set(id, draft.spec),
    drafts: new Set([draft]),
    env,
    secrets,
    editors: new Map(),
    diagnose: (diagnostic) => diagnostics.push(diagnostic),
  })
  return { spec: draft.spec, registrations, diagnostics }
}
