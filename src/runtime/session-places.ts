/** The environments of one session: those of the runtime, those that it governs otherwise, and those that are its alone. */
import { TaplineError } from '../errors.ts'
import type { Catalog } from '../servers/catalog.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Environment, Governance } from '../servers/environment.ts'
import { GovernedEnvironment } from '../servers/governed-environment.ts'
import type { LivePackages } from './live-packages.ts'
import type { LiveRuntime } from './live-runtime.ts'
import type { SessionEnvironment } from './session-options.ts'
import type { RuntimeEnvironment } from './take-executors.ts'

const DEFINING = ['executor', 'cwd', 'mcpServers', 'pluginRoots', 'discover'] as const

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

/** An environment of the session's own, by the entry that defines it. */
type OwnPlaces = ReadonlyMap<SessionEnvironment, ReturnType<LiveRuntime['environments']['ofSession']>>

/**
 * Reads the plugin packages of the session's own environments; `ready` gives the instances of the runtime once theirs have been read.
 * Rejects with CALL_INVALID_REQUEST, CONFIG_INVALID, SANDBOX_POLICY_UNREADABLE, CALL_CANCELLED and what `ready` rejects with; nothing of its own runs then.
 */
export async function openPlaces(
  runtime: LiveRuntime,
  packages: LivePackages,
  given: readonly SessionEnvironment[],
  signal: AbortSignal | undefined,
  ready: (ids: readonly string[]) => Promise<readonly Environment[]>,
): Promise<SessionPlaces> {
  const own: OwnPlaces = new Map(
    given.filter(isDefinition).map((one) => {
      const { id, ...definition } = one as { readonly id: string } & RuntimeEnvironment
      return [one, runtime.environments.ofSession(id, definition)]
    }),
  )
  const environments = [...own.values()].map(({ environment }) => environment)
  try {
    const brought = packages.needs(environments) ? await packages.ofSession(environments, signal) : []
    return sessionPlaces(runtime, given, await ready(runtimeIds(given)), own, brought)
  } catch (error) {
    await Promise.all(environments.map((environment) => runtime.pool.drop(environment)))
    throw error
  }
}

/** The ids that the runtime must have. */
const runtimeIds = (given: readonly SessionEnvironment[]): readonly string[] => given.filter((one) => !isDefinition(one)).map(placeId)

/** The id that an entry names. */
export const placeId = (one: SessionEnvironment): string => (typeof one === 'string' ? one : one.id)

/** `ready` are the instances of `runtimeIds`, in that order. */
function sessionPlaces(
  runtime: LiveRuntime,
  given: readonly SessionEnvironment[],
  ready: readonly Environment[],
  ownPlaces: OwnPlaces,
  brought: readonly ServerRegistration[],
): SessionPlaces {
  const held = new Map(runtime.environments.held())
  const selected = new Map<string, Environment>()
  const own: Environment[] = []
  const registrations: ServerRegistration[] = [...brought]
  let at = 0
  for (const one of given) {
    const id = placeId(one)
    const made = ownPlaces.get(one)
    const base = made === undefined ? (ready[at++] as Environment) : undefined
    if (selected.has(id)) {
      if (typeof one === 'string') continue
      throw new TaplineError('CALL_INVALID_REQUEST', `the environment ${JSON.stringify(id)} is selected twice`)
    }
    if (made !== undefined) {
      own.push(made.environment)
      registrations.push(...made.registrations)
      selected.set(id, made.environment)
    } else if (base !== undefined) {
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
