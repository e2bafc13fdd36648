/** What forces a new connection, and nothing else. */
import type { Json, JsonObject } from '../json.ts'
import { digest } from '../json.ts'
import type { Launch } from '../servers/definition.ts'
import type { Environment } from '../servers/environment.ts'
import type { AnswerCapabilities } from './lessees.ts'

/**
 * Exactly these: how the server is started or reached, the environment instance where that happens (a replaced environment is another
 * instance), the capabilities that the client declares, and for a session that answers questions of servers that session, which shares
 * with nobody. Policy, filters, approval modes, display and permissions are not part of it: changing them never reconnects.
 */
export interface ConnectionIdentity {
  readonly launch: Launch
  readonly environment: Environment
  /** declared in `initialize` */
  readonly capabilities: JsonObject
  /** id of the only session that may have it; null: all that declare the same share it */
  readonly session: string | null
}

/** What the connection of a session declares: what the session answers, and roots where the folders of the environment are written down. */
export function declaredCapabilities(environment: Environment, { elicitation, sampling, roots }: AnswerCapabilities): JsonObject {
  const folders = environment.spec.hasRoots === true ? {} : roots
  return { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(folders && { roots: folders }) }
}

/** True where the session itself answers something of that; the roots of an environment are the same for all. */
export function answersItself(environment: Environment, { elicitation, sampling, roots }: AnswerCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || (roots !== undefined && environment.spec.hasRoots !== true)
}

/** One text for one identity: a digest, because a launch holds secrets. */
export function identityText({ launch, environment, capabilities, session }: ConnectionIdentity): string {
  return digest({ launch, instance: environment.instanceId, capabilities, session } as unknown as Json)
}
