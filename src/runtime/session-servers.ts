/** The servers that a session sees. */
import type { Resolver } from '../pipeline/resolver.ts'
import type { SessionServer } from './types.ts'

/** In the order of keys; starts nothing. */
export function sessionServers({ view, directory }: Resolver): readonly SessionServer[] {
  return view.servers.map(({ key, registration }) => ({
    owner: key,
    namespace: directory.namespace(key),
    enabled: registration.policy.enabled,
  }))
}
