/** Runs `apply` of one plugin, with ports that take taps and nothing else. */
import { types } from 'node:util'
import type { HookName } from '../errors.ts'
import { asTaplineError, isTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { HookPlugin, HookPorts } from './plugin.ts'
import { thrownText } from './thrown-text.ts'
import { readTapSpec, type TapSpec } from './tap-spec.ts'

/** What `dispatch.tap` would be, for plugins that no compiler has seen. */
const wraps = (plugin: string) => (): never => {
  throw new TaplineError('HOOK_BAD_TAP', `plugin "${plugin}" uses tap on dispatch: dispatch wraps the call, so its taps are asynchronous`, {
    hook: 'dispatch',
    plugin,
    remedy: 'Use tapPromise with (call, next) => next().',
  })
}

/** Runs `apply` with ports that close behind it, and gives what it returned. Throws HOOK_BAD_PLUGIN and HOOK_BAD_TAP. */
export function applyPlugin(
  plugin: HookPlugin,
  session: HookPorts['session'],
  register: (spec: TapSpec) => void,
): Disposable | AsyncDisposable | undefined {
  const name: unknown = plugin?.name
  if (typeof plugin !== 'object' || typeof name !== 'string' || name.trim() === '' || typeof plugin.apply !== 'function') {
    throw new TaplineError('HOOK_BAD_PLUGIN', 'a hook plugin is an object with a name and an apply function', {
      remedy: 'Give an object (or an instance of a class) with name and apply({ hooks }).',
    })
  }
  let isOpen = true
  const port = (hook: HookName): Record<'tap' | 'tapPromise', (options: unknown, fn: unknown) => void> => {
    const add = (kind: TapSpec['kind']) => (options: unknown, fn: unknown) => {
      if (!isOpen)
        throw new TaplineError(
          'HOOK_BAD_TAP',
          `plugin "${name}" registers a tap on ${hook} after apply: taps are fixed when a session starts`,
          { hook, plugin: name },
        )
      register(readTapSpec(hook, name, kind, options, fn))
    }
    return Object.freeze(
      hook === 'dispatch' ? { tap: wraps(name), tapPromise: add('promise') } : { tap: add('sync'), tapPromise: add('promise') },
    ) as never
  }
  const hooks = Object.freeze({
    resolve: port('resolve'),
    approve: port('approve'),
    attachMetadata: port('attachMetadata'),
    dispatch: port('dispatch'),
    settled: port('settled'),
  })
  let returned: unknown
  try {
    returned = plugin.apply(Object.freeze({ hooks, session }))
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'HOOK_BAD_TAP') throw asTaplineError(error, 'HOOK_BAD_TAP')
    // who throws an error of ours knows what to do, as the built-in plugins do
    const own = isTaplineError(error)
    const said = own ? `: ${messageOf(error)}` : ` ${thrownText(error, (text) => session.redact(text))}`
    throw new TaplineError('HOOK_BAD_PLUGIN', `apply of plugin "${name}" threw${said}`, {
      plugin: name,
      cause: error,
      remedy: own ? error.remedy : remedyFor(error),
    })
  } finally {
    isOpen = false
  }
  if (returned === undefined) return undefined
  // an async apply that fails must not end the host's process as well
  if (types.isPromise(returned)) returned.catch(() => {})
  if (typeof returned === 'object' && returned !== null && (Symbol.dispose in returned || Symbol.asyncDispose in returned))
    return returned as Disposable
  throw new TaplineError('HOOK_BAD_PLUGIN', `apply of plugin "${name}" returned something that is neither nothing nor a disposable`, {
    plugin: name,
    remedy: types.isPromise(returned)
      ? 'Take async away: apply is synchronous, and taps that it registers later would be lost.'
      : 'Return nothing, or an object with Symbol.dispose or Symbol.asyncDispose.',
  })
}

/** What an author has to do, as far as it can be told. */
function remedyFor(thrown: unknown): string {
  if (types.isNativeError(thrown) && /reading 'tap(?:Promise)?'/.test(messageOf(thrown)))
    return 'There is no hook of that name: the hooks are resolve, approve, attachMetadata, dispatch and settled.'
  return 'Correct apply; it runs once for each session and only registers taps.'
}
