/** The environments of a runtime, and what happens when one is added or replaced while sessions run. */
import type { EnvironmentDefinition } from '../config/config.ts'
import { readOneEnvironment } from '../config/one-environment.ts'
import { TaplineError } from '../errors.ts'
import type { Catalog } from '../servers/catalog.ts'
import { CatalogBuilder } from '../servers/catalog-builder.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import { Environment, LOCAL, markReplaced } from '../servers/environment.ts'
import { checkEnvironment } from './check-environment.ts'
import type { EnvironmentCheck } from './check-environment.ts'
import type { LiveRuntime } from './live-runtime.ts'
import type { RuntimeEnvironment } from './take-executors.ts'
import { takeExecutors } from './take-executors.ts'
import { takeReviewers } from './take-reviewers.ts'

/** ms for one look at an environment. */
const CHECK_MS = 15_000

/** The environments of a runtime, in the order in which they were declared. */
export interface Environments extends Iterable<Environment> {
  get(id: string): Environment | undefined
  /** For sessions that are opened later and select it. Disposing of it stops its servers. Throws CONFIG_INVALID, also where the id is taken. */
  add(id: string, definition: RuntimeEnvironment): Environment & AsyncDisposable
  /**
   * Another instance under the same id: sessions that are opened later see it, those that are open keep theirs, and calls that are on their
   * way end as `authority_changed`. Throws ENVIRONMENT_UNKNOWN, CONFIG_INVALID.
   */
  replace(id: string, definition: RuntimeEnvironment): Environment & AsyncDisposable
  /** Connects it and asks for one answer; starts no server. Rejects with ENVIRONMENT_UNKNOWN, ENVIRONMENT_UNAVAILABLE, CONFIG_INVALID, CALL_CANCELLED. */
  check(id: string, options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }): Promise<EnvironmentCheck>
}

export class LiveEnvironments implements Environments {
  readonly #runtime: LiveRuntime
  readonly #environments: Map<string, Environment>
  #registrations: readonly ServerRegistration[]
  /** what plugin packages brought, by instance */
  readonly #packages = new Map<Environment, readonly ServerRegistration[]>()

  constructor(runtime: LiveRuntime) {
    const { environments, loaded, own } = runtime.parts
    this.#runtime = runtime
    this.#environments = new Map(environments)
    this.#registrations = loaded.registrations
    for (const [id, definition] of own) {
      const environment = environments.get(id)
      if (environment) runtime.pool.places.own(environment, definition)
    }
    Object.freeze(this)
  }

  get(id: string): Environment | undefined {
    return this.#environments.get(id)
  }

