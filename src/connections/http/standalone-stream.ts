/** The stream by which a server says what belongs to no request: opened once, taken up again where it breaks, done without where it is refused. */
import type { HttpAnswer } from './http-client.ts'
import { delayOf } from './http-exchange.ts'
import type { ExchangeHost } from './http-exchange.ts'
import { mediaType, messagesIn, pause, readEvents } from './http-link.ts'

/** Tries in a row that come to nothing. */
const TRIES = 5
/** ms that a stream lives at least, if its end is no failure. */
const SHORT_MS = 5000

/** Follows the stream until the signal aborts or the server does not want it. Never rejects. */
export async function followStandalone(
  host: Pick<ExchangeHost, 'link' | 'receive' | 'stream' | 'refused' | 'lost'>,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null
  let retryMs: number | null = null
  let wasOpen = false
  for (let tries = 0; tries < TRIES && !signal.aborted; ) {
    const began = performance.now()
    let answer: HttpAnswer | null = null
    let heard = false
    try {
      answer = await host.stream(lastEventId, signal)
      if (answer.status < 200 || answer.status > 299) {
        const { kind, error } = await host.refused(answer)
        // 404 for the first try says that there is no such stream, later on that there is no such session
        if (kind === 'lost' && wasOpen) host.lost(error)
        // mostly 405: a server may have no such stream
        if (kind !== 'other' || answer.status < 500) return
      } else if (mediaType(answer) === 'text/event-stream') {
        wasOpen = true
        await readEvents(
          answer,
          {
            event: (type, data, id) => {
              heard = true
              // a server may begin again with the event that it was asked to go on after
              if (id !== null && id === lastEventId) return
              if (id !== null) lastEventId = id
              if (type === 'message' && data !== '') for (const message of messagesIn(data) ?? []) host.receive(message)
            },
            retry: (ms) => {
              retryMs = ms
            },
            tooLong: () => host.link.tooLong(null),
          },
          host.link.frameLimit,
        )
      } else {
        answer.discard()
        return
      }
    } catch {
      // it broke, or the server cannot be reached
    }
    tries = heard || performance.now() - began > SHORT_MS ? 0 : tries + 1
    await pause(delayOf(tries, retryMs), signal, true)
  }
}
