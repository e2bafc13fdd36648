/** Merges the registrations of every source into a catalog; conflicts become data. */
import { sameJson } from '../json.ts'
import type { Json } from '../json.ts'
import { Catalog } from './catalog.ts'
import type { CatalogEntry } from './catalog-entry.ts'
import type { ServerRegistration } from './definition.ts'
import type { Diagnostic } from './diagnostic.ts'
import { compareKeys, displayKey } from './key.ts'
import type { KeyRegistry, ServerKey } from './key.ts'
import { compareStrength } from './strength.ts'

/** Collects registrations, in the order of the files; builds a frozen catalog from them, as often as asked. */
export class CatalogBuilder {
  readonly #registrations: ServerRegistration[] = []

  /** Adds one server as one source declares it; its name and ids are already checked. */
  add(registration: ServerRegistration): this {
    this.#registrations.push(registration)
    return this
  }

  /** One entry per exact key: the stronger source wins, between equal ones the first that was added. */
  build(keys: KeyRegistry, generation: number): Catalog {
    const byKey = new Map<ServerKey, ServerRegistration[]>()
    for (const registration of this.#registrations) {
      const key = keys.intern(registration.key)
      const same = byKey.get(key)
      if (same) same.push(registration)
      else byKey.set(key, [registration])
    }
    const order = new Map(this.#registrations.map((registration, index) => [registration, index]))
    const entries: CatalogEntry[] = []
    const diagnostics: Diagnostic[] = []
    for (const [key, registrations] of byKey) {
      const [winner, ...losers] = installationsOf(registrations) as [Installation, ...Installation[]]
      entries.push(Object.freeze({ key, registration: winner[0], provenances: Object.freeze(winner.map(({ provenance }) => provenance)) }))
      for (const [loser] of losers) diagnostics.push(lostItsKey(key, winner[0], loser))
    }
    entries.sort((a, b) => (order.get(a.registration) as number) - (order.get(b.registration) as number))
    return new Catalog(generation, entries, [...diagnostics, ...namesThatDifferInCase(entries)])
  }
}

/** Registrations of one server that was reached once or several times, strongest first. */
type Installation = [ServerRegistration, ...ServerRegistration[]]

function installationsOf(registrations: readonly ServerRegistration[]): readonly Installation[] {
  const installations: Installation[] = []
  for (const registration of [...registrations].sort((a, b) => compareStrength(a.provenance, b.provenance))) {
    const known = installations.find(([first]) => isSameInstallation(first, registration))
    if (known) known.push(registration)
    else installations.push([registration])
  }
  return installations
}

function isSameInstallation(a: ServerRegistration, b: ServerRegistration): boolean {
  const { pluginId, root } = a.provenance
  return (
    pluginId !== null &&
    root !== null &&
    pluginId === b.provenance.pluginId &&
    root === b.provenance.root &&
    a.executesOn === b.executesOn &&
    sameJson(a.launch as unknown as Json, b.launch as unknown as Json)
  )
}

function lostItsKey(key: ServerKey, winner: ServerRegistration, loser: ServerRegistration): Diagnostic {
  const equal = compareStrength(winner.provenance, loser.provenance) === 0
  const { pluginId, root, where } = loser.provenance
  const name = displayKey(key)
  const twice = pluginId !== null && pluginId === winner.provenance.pluginId && root !== winner.provenance.root
  const message = equal
    ? `${name} is declared twice with equal strength: ${winner.provenance.where} counts, ${where} does not`
    : `${name} of ${where} is replaced by ${name} of ${winner.provenance.where}, which is the stronger source`
  return Object.freeze({
    code: equal ? 'conflict' : 'shadowed',
    severity: 'warning',
    message: twice ? `${message}; to have both installations of the plugin ${pluginId}, give one of them an \`installation\` id` : message,
    owner: key,
    where,
  })
}

function namesThatDifferInCase(entries: readonly CatalogEntry[]): readonly Diagnostic[] {
  const groups = new Map<string, Map<string, CatalogEntry>>()
  for (const entry of [...entries].sort((a, b) => compareKeys(a.key, b.key))) {
    const { name } = entry.key
    const group = groups.get(name.toLowerCase()) ?? new Map<string, CatalogEntry>()
    groups.set(name.toLowerCase(), group)
    if (!group.has(name)) group.set(name, entry)
  }
  return [...groups.values()]
    .filter((group) => group.size > 1)
    .map((group): Diagnostic => {
      const found = [...group.values()]
      return Object.freeze({
        code: 'names_differ_only_in_case',
        severity: 'warning',
        message: `${found.map(({ key, registration }) => `${displayKey(key)} (${registration.provenance.where})`).join(' and ')} are different servers: their names differ only in case`,
        where: (found.at(-1) as CatalogEntry).registration.provenance.where,
      })
    })
}
