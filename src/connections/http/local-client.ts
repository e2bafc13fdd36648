/** HTTP from this process: every connection is made through an address guard, and only to the origin of the server. */
import type { HttpLaunch } from '../../servers/definition.ts'
import { AddressGuard } from './address-guard.ts'
import type { HttpClient } from './http-client.ts'

/** ms to make a connection, TLS included. */
const CONNECT_MS = 10_000
/** Longest body that is read to be thrown away. */
const SHORT_BYTES = 16 * 1024
/** Where a server was first found holds for as long as its definition lives, over all starts. */
const guards = new WeakMap<HttpLaunch, AddressGuard>()

/** A client with connections of its own. */
export async function localClient(launch: HttpLaunch): Promise<HttpClient> {
  const [{ Agent }, { default: ipaddr }] = await Promise.all([import('undici'), import('ipaddr.js')])
  let guard = guards.get(launch)
  if (!guard) guards.set(launch, (guard = new AddressGuard(ipaddr)))
  return agentClient(new Agent({ connect: { lookup: guard.lookup, timeout: CONNECT_MS }, headersTimeout: 0, bodyTimeout: 0 }))
}

function agentClient(agent: import('undici').Agent): HttpClient {
  return {
    async request({ method, url, headers, body = null, signal }) {
      const answer = await agent.request({ origin: url.origin, path: url.pathname + url.search, method, headers, body, signal })
      return {
        status: answer.statusCode,
        header: (name) => {
          const value = answer.headers[name]
          return Array.isArray(value) ? (value[0] ?? null) : (value ?? null)
        },
        body: answer.body,
        discard: () => {
          // read to its end where it is short, so that the connection can be used again
          answer.body.dump({ limit: SHORT_BYTES }).catch(() => {})
        },
      }
    },
    close: () => agent.destroy().catch(() => {}),
  }
}
