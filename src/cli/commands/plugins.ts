/** `tapline plugins list`: the plugin packages of the environments. No server is started. */
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { withRuntime } from '../open.ts'
import { diagnosticText, distinct } from '../render/diagnostic.ts'
import { packagesJson, packagesText } from '../render/package.ts'

/** Options of `plugins list`. */
export interface PluginsListOptions {
  readonly environment?: string
}

/** Exit status 0, also where some cannot be read: that is told. Throws ENVIRONMENT_UNKNOWN for an environment that is not declared. */
export function list(context: CliContext, { environment }: PluginsListOptions): Promise<number> {
  const { out, progress, interrupt } = context
  return withRuntime(context, async (runtime) => {
    const packages = await progress.during('reading plugin packages', () =>
      runtime.packages({ ...(environment !== undefined && { environments: [environment] }), signal: interrupt.signal }),
    )
    const diagnostics: readonly Diagnostic[] = distinct(runtime.diagnostics)
    await out.result({ json: () => packagesJson(packages, diagnostics), text: (paint) => packagesText(packages, paint) })
    if (packages.length === 0) out.note(`no plugin packages${environment === undefined ? '' : ` in the environment ${environment}`}`)
    // those of a server are in the table
    for (const one of diagnostics)
      if (one.severity !== 'info' && one.owner === undefined && !out.json) out.note(diagnosticText(one, out.paintErr))
    return EXIT_DONE
  })
}
