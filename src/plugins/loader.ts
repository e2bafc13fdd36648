/** Loads the hook plugins that a configuration names. */
import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { ErrorDetails } from '../errors.ts'
import { TaplineError } from '../errors.ts'
import type { HookPlugin } from '../hooks/plugin.ts'
import type { JsonObject } from '../json.ts'
import { resolvePackage } from './resolve-package.ts'

/** A hook plugin as a configuration names it. */
export interface HookModuleSpec {
  /** absolute path of a module, the name of a package to be resolved from `folder`, or that of a built-in plugin */
  readonly module: string
  readonly kind: 'path' | 'package' | 'builtin'
  readonly options: JsonObject | null
  /** folder of the file that names it */
  readonly folder: string
  /** `file:line:column`, or `host` */
  readonly where: string
}

/** Settings of a load. */
export interface LoadHookModuleOptions {
  /** ms for import and factory together; default 10,000 */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Imports the module and gives its plugin: the default export (or `module.exports`), which is a plugin, a class of one,
 * or a function that makes one of the options, also later. Rejects with HOOK_BAD_PLUGIN, with module and place, within the time limit.
 */
export async function loadHookModule(
  spec: HookModuleSpec,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: LoadHookModuleOptions = {},
): Promise<HookPlugin> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          badPlugin(spec, `has not loaded within ${timeoutMs} ms`, {
            remedy: 'Do not wait for anything while the module is loaded, or in its factory.',
          }),
        ),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([load(spec), late])
  } finally {
    clearTimeout(timer)
  }
}

async function load(spec: HookModuleSpec): Promise<HookPlugin> {
  const exported = spec.kind === 'builtin' ? await builtinFactory(spec) : defaultExport(spec, await importModule(spec))
  if (typeof exported !== 'function') {
    if (spec.options !== null && Object.keys(spec.options).length > 0 && isObject(exported)) {
      throw badPlugin(spec, 'takes no options: its default export is a plugin', {
        remedy: 'Leave the options out, or export a function that makes the plugin of them: export default (options) => ({ name, apply }).',
      })
    }
    return checkPlugin(spec, exported, 'its default export')
  }
  const isClass = isConstructor(exported)
  let made: unknown
  try {
    made = isClass ? Reflect.construct(exported, [spec.options ?? {}]) : await Reflect.apply(exported, undefined, [spec.options ?? {}])
  } catch (cause) {
    throw badPlugin(spec, `does not accept its options: ${oneLine(cause)}`, {
      cause,
      remedy: 'Correct the options of the plugin, or the plugin.',
    })
  }
  return checkPlugin(spec, made, isClass ? 'an instance of its default export' : 'what its default export returns')
}

async function builtinFactory({ module, folder }: HookModuleSpec): Promise<unknown> {
  const { factoryByName } = await import('./builtin/by-name.ts')
  return factoryByName(module, folder)
}

async function importModule(spec: HookModuleSpec): Promise<Readonly<Record<string, unknown>>> {
  const file = spec.kind === 'path' ? spec.module : await packageFile(spec)
  const stats = await stat(file).catch(() => null)
  if (stats === null)
    throw badPlugin(spec, spec.kind === 'path' ? 'does not exist' : `names a file that does not exist, ${file}`, {
      remedy: 'Correct the path, or put the file there.',
    })
  if (!stats.isFile()) throw badPlugin(spec, 'is no file', { remedy: 'Name the file of the module, not its folder.' })
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw badPlugin(spec, `fails when it is loaded: ${oneLine(cause)}${place(cause)}`, {
      cause,
      remedy: missingPackage(cause) ?? 'Run `node` with the file to see the whole error, and correct it.',
    })
  }
}

/** What to do where the module imports a package that its folder does not have. */
function missingPackage(cause: unknown): string | null {
  if (!isObject(cause) || (cause.code !== 'ERR_MODULE_NOT_FOUND' && cause.code !== 'MODULE_NOT_FOUND')) return null
  const name = /Cannot find (?:package|module) '([^'./][^']*)'/.exec(String(cause.message))?.[1]
  return name === undefined ? null : `Install it where the module is: npm install ${name}`
}

async function packageFile(spec: HookModuleSpec): Promise<string> {
  try {
    return await resolvePackage(spec.module, spec.folder)
  } catch (cause) {
    throw badPlugin(spec, `cannot be found: ${oneLine(cause)}`, {
      cause,
      remedy: `Install the package where ${spec.folder} finds it, or correct its name.`,
    })
  }
}

/** Compilers to CommonJS put the default export one level deeper. */
function defaultExport(spec: HookModuleSpec, namespace: Readonly<Record<string, unknown>>): unknown {
  const outer = namespace.default
  const exported = isObject(outer) && !('apply' in outer) && 'default' in outer ? outer.default : outer
  if (exported !== undefined && exported !== null && !(isObject(exported) && Object.keys(exported).length === 0)) return exported
  const others = Object.keys(namespace).filter((name) => !['default', 'module.exports', '__esModule'].includes(name))
  throw badPlugin(spec, `has no default export${others.length === 0 ? '' : ` (it exports ${others.slice(0, 5).join(', ')})`}`)
}

function checkPlugin(spec: HookModuleSpec, value: unknown, what: string): HookPlugin {
  if (!isObject(value)) throw badPlugin(spec, `is no plugin: ${what} is ${kindOf(value)}`)
  let name: unknown
  let apply: unknown
  try {
    ;({ name, apply } = value)
  } catch (cause) {
    throw badPlugin(spec, `is no plugin: reading ${what} fails: ${oneLine(cause)}`, { cause })
  }
  if (typeof name !== 'string' || name.trim() === '')
    throw badPlugin(spec, `has no name: \`name\` of ${what} is ${name === '' ? 'empty' : kindOf(name)}`, {
      remedy: 'Give the plugin a name: { name: "my-plugin", apply({ hooks }) { … } }.',
    })
  if (/[\p{Cc}\u2028\u2029]/u.test(name))
    throw badPlugin(spec, 'has a name of more than one line', { remedy: 'Take line ends and control characters out of the name.' })
  if (typeof apply !== 'function')
    throw badPlugin(spec, `has no apply: \`apply\` of ${what} is ${kindOf(apply)}`, {
      plugin: name,
      remedy: 'Give the plugin a function apply({ hooks }) that registers its taps.',
    })
  return value as unknown as HookPlugin
}

/** A class cannot be called; its text says so also where `apply` is a field and not on the prototype. */
function isConstructor(value: Function): boolean {
  return (
    typeof (value.prototype as { readonly apply?: unknown } | undefined)?.apply === 'function' ||
    /^class\b/.test(Function.prototype.toString.call(value))
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `file:line`, where a syntax error says it and the message does not. */
function place(cause: unknown): string {
  const first = cause instanceof SyntaxError ? /^(\S.*:\d+)$/m.exec(cause.stack?.split('\n')[0] ?? '')?.[1] : undefined
  return first === undefined ? '' : ` (${first})`
}

function oneLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split(/[\r\n\u2028\u2029]/)[0]?.slice(0, 300) ?? ''
}

function badPlugin(spec: HookModuleSpec, what: string, details: ErrorDetails = {}): TaplineError {
  return new TaplineError('HOOK_BAD_PLUGIN', `the hook plugin ${spec.module} ${what}`.replace(/[\p{Cc}\u2028\u2029]/gu, ' '), {
    where: spec.where,
    data: { module: spec.module },
    ...details,
  })
}
