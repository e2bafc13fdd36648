/** HTTP that leaves from another machine, by way of the `fetch` of its executor. */
import type { Executor } from '../executor.ts'
import type { HttpClient } from './http-client.ts'

const NOTHING = new Uint8Array()

/** A client over an executor's `fetch`. Which addresses are reached from there is for that machine to say. */
export function remoteClient(fetch: NonNullable<Executor['fetch']>): HttpClient {
  return {
    async request({ method, url, headers, body, signal }) {
      const answer = await fetch(url, { method, headers: { ...headers }, signal, redirect: 'manual', ...(body !== undefined && { body }) })
      return {
        status: answer.status,
        header: (name) => answer.headers.get(name),
        body: (answer.body as AsyncIterable<Uint8Array> | null) ?? nothing(),
        discard: () => void answer.body?.cancel().catch(() => {}),
      }
    },
    close: () => Promise.resolve(),
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield NOTHING
}
