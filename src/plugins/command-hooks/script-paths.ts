/** How many paths are looked at before anybody trusts, or runs, what names them. */
import { readdir, realpath } from 'node:fs/promises'
import path from 'node:path'

/** Paths that the command of one hook may stand for, and those of one file. */
const MOST_OF_HOOK = 20_000
const MOST_OF_FILE = 60_000
/** Names of a folder that a pattern is held against, for the price of one path. */
const NAMES = 50
/** Paths that are looked at at one time. */
const LANES = 8

/** More than anybody should look at. The message goes on after the hook. */
export class TooManyPaths extends Error {}

/** What is left of that for the hooks of one file. */
export class PathBudget {
  #file = MOST_OF_FILE
  #hook = MOST_OF_HOOK

  nextHook(): void {
    this.#hook = MOST_OF_HOOK
  }

  /** Throws TooManyPaths. */
  spend(paths: number): void {
    this.#file -= paths
    this.#hook -= paths
    if (this.#hook < 0)
      throw new TooManyPaths(`names more than ${MOST_OF_HOOK} paths where a script may lie; put its command into a script`)
    if (this.#file < 0) throw new TooManyPaths(`and those before it name more than ${MOST_OF_FILE} paths where a script may lie`)
  }
}

/** Folders as they were at one time, each read once. */
export class Folders {
  readonly #real = new Map<string, Promise<string>>()
  readonly #names = new Map<string, Promise<readonly string[]>>()
  readonly #budget: PathBudget

  constructor(budget: PathBudget) {
    this.#budget = budget
  }

  /** The path with every link of its folder resolved. */
  async realFile(file: string): Promise<string> {
    const folder = path.dirname(file)
    let real = this.#real.get(folder)
    if (real === undefined) this.#real.set(folder, (real = realpath(folder).catch(() => folder)))
    return path.join(await real, path.basename(file))
  }

  /** Names of what is in it, none where it cannot be read. Throws TooManyPaths where that was asked for too many of them. */
  async namesIn(folder: string): Promise<readonly string[]> {
    let names = this.#names.get(folder)
    if (names === undefined) this.#names.set(folder, (names = readdir(folder).catch(() => [])))
    const found = await names
    this.#budget.spend(Math.ceil(found.length / NAMES))
    return found
  }
}

/** A few at a time. */
export async function eachOf<T>(all: Iterable<T>, act: (one: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]()
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await act(next.value)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
