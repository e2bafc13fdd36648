/** `tapline status --watch`: the table again with every change; at a terminal on a screen of its own, in a pipe one after the other. */
import type { Page, ServerStatus, Session, StatusQuery } from '../../runtime/types.ts'
import type { ServerKey } from '../../servers/key.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { statusPageJson, statusPageText } from '../render/status.ts'
import { Screen } from '../screen.ts'

/** ms between two drawings: what comes in between is one change. */
const BETWEEN_MS = 100

/** Exit status 0 after `q` or once the reader is gone; Ctrl-C ends it like every command. */
export function watch(context: CliContext, query: StatusQuery): Promise<number> {
  const { out, interrupt, stdin } = context
  return withSession(context, {}, async (session) => {
    using view = new Watched(session, query)
    const atTerminal = out.isTerminal && !out.json
    using screen = atTerminal ? new Screen(out, stdin, interrupt) : null
    let last = ''
    const show = async (): Promise<void> => {
      const page = await view.page()
      if (screen !== null) return screen.draw(`${statusPageText(page, out.paint)}\n\n${out.paint.dim('q: quit   r: ask all again')}`)
      const now = JSON.stringify(statusPageJson(page))
      if (now === last) return
      const isFirst = last === ''
      last = now
      await out.result({
        json: () => statusPageJson(page),
        text: (paint) => `${isFirst ? '' : '\n'}${statusPageText(page, paint)}`,
      })
    }
    screen?.on('r', () => view.discover())
    view.discover()
    const ends = [aborted(interrupt.signal), out.readerGone, ...(screen === null ? [] : [screen.pressed('q')])]
    const end = Promise.race(ends).then(() => true)
    // the page may have changed while it was drawn, so it is drawn first and waited for afterwards
    for (let isOver = false; !isOver; isOver = await Promise.race([end, view.changed()])) {
      await show()
      if (await Promise.race([end, later(BETWEEN_MS)])) break
    }
    return EXIT_DONE
  })
}

/** The rows as they are now, with the lists that the last look brought. */
class Watched {
  readonly #session: Session
  readonly #query: StatusQuery
  readonly #subscription: Disposable
  readonly #asked = new Map<ServerKey, ServerStatus>()
  #isNews = false
  #wake = (): void => {}

  constructor(session: Session, query: StatusQuery) {
    this.#session = session
    this.#query = query
    this.#subscription = session.subscribe(({ type }) => {
      if (type === 'server_changed' || type === 'tools_changed') this.#news()
    })
  }

  /** Asks every server of the page; those that are down are started. */
  discover(): void {
    void this.#session.status(this.#query).then(
      ({ data }) => {
        for (const row of data) this.#asked.set(row.owner, row)
        this.#news()
      },
      () => {}, // the session was closed; rows have errors of their own
    )
  }

  async page(): Promise<Page<ServerStatus>> {
    this.#isNews = false
    const { signal: _, ...query } = this.#query
    const { data, nextCursor } = await this.#session.status({ ...query, discover: false })
    return { data: data.map((row) => this.#withLists(row)), nextCursor }
  }

  /** Resolves with false once something changed since `page` was asked. */
  changed(): Promise<false> {
    if (this.#isNews) return Promise.resolve(false)
    return new Promise((resolve) => (this.#wake = () => resolve(false)))
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]()
  }

  #withLists(row: ServerStatus): ServerStatus {
    const asked = this.#asked.get(row.owner)
    if (row.runtimeStatus !== 'connected' || asked?.startedAt !== row.startedAt) return row
    const { resources, resourceTemplates, prompts, error } = asked
    return { ...row, resources, resourceTemplates, prompts, error }
  }

  #news(): void {
    this.#isNews = true
    this.#wake()
  }
}

const later = (ms: number): Promise<false> => new Promise((resolve) => setTimeout(() => resolve(false), ms))

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