  /** Takes over the servers that the plugin packages of an instance bring, for sessions that are opened from now on. */
  packagesRead(environment: Environment, registrations: readonly ServerRegistration[]): void {
    if (this.#environments.get(environment.id) !== environment) return
    this.#packages.set(environment, registrations)
    this.#build(this.#registrations)
  }

  /** By id, as they are now: what a session that is opened now works with to its end. */
  held(): ReadonlyMap<string, Environment> {
    return new Map(this.#environments)
  }

  [Symbol.iterator](): Iterator<Environment> {
    return this.#environments.values()
  }

  add(id: string, definition: RuntimeEnvironment): Environment & AsyncDisposable {
    if (this.#environments.has(id))
      throw new TaplineError('CONFIG_INVALID', `there is an environment ${JSON.stringify(id)} already`, {
        remedy: 'Choose another id, or replace the environment.',
      })
    return this.#set(id, definition)
  }

  replace(id: string, definition: RuntimeEnvironment): Environment & AsyncDisposable {
    const old = this.#environments.get(id)
    if (old === undefined)
      throw new TaplineError(
        'ENVIRONMENT_UNKNOWN',
        `there is no environment ${JSON.stringify(id)} to replace; there is ${[...this.#environments.keys()].join(', ')}`,
      )
    const made = this.#set(id, definition)
    markReplaced(old)
    this.#runtime.pool.retire(old)
    return made
  }

  async check(
    id: string,
    { signal, timeoutMs = CHECK_MS }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<EnvironmentCheck> {
    const environment = this.#environments.get(id)
    if (environment === undefined)
      throw new TaplineError(
        'ENVIRONMENT_UNKNOWN',
        `there is no environment ${JSON.stringify(id)}; there is ${[...this.#environments.keys()].join(', ')}`,
      )
    return checkEnvironment(environment, this.#runtime.pool.places, { timeoutMs, ...(signal && { signal }) })
  }

  /** An environment of one session alone, with its servers, which are in no catalog of the runtime. Throws CONFIG_INVALID, also where the id is taken. */
  ofSession(
    id: string,
    given: RuntimeEnvironment,
  ): { readonly environment: Environment; readonly registrations: readonly ServerRegistration[] } {
    if (this.#environments.has(id))
      throw new TaplineError('CONFIG_INVALID', `there is an environment ${JSON.stringify(id)} already`, {
        remedy: 'Give the id alone, with permissions, approvalPolicy or reviewer where it is governed otherwise, or choose another id.',
      })
    return this.#read(id, given)
  }

  /** The catalog of now with the servers of a session. */
  catalogWith(own: readonly ServerRegistration[]): Catalog {
    return this.#catalog([...this.#registrations, ...own], this.#runtime.catalog.generation)
  }

  #set(id: string, given: RuntimeEnvironment): Environment & AsyncDisposable {
    const { environment, registrations } = this.#read(id, given)
    this.#environments.set(id, environment)
    this.#build([...this.#registrations.filter(({ key }) => key.environmentId !== id), ...registrations])
    return Object.defineProperty(environment, Symbol.asyncDispose, { value: () => this.#drop(environment) }) as Environment &
      AsyncDisposable
  }

  #read(
    id: string,
    given: RuntimeEnvironment,
  ): { readonly environment: Environment; readonly registrations: readonly ServerRegistration[] } {
    const { parts, pool } = this.#runtime
    const { definitions: plain, executors } = takeExecutors({ [id]: given })
    const { definitions, reviewers } = takeReviewers(plain)
    const { spec, registrations, diagnostics } = readOneEnvironment(id, definitions?.[id] as EnvironmentDefinition, {
      environments: new Map([...this.#environments].map(([known, environment]) => [known, environment.spec])),
      rank: parts.loaded.files.length,
      env: process.env,
      secrets: parts.secrets,
      cwd: process.cwd(),
    })
    const environment = new Environment(spec, reviewers.get(id))
    const own = executors.get(id)
    if (own !== undefined) pool.places.own(environment, own)
    for (const diagnostic of diagnostics) this.#runtime.report(diagnostic)
    return { environment, registrations }
  }

  async #drop(environment: Environment): Promise<void> {
    const { id } = environment
    // `local` always is, and what was replaced has gone from the list already
    if (this.#environments.get(id) === environment && id !== LOCAL) {
      this.#environments.delete(id)
      this.#build(this.#registrations.filter(({ key, executesOn }) => key.environmentId !== id && executesOn !== id))
      markReplaced(environment)
    }
    await this.#runtime.pool.drop(environment)
  }

  #build(registrations: readonly ServerRegistration[]): void {
    const catalog = this.#catalog(registrations, this.#runtime.catalog.generation + 1)
    this.#registrations = registrations
    for (const environment of this.#packages.keys())
      if (this.#environments.get(environment.id) !== environment) this.#packages.delete(environment)
    this.#runtime.catalog = catalog
  }

  #catalog(registrations: readonly ServerRegistration[], generation: number): Catalog {
    const builder = new CatalogBuilder()
    for (const registration of registrations) builder.add(registration)
    for (const environment of this.#environments.values())
      for (const registration of this.#packages.get(environment) ?? []) builder.add(registration)
    return builder.build(this.#runtime.parts.keys, generation)
  }
}
