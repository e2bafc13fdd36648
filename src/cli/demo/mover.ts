/** A hook plugin with a bug that must never work: it tries to send a call to another environment. */
import type { HookPlugin } from '../../hooks/plugin.ts'

/** Returns another environment from `resolve`, which the types forbid too. */
export function mover(environmentId: string): HookPlugin {
  return {
    name: 'mover',
    apply({ hooks }) {
      hooks.resolve.tap('move-to-staging', (() => ({ environment_id: environmentId })) as never)
    },
  }
}
