/** Makes the plugin of hooks that code names. */
import path from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { nearest } from '../../nearest.ts'
import type { CommandHooksOptions } from './command-hooks.ts'
import type { HookFile } from './definition.ts'
import { hookEnv, type HookPlaces, placesOf } from './hook-env.ts'
import { readHookFile, readHookObject } from './hook-file.ts'
import { hookSecrets } from './hook-redaction.ts'
import { type CommandHookSet, commandHooksPlugin } from './plugin.ts'

const KEYS = ['file', 'hooks', 'cwd', 'onFailure', 'env', 'onDiagnostic']

/** Rejects with CONFIG_NOT_FOUND, CONFIG_INVALID, CALL_INVALID_REQUEST. */
export async function openCommandHooks(options: CommandHooksOptions): Promise<HookPlugin> {
  check(options)
  const { onFailure, env = [], onDiagnostic } = options
  const defaults = onFailure === undefined ? {} : { onFailure }
  const file = options.file === undefined ? null : path.resolve(options.file)
  const read = file === null ? await readHookObject(options.hooks, defaults) : await readHookFile(file, defaults)
  for (const diagnostic of read.diagnostics) onDiagnostic?.(diagnostic)
  const places = placesOf(file === null ? path.resolve(options.cwd ?? '.') : path.dirname(file))
  return commandHooksPlugin(hookSet(read, { name: file ?? 'command hooks', places, env }))
}

/** What the plugin of these hooks runs. */
export function hookSet(
  { hooks }: HookFile,
  { name, places, env }: { readonly name: string; readonly places: HookPlaces; readonly env: readonly string[] },
): CommandHookSet {
  return { name, hooks, cwd: places.folder, env: hookEnv(places, env), secrets: hookSecrets(env) }
}

function check(options: CommandHooksOptions): void {
  const fail = (problem: string): never => {
    throw new TaplineError('CALL_INVALID_REQUEST', `commandHooks: ${problem}`, {
      remedy: 'Give { file } or { hooks }, and maybe cwd (with hooks), onFailure, env and onDiagnostic.',
    })
  }
  if (typeof options !== 'object' || options === null) fail('options must be an object')
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    const near = nearest(unknown, KEYS)
    fail(`there is no option ${JSON.stringify(unknown)}${near === null ? '' : ` (did you mean ${near}?)`}`)
  }
  const { file, hooks, onFailure, env, cwd } = options as { readonly [key: string]: unknown }
  if ((file === undefined) === (hooks === undefined)) fail('one of file and hooks is needed')
  if (file !== undefined && (typeof file !== 'string' || file === '')) fail('file must be a path')
  if (cwd !== undefined && (file !== undefined || typeof cwd !== 'string')) fail('cwd must be a path, and belongs to hooks')
  if (onFailure !== undefined && onFailure !== 'block' && onFailure !== 'continue') fail('onFailure is "block" or "continue"')
  if (env !== undefined && !(Array.isArray(env) && env.every((name) => typeof name === 'string' && name !== '')))
    fail('env must be a list of names of variables')
}
