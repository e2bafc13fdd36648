/** The one place that reads `multi_environment_mcp`: it decides which of the two resolvers a session has, and nothing else. */
import type { CapturedFlags } from '../flags/flag.ts'
import { MULTI_ENVIRONMENT_MCP } from '../flags/multi-environment-mcp.ts'
import type { Catalog } from '../servers/catalog.ts'
import { CodexNameTable } from '../servers/codex-name-table.ts'
import type { Names } from '../servers/name-table.ts'
import { NameTable } from '../servers/name-table.ts'
import { StableNaming } from '../servers/stable-naming.ts'
import type { NamingChoice, Resolver } from './resolver.ts'
import { ScopedResolver } from './scoped-resolver.ts'
import { UnscopedResolver } from './unscoped-resolver.ts'

/** The resolver for a session's flags, over the servers that its environments show. */
export function selectResolver(flags: CapturedFlags, catalog: Catalog, selected: readonly string[], naming: NamingChoice): Resolver {
  return flags.get(MULTI_ENVIRONMENT_MCP)
    ? new ScopedResolver(catalog.view('scoped', selected), namesOf(naming, true), naming, selected)
    : new UnscopedResolver(catalog.view('unscoped', selected), namesOf(naming, false), naming)
}

function namesOf({ scheme, maxLength }: NamingChoice, scoped: boolean): Names {
  return scheme === 'codex' ? new CodexNameTable({ scoped, prefixed: true }) : new NameTable(new StableNaming({ maxLength, scoped }))
}
