/** The built-in plugins as a configuration names them; only the one that is named is loaded. */
import path from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import type { JsonObject } from '../../json.ts'

type Factory = (options: never) => HookPlugin

const LOAD: Readonly<Record<string, () => Promise<Factory>>> = {
  'tool-list': async () => (await import('./tool-list.ts')).toolList,
  retry: async () => (await import('./retry.ts')).retry,
  redact: async () => (await import('./redact.ts')).redact,
  'audit-log': async () => (await import('./audit-log.ts')).auditLog,
  'dry-run': async () => (await import('./dry-run.ts')).dryRun,
  'open-telemetry': async () => (await import('./open-telemetry.ts')).openTelemetry,
}

/** Every name, in the order of the documentation. */
export const BUILTIN_NAMES: readonly string[] = Object.keys(LOAD)

/** What makes the plugin of this name of options from a file in the folder. Rejects with HOOK_BAD_PLUGIN for a name that there is not. */
export async function factoryByName(name: string, folder: string): Promise<(options: JsonObject) => HookPlugin> {
  const load = Object.hasOwn(LOAD, name) ? LOAD[name] : undefined
  if (load === undefined) throw new TaplineError('HOOK_BAD_PLUGIN', `there is no built-in hook plugin ${JSON.stringify(name)}`)
  const make = await load()
  return (options) => make(withPath(options, folder) as never)
}

/** A path in a file is meant from its folder, as all others there. */
function withPath(options: JsonObject, folder: string): JsonObject {
  const { file } = options
  return typeof file === 'string' && file !== '' ? { ...options, file: path.resolve(folder, file) } : options
}
