import { DEFAULT_POLICY } from '../../src/servers/definition.ts'
import type { Provenance, ServerRegistration } from '../../src/servers/definition.ts'
import { CatalogBuilder } from '../../src/servers/catalog-builder.ts'
import type { Catalog } from '../../src/servers/catalog.ts'
import type { Diagnostic } from '../../src/servers/diagnostic.ts'
import { KeyRegistry } from '../../src/servers/key.ts'

export interface Declared {
  readonly name: string
  readonly environmentId?: string | null
  readonly installationId?: string | null
  readonly args?: readonly string[]
  readonly executesOn?: string
  readonly provenance?: Partial<Provenance>
}

let line = 0

/** A registration with what matters to a test; every other part is ordinary. */
export function registration({
  name,
  environmentId = null,
  installationId = null,
  args = [],
  executesOn,
  provenance,
}: Declared): ServerRegistration {
  return {
    key: { name, environmentId, installationId },
    launch: { type: 'stdio', command: 'node', args, env: {}, envVars: [], cwd: null },
    policy: DEFAULT_POLICY,
    executesOn: executesOn ?? environmentId ?? 'local',
    template: {},
    provenance: { source: 'file', rank: 0, where: `tapline.json:${++line}:3`, pluginId: null, root: null, ...provenance },
    problem: null,
  }
}

export function catalogOf(registrations: readonly ServerRegistration[], keys: KeyRegistry = new KeyRegistry()): Catalog {
  const builder = new CatalogBuilder()
  for (const one of registrations) builder.add(one)
  return builder.build(keys, 1)
}

export const codes = (diagnostics: readonly Diagnostic[]): readonly string[] => diagnostics.map(({ code }) => code)
