/** The hook plugins that a source names; nothing of them is imported here. */
import path from 'node:path'
import type { JsonObject } from '../json.ts'
import type { HookModule } from './config.ts'
import { Fields } from '../documents/fields.ts'
import { FLAG_NAME } from '../flags/define-flag.ts'
import { isPluginMode } from '../plugin-mode.ts'
import { BUILTIN_HOOKS, HOOK, MODE_FLAG, ON_FAILURE, PACKAGE_NAME, VARIABLE_NAME } from './keys.ts'
import { keysOf } from './shape.ts'
import type { Source } from './source.ts'
import type { ObjectValue, Report, TextValue, Value } from '../documents/value.ts'
import { kindName, toJson } from '../documents/value.ts'

/** Key of an entry → what it names. */
const KINDS = [
  ['module', 'path'],
  ['package', 'package'],
  ['builtin', 'builtin'],
  ['commandHooks', 'commandHooks'],
] as const

/** The entries of `hooks`, in written order. */
export function readHooks(value: Value, source: Source, report: Report): readonly HookModule[] {
  if (value.kind !== 'list') {
    report(value.where, `${value.path} must be a list of hook plugins, not ${kindName(value)}`)
    return []
  }
  return value.items.map((item) => readHook(item, source, report)).filter((hook) => hook !== null)
}

function readHook(value: Value, source: Source, report: Report): HookModule | null {
  const common = { options: null, folder: source.folder, where: value.where, mode: 'enforce' } as const
  if (value.kind === 'text') {
    const module = modulePath(value, source.folder, report)
    return module === null ? null : { ...common, module, kind: 'path' }
  }
  if (value.kind !== 'object') {
    report(value.where, `${value.path} must be the path of a module or an object, not ${kindName(value)}`)
    return null
  }
  return readEntry(value, common, source, report)
}

function readEntry(
  value: ObjectValue,
  common: Pick<HookModule, 'options' | 'folder' | 'where' | 'mode'>,
  source: Source,
  report: Report,
): HookModule | null {
  const fields = new Fields(value, keysOf(HOOK), report)
  const [kind, ...others] = KINDS.filter(([key]) => fields.has(key))
  if (kind === undefined || others.length > 0) {
    report(
      value.where,
      `${value.path} needs "module" (a path), "package" (a name), "builtin" (a plugin of tapline's own) or "commandHooks" (a hooks file), one of them`,
    )
    return null
  }
  const module = readModule(fields, kind[1], common.folder, report)
  const commands = readCommands(fields, kind[1], source)
  const options = fields.value('options')
  const environments = readEnvironmentFilter(fields)
  const servers = fields.texts('servers')?.map((server) => server.text)
  const tools = fields.texts('tools')?.map((tool) => tool.text)
  const mode = fields.value('mode')
  if (module === null) return null
  return {
    ...common,
    module,
    kind: kind[1],
    options: options === undefined ? null : readOptions(options, report),
    mode: mode === undefined ? common.mode : readMode(mode, report),
    ...(environments !== undefined && { environments }),
    ...(servers !== undefined && { servers }),
    ...(tools !== undefined && { tools }),
    ...(commands !== null && { commands }),
  }
}

function readModule(fields: Fields, kind: HookModule['kind'], folder: string, report: Report): string | null {
  if (kind === 'builtin') return fields.choice('builtin', BUILTIN_HOOKS) ?? null
  if (kind === 'package') return packageName(fields.word('package'), fields)
  const file = fields.word(kind === 'path' ? 'module' : kind)
  if (file === undefined) return null
  return kind === 'path' ? modulePath(file, folder, report) : path.resolve(folder, file.text)
}

/** What only entries of command hooks may say, and what they may not. */
function readCommands(fields: Fields, kind: HookModule['kind'], source: Source): NonNullable<HookModule['commands']> | null {
  const onFailure = fields.choice('onFailure', ON_FAILURE)
  const env = fields.texts('env')?.map(({ text }) => text)
  if (env?.some((name) => !VARIABLE_NAME.test(name))) fields.reject('env', 'must list names of variables')
  if (kind !== 'commandHooks') {
    for (const key of ['onFailure', 'env']) if (fields.has(key)) fields.reject(key, 'belongs to "commandHooks"; take it out')
    return null
  }
  if (fields.has('options')) fields.reject('options', 'belongs to other kinds of entries; take it out')
  return { onFailure: onFailure ?? 'block', env: env ?? [], byUser: source.kind === 'user' }
}

/** What cannot be read is an error, which ends the reading; nothing is ever off by mistake. */
function readMode(value: Value, report: Report): HookModule['mode'] {
  if (value.kind === 'text' && isPluginMode(value.text)) return value.text
  if (value.kind === 'object') {
    const fields = new Fields(value, keysOf(MODE_FLAG), report)
    const flag = fields.word('flag')
    const otherwise = fields.word('default')
    if (flag === undefined || otherwise === undefined) report(value.where, `${value.path} needs "flag" and "default"`)
    else if (!FLAG_NAME.test(flag.text)) fields.reject('flag', 'must be the name of a flag')
    else if (!isPluginMode(otherwise.text)) fields.reject('default', 'must be "off", "shadow" or "enforce"')
    else return { flag: flag.text, default: otherwise.text }
  } else report(value.where, `${value.path} must be "off", "shadow" or "enforce", or an object with "flag" and "default"`)
  return 'enforce'
}

function readOptions(value: Value, report: Report): JsonObject | null {
  if (value.kind === 'object') return toJson(value, report) as JsonObject
  report(value.where, `${value.path} must be an object, not ${kindName(value)}`)
  return null
}

/** `null` in the list stands for the thread-wide servers. */
function readEnvironmentFilter(fields: Fields): readonly (string | null)[] | undefined {
  const list = fields.list('environments')
  if (list === undefined) return undefined
  const ids: (string | null)[] = []
  for (const item of list.items) {
    if (item.kind === 'null') ids.push(null)
    else if (item.kind === 'text') ids.push(item.text)
    else fields.reject('environments', 'must list ids of environments (null for the thread-wide servers)')
  }
  return ids
}

function packageName(name: TextValue | undefined, fields: Fields): string | null {
  if (name === undefined) return null
  if (PACKAGE_NAME.test(name.text)) return name.text
  fields.reject('package', 'must be the name of a package; a file goes under "module"')
  return null
}

function modulePath(value: TextValue, folder: string, report: Report): string | null {
  const { text } = value
  if (!/^\.{1,2}[\\/]/.test(text) && !path.isAbsolute(text)) {
    const meant = /\.[cm]?js$/.test(text) ? `write "./${text}"` : `a package is written { "package": ${JSON.stringify(text)} }`
    report(value.where, `${value.path} must be a path that begins with ./ or ../ or is absolute; ${meant}`)
    return null
  }
  if (!/\.[cm]?js$/.test(text) || text.includes('\0')) {
    report(value.where, `${value.path} must be a module that ends in .js, .mjs or .cjs`)
    return null
  }
  return path.resolve(folder, text)
}
