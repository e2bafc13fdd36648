/** Filters of taps that fit nothing here: a misspelt one would leave a guard out without a word. */
import type { SessionHooks } from '../hooks/session-hooks.ts'
import { matchesGlob } from '../hooks/tap-filter.ts'
import { nearest } from '../nearest.ts'
import type { Catalog } from '../servers/catalog.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'

/** A warning for each environment that is not declared, and for each server that no declared one has the name of. */
export function idleFilters(
  taps: SessionHooks['filters'],
  declared: ReadonlyMap<string, Environment>,
  catalog: Catalog,
): readonly Diagnostic[] {
  const environments = [...declared.keys()]
  const servers = catalog.entries.map(({ key }) => key.name)
  const found: Diagnostic[] = []
  for (const { spec, filters } of taps) {
    const tell = (what: string, name: string, known: readonly string[]): void => {
      const near = nearest(name, known)
      const hint = near === null ? '' : `: did you mean ${JSON.stringify(near)}?`
      found.push({
        code: 'filter_fits_nothing',
        severity: 'warning',
        message: `tap "${spec.name}" of plugin "${spec.plugin}" on ${spec.hook} is limited to the ${what} ${JSON.stringify(name)}, which is not declared${hint}`,
      })
    }
    for (const filter of filters) {
      for (const id of filter.environments ?? []) if (id !== null && !environments.includes(id)) tell('environment', id, environments)
      for (const name of filter.servers ?? []) if (!servers.some((server) => matchesGlob(name, server))) tell('server', name, servers)
    }
  }
  return found
}
