/** Plugin packages in JSON and as a table. */
import type { PluginPackage } from '../../runtime/package-types.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import { displayKey } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { visibleLine, visibleMessage } from './escape.ts'
import { ownerText } from './owner.ts'
import { table } from './table.ts'

/** The document of `tapline plugins list`. */
export function packagesJson(packages: readonly PluginPackage[], diagnostics: readonly Diagnostic[]): Readonly<Record<string, unknown>> {
  return {
    plugins: packages.map(({ servers, ...one }) => ({
      ...one,
      servers: servers.map(({ owner, enabled, error }) => ({
        owner: { name: owner.name, environmentId: owner.environmentId, installationId: owner.installationId, display: displayKey(owner) },
        enabled,
        error: error && { code: error.code, message: error.message, remedy: error.remedy },
      })),
    })),
    diagnostics,
  }
}

/** A line for each package, and below it what is wrong with its servers. */
export function packagesText(packages: readonly PluginPackage[], paint: Paint): string {
  if (packages.length === 0) return ''
  const head = ['PLUGIN', 'VERSION', 'ENVIRONMENT', 'INSTALLATION', 'SERVERS', 'ROOT'].map((text) => ({ text, paint: paint.dim }))
  const rows = packages.map((one) => [
    { text: visibleLine(one.id), paint: paint.bold },
    { text: visibleLine(one.version ?? '-') },
    { text: one.environmentId },
    { text: one.installationId ?? '-' },
    { text: visibleLine(one.servers.map(({ owner, enabled }) => (enabled ? owner.name : `${owner.name} (off)`)).join(', ') || '-') },
    { text: visibleLine(one.root), paint: paint.dim },
  ])
  const wrong = packages.flatMap(({ servers }) =>
    servers.flatMap(({ owner, error }) =>
      error === null ? [] : [`${paint.red('wrong')} ${ownerText(owner)}: ${visibleMessage(error.message)} ${paint.dim(`(${error.code})`)}`],
    ),
  )
  return [table([head, ...rows]), ...wrong].join('\n')
}
