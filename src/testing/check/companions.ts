/** Taps of others that the plugin wants to precede: without them its registration would be refused. */
import type { ApprovePort, HookPlugin, HookPorts } from '../../hooks/plugin.ts'
import type { WatchedTap } from './watched-tap.ts'

/** A plugin for each name in `before` that the plugin itself does not have. */
export function companions(taps: readonly WatchedTap[]): readonly HookPlugin[] {
  const missing = taps.flatMap(({ hook, facts }) =>
    facts.before.filter((name) => !taps.some((tap) => tap.hook === hook && tap.tap === name)).map((name) => ({ hook, name })),
  )
  const plugins = new Map<string, HookPlugin>()
  for (const { hook, name } of missing) {
    const slash = name.indexOf('/')
    const plugin = slash < 0 ? 'another-plugin' : name.slice(0, slash)
    const tap = name.slice(slash + 1)
    if (plugin.trim() === '' || tap.trim() === '' || hook === 'settled') continue
    const apply = ({ hooks }: HookPorts): void => {
      if (hook === 'dispatch') hooks.dispatch.tapPromise(tap, (_call, next) => next())
      else (hooks[hook] as ApprovePort).tap(tap, () => undefined)
    }
    plugins.set(`${hook}/${name}`, { name: plugin, apply })
  }
  return [...plugins.values()]
}
