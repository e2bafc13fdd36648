/** The environments of one session: those of the runtime, those that it governs otherwise, and those that are its alone. */
import { TaplineError } from '../errors.ts'
import type { Catalog } from '../servers/catalog.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Environment, Governance } from '../servers/environment.ts'
import { GovernedEnvironment } from '../servers/governed-environment.ts'
import type { LiveRuntime } from './live-runtime.ts'
import type { SessionEnvironment } from './session-options.ts'
import type { RuntimeEnvironment } from './take-executors.ts'

const DEFINING = ['executor', 'cwd', 'mcpServers'] as const

/** What a session works with to its end. */
export interface SessionPlaces {
  /** in the selected order */
  readonly environments: readonly Environment[]
  /** all of the runtime as they were, and its own, by id */
  readonly held: ReadonlyMap<string, Environment>
  readonly catalog: Catalog
  /** end with the session */
  readonly own: readonly Environment[]
}

/** The ids that the runtime must have. */
export const runtimeIds = (given: readonly SessionEnvironment[]): readonly string[] =>
  given.filter((one) => !isDefinition(one)).map(placeId)

/** The id that an entry names. */
export const placeId = (one: SessionEnvironment): string => (typeof one === 'string' ? one : one.id)

/** `ready` are the instances of `runtimeIds`, in that order. Throws CALL_INVALID_REQUEST, CONFIG_INVALID, SANDBOX_POLICY_UNREADABLE. */
export function sessionPlaces(runtime: LiveRuntime, given: readonly SessionEnvironment[], ready: readonly Environment[]): SessionPlaces {
  const held = new Map(runtime.environments.held())
  const selected = new Map<string, Environment>()
  const own: Environment[] = []
  const registrations: ServerRegistration[] = []
  let at = 0
  for (const one of given) {
    const id = placeId(one)
    const isOwn = isDefinition(one)
    const base = isOwn ? undefined : (ready[at++] as Environment)
    if (selected.has(id)) {
      if (typeof one === 'string') continue
      throw new TaplineError('CALL_INVALID_REQUEST', `the environment ${JSON.stringify(id)} is selected twice`)
    }
    if (base === undefined) {
      const { id: _id, ...definition } = one as { readonly id: string } & RuntimeEnvironment
      if ('pluginRoots' in definition || 'discover' in definition)
        throw new TaplineError('CONFIG_INVALID', `the environment ${JSON.stringify(id)} of a session cannot have plugin packages`, {
          remedy: 'Add it to the runtime with environments.add, and select it by its id.',
        })
      const made = runtime.environments.ofSession(id, definition)
      own.push(made.environment)
      registrations.push(...made.registrations)
      selected.set(id, made.environment)
    } else {
      const { id: _id, ...change } = typeof one === 'string' ? { id } : (one as { readonly id: string } & Partial<Governance>)
      selected.set(id, Object.keys(change).length === 0 ? base : new GovernedEnvironment(base, change))
    }
    held.set(id, selected.get(id) as Environment)
  }
  return {
    environments: [...selected.values()],
    held,
    catalog: own.length === 0 ? runtime.catalog : runtime.environments.catalogWith(registrations),
    own,
  }
}

function isDefinition(one: SessionEnvironment): boolean {
  return typeof one === 'object' && DEFINING.some((key) => (one as Partial<RuntimeEnvironment>)[key] !== undefined)
}
