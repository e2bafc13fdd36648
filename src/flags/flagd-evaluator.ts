/** Flags from a flagd definition file, which may change at any time. */
import { ChangeListeners } from './evaluator.ts'
import type { FlagAnswer, FlagEvaluator } from './evaluator.ts'
import type { Flag, FlagValue } from './flag.ts'
import type { FlagdSet } from './flagd-set.ts'
import { readFlagdSet } from './flagd-set.ts'
import type { EvaluationContext } from './openfeature.ts'
import { WatchedFile } from './watched-file.ts'

/** ms that a content which cannot be used is given before it is told: it may still be being written. */
const PATIENCE_MS = 300

/** What becomes of the file. */
export interface FlagFileNews {
  /** `where` is the file, with line and column where they are known */
  readonly onProblem: (problem: string, where: string) => void
  /** the file can be used again, or for the first time since it could not */
  readonly onRecovered?: () => void
}

/** Reads the file (absolute path) and follows it. A file that cannot be used is told, and what it said before stays; resolves all the same. */
export async function openFlagFile(file: string, news: FlagFileNews): Promise<FlagEvaluator> {
  const evaluator = new FlagdEvaluator(file, news)
  await evaluator.start()
  return evaluator
}

class FlagdEvaluator implements FlagEvaluator {
  readonly #news: FlagFileNews
  readonly #path: string
  readonly #file: WatchedFile
  readonly #listeners = new ChangeListeners()
  #set: FlagdSet | null = null
  /** what the set was read from */
  #text = ''
  #started = false
  #suspect: NodeJS.Timeout | undefined
  #isTold = false

  constructor(path: string, news: FlagFileNews) {
    this.#path = path
    this.#news = news
    this.#file = new WatchedFile(path, {
      onText: (text) => this.#take(text),
      onUnreadable: (problem) => this.#doubt(`the flag file ${path} cannot be read: ${problem}`, path),
    })
  }

  async start(): Promise<void> {
    await this.#file.look()
    this.#started = true
  }

  ready(): null {
    return null
  }

  evaluate(flag: Flag, fallback: FlagValue, context: EvaluationContext): FlagAnswer {
    if (this.#set !== null) return this.#set.evaluate(flag.name, fallback, context)
    return { reason: 'ERROR', errorCode: 'PROVIDER_NOT_READY', errorMessage: `the flag file ${this.#path} cannot be used`, reported: true }
  }

  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    clearTimeout(this.#suspect)
    this.#file.close()
  }

  async #take(text: string): Promise<void> {
    // touched, or back after it was gone or broken
    const read = this.#set !== null && text === this.#text ? this.#set : await readFlagdSet(text)
    if ('problem' in read) {
      const { problem, line, column } = read
      const place = line === undefined ? this.#path : `${this.#path}:${line}:${column}`
      this.#doubt(`the flag file ${this.#path} cannot be used: ${problem}`, place)
      return
    }
    clearTimeout(this.#suspect)
    if (this.#isTold) this.#news.onRecovered?.()
    this.#isTold = false
    if (read === this.#set) return
    this.#set = read
    this.#text = text
    this.#listeners.tell()
  }

  #doubt(problem: string, where: string): void {
    clearTimeout(this.#suspect)
    const tell = (): void => {
      this.#isTold = true
      this.#news.onProblem(this.#set === null ? problem : `${problem}; what it said before stays`, where)
    }
    if (this.#started) this.#suspect = setTimeout(tell, PATIENCE_MS).unref()
    else tell()
  }
}
