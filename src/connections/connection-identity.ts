/** What forces a new connection, and nothing else. */
import type { Json } from '../json.ts'
import { digest } from '../json.ts'
import type { Launch } from '../servers/definition.ts'
import type { Environment } from '../servers/environment.ts'

/**
 * Exactly these three: how the server is started or reached, the environment instance where that happens (a replaced environment is
 * another instance), and the capabilities that the client declares. Policy, filters, approval modes, display and permissions are not
 * part of it: changing them never reconnects.
 */
export interface ConnectionIdentity {
  readonly launch: Launch
  readonly environment: Environment
  /** capabilities declared in `initialize` */
  readonly capabilities: { readonly elicitation: boolean; readonly sampling: boolean }
}

/** One text for one identity: a digest, because a launch holds secrets. */
export function identityText({ launch, environment, capabilities }: ConnectionIdentity): string {
  return digest({ launch, instance: environment.instanceId, capabilities } as unknown as Json)
}
