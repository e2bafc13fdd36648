/** Redirects within the origin of a server are followed; nothing is ever sent to another one. */
import type { HttpAnswer, HttpClient, HttpRequest } from './http-client.ts'

const MOST_HOPS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A redirect that is not followed; the message is the rest of a sentence about the server. */
export class RefusedRedirect extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The answer at the end of at most 5 redirects. Throws RefusedRedirect, or what the client throws. */
export async function requestWithinOrigin(client: HttpClient, request: HttpRequest): Promise<HttpAnswer> {
  let { url } = request
  for (let hops = 0; ; hops++) {
    const answer = await client.request(url === request.url ? request : { ...request, url })
    const { status } = answer
    if (!REDIRECTS.has(status)) return answer
    const location = answer.header('location')
    answer.discard()
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : null
    if (target === null) throw new RefusedRedirect(status, `answered HTTP ${status} without saying where to go`)
    if (target.origin !== url.origin)
      throw new RefusedRedirect(status, `redirects to another origin, ${target.origin}, which is not followed`)
    // 301 to 303 turn a POST into a GET, and the message would be lost
    if (status < 307 && request.method !== 'GET')
      throw new RefusedRedirect(status, `answered HTTP ${status}, a redirect that drops the message`)
    if (hops >= MOST_HOPS) throw new RefusedRedirect(status, `redirects more than ${MOST_HOPS} times`)
    url = target
  }
}
