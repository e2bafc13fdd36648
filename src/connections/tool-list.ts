/** The tools of one server, kept current: notices of changes are gathered, and the list is asked for again. */
import type { JsonObject } from '../json.ts'
import { sameJson } from '../json.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ToolListing, ToolRecord } from './connection.ts'
import type { ListSource } from './lists.ts'
import { readTools } from './lists.ts'
import { LONGEST_DELAY } from './pending-request.ts'
import type { ServerRun } from './server-run.ts'
import type { Started } from './server-start.ts'

/** ms from a notice to the request; doubled while notices keep coming during the request. */
const SOON_MS = 20
const LATEST_MS = 5000
/** Lists in a row that changed nothing and still drew a notice: from then on the notices are taken for an echo of the request. */
const ECHOES = 3

export interface ToolListOptions {
  readonly key: ServerKey
  /** ms for all pages together */
  readonly limitMs: () => number
  readonly report: (diagnostic: Diagnostic) => void
  /** the list is another one, or is known to be stale */
  readonly onChange: () => void
}

/** A run as a source of lists. */
export function listSource(key: ServerKey, run: ServerRun, signal?: AbortSignal): ListSource {
  const page = (method: string, params: JsonObject, ms: number): Promise<JsonObject> =>
    run.request(method, params, { idleTimeoutMs: LONGEST_DELAY, totalTimeoutMs: ms, ...(signal && { signal }) })
  return { key, page }
}

/** The listing of one connection, over all its runs. */
export class ToolList {
  readonly #options: ToolListOptions
  #run: ServerRun | null = null
  #listing: ToolListing | null = null
  #generation = 0
  /** notices so far, and how many of them the listing has seen */
  #notices = 0
  #seen = 0
  #refreshing: Promise<void> | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #soonMs = SOON_MS
  #echoes = 0

  constructor(options: ToolListOptions) {
    this.#options = options
  }

  get notices(): number {
    return this.#notices
  }

  /** The listing where it is current; null while it is stale, and without a run. */
  get current(): ToolListing | null {
    return this.#run && this.#seen === this.#notices ? this.#listing : null
  }

  /** Takes over what a start has listed. */
  attach({ run, tools, diagnostics, notices }: Started): ToolListing {
    this.#run = run
    this.#seen = notices
    const listing = this.#publish(run, tools, diagnostics)
    if (this.#notices !== notices) this.#soon()
    return listing
  }

  /** The run is over. */
  detach(): void {
    this.#run = null
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** The server says that its tools have changed. */
  noticed(): void {
    const fresh = this.#seen === this.#notices
    this.#notices++
    if (!this.#run) return
    this.#soon()
    if (fresh) this.#options.onChange()
  }

  /** The listing after every notice that has come by now; a server that gives notice of every list cannot keep a caller for ever. */
  async upToDate(): Promise<ToolListing> {
    const wanted = this.#notices
    while (this.#seen < wanted) await this.#refresh()
    return this.#listing as ToolListing
  }

  #soon(): void {
    if (this.#timer || this.#refreshing) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      const { key, report } = this.#options
      if (!this.#run || this.#seen === this.#notices) return
      this.#refresh().catch((error: Error) => {
        if (this.#run)
          report({
            code: 'list_failed',
            severity: 'warning',
            message: `${key}: the tools changed, but were not listed: ${error.message}`,
            owner: key,
          })
      })
    }, this.#soonMs)
    this.#timer.unref()
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#list().finally(() => {
      this.#refreshing = null
      const stale = this.#seen !== this.#notices
      this.#soonMs = stale ? Math.min(this.#soonMs * 2, LATEST_MS) : SOON_MS
      if (stale && this.#run) this.#soon()
    })
    return this.#refreshing
  }

  async #list(): Promise<void> {
    const run = this.#run
    const { key, limitMs, onChange } = this.#options
    if (!run) throw new Error(`${key} is not connected`)
    const notices = this.#notices
    const { tools, diagnostics } = await readTools(listSource(key, run), limitMs())
    if (run.end) throw run.end
    const before = this.#listing
    const unchanged = this.#publish(run, tools, diagnostics) === before
    this.#echoes = unchanged && this.#notices !== notices ? this.#echoes + 1 : 0
    this.#seen = this.#echoes >= ECHOES ? this.#notices : notices
    onChange()
  }

  #publish(run: ServerRun, tools: ReadonlyMap<string, ToolRecord>, diagnostics: Diagnostic[]): ToolListing {
    const { key, report } = this.#options
    if (run.noise) diagnostics.push({ code: 'stdout_noise', severity: 'info', message: `${key}: ${run.noise}`, owner: key })
    for (const diagnostic of diagnostics) report(diagnostic)
    const old = this.#listing
    if (old && sameTools(old.tools, tools) && sameTexts(old.diagnostics, diagnostics)) return old
    this.#listing = Object.freeze({ tools, generation: ++this.#generation, diagnostics: Object.freeze(diagnostics) })
    return this.#listing
  }
}

function sameTools(a: ReadonlyMap<string, ToolRecord>, b: ReadonlyMap<string, ToolRecord>): boolean {
  if (a.size !== b.size) return false
  const others = b.values()
  for (const tool of a.values()) {
    const other = others.next().value
    if (!other || !sameJson(tool.raw, other.raw)) return false
  }
  return true
}

function sameTexts(a: readonly Diagnostic[], b: readonly Diagnostic[]): boolean {
  return a.length === b.length && a.every((one, index) => one.message === b[index]?.message)
}
