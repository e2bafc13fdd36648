/** The folder of one plugin package, on whatever machine: what is read there never leaves it. */
import path from 'node:path'
import type { Executor } from '../../connections/executor.ts'
import { TaplineError, isTaplineError } from '../../errors.ts'

/** Bytes of one file of a package. */
const FILE_LIMIT = 1024 * 1024

type DirectoryEntry = Awaited<ReturnType<NonNullable<Executor['listDirectory']>>>[number]

export interface PackagePlace {
  readonly executor: Executor
  /** true where its paths are those of this machine */
  readonly here: boolean
  readonly environmentId: string
  readonly signal: AbortSignal
}

/** Its real root, and its files below that. */
export class PackageFolder {
  /** every link resolved, where the executor can */
  readonly root: string
  /** names of the files and folders at its top */
  readonly names: ReadonlySet<string>
  readonly #files: ReadonlySet<string>
  readonly #place: PackagePlace

  private constructor(place: PackagePlace, root: string, entries: readonly DirectoryEntry[]) {
    this.#place = place
    this.root = root
    this.names = new Set(entries.map(({ name }) => name))
    this.#files = new Set(entries.filter(({ kind }) => kind === 'file').map(({ name }) => name))
  }

  /** Rejects with ENVIRONMENT_FILE_FAILED where there is no folder, ENVIRONMENT_UNSUPPORTED where the executor reads no files. */
  static async open(place: PackagePlace, folder: string): Promise<PackageFolder> {
    const { executor, signal, environmentId } = place
    if (executor.readFile === undefined || executor.listDirectory === undefined)
      throw new TaplineError(
        'ENVIRONMENT_UNSUPPORTED',
        `the executor of environment ${environmentId} reads no files, so it has no plugin packages`,
      )
    const root = (await executor.realPath?.(folder, { signal })) ?? folder
    const entries = await executor.listDirectory(root, { signal })
    return new PackageFolder(place, root, entries)
  }

  /** The path as people are told: with the environment in front of it where it is another machine's. */
  label(file: string): string {
    return this.#place.here ? file : `${this.#place.environmentId}:${file}`
  }

  /** Absolute path of a file that is named relative to the root. */
  file(relative: string): string {
    return this.#paths.resolve(this.root, relative)
  }

  /** True where a folder at its top has the name in it, or cannot be listed, so that it may have. */
  async mayHold(top: string, name: string): Promise<boolean> {
    if (!this.names.has(top) || this.#files.has(top)) return false
    const { executor, signal } = this.#place
    try {
      return (await executor.listDirectory?.(this.file(top), { signal }))?.some((entry) => entry.name === name) ?? false
    } catch (error) {
      if (isTaplineError(error) && error.code === 'ENVIRONMENT_FILE_FAILED') return true
      throw error
    }
  }

  /** Names in a folder of the package; none where there is no such folder. */
  async list(relative: string): Promise<ReadonlySet<string>> {
    const { executor, signal } = this.#place
    try {
      const entries = await executor.listDirectory?.(this.file(relative), { signal })
      return new Set(entries?.map(({ name }) => name))
    } catch (error) {
      if (isTaplineError(error) && error.code === 'ENVIRONMENT_FILE_FAILED') return new Set()
      throw error
    }
  }

  /** The bytes of a file of the package. Rejects with CONFIG_INVALID where it is outside or too large, ENVIRONMENT_FILE_FAILED. */
  async read(relative: string): Promise<Uint8Array> {
    const { executor, signal } = this.#place
    const file = this.file(relative)
    const outside = await this.outside(file)
    if (outside !== null) throw new TaplineError('CONFIG_INVALID', `${this.label(file)} is not read: ${outside}`)
    const bytes = (await executor.readFile?.(file, { signal })) ?? new Uint8Array()
    if (bytes.length > FILE_LIMIT)
      throw new TaplineError(
        'CONFIG_INVALID',
        `${this.label(file)} has ${bytes.length} bytes; ${FILE_LIMIT} is the limit for a file of a package`,
      )
    return bytes
  }

  /** Why a path is not in the package, also by a link; null: it is, or nothing is there. */
  async outside(file: string): Promise<string | null> {
    if (!this.#isInside(file)) return `it leaves the folder of the plugin package, ${this.root}`
    const { executor, signal } = this.#place
    let real: string
    try {
      real = (await executor.realPath?.(file, { signal })) ?? file
    } catch (error) {
      // whoever uses it will say that it is not there
      if (isTaplineError(error) && error.code === 'ENVIRONMENT_FILE_FAILED') return null
      throw error
    }
    return this.#isInside(real) ? null : `it is a link to ${real}, which is not in ${this.root}`
  }

  /** True for paths that are written as being in the package. */
  holds(file: string): boolean {
    return this.#isInside(file)
  }

  get #paths(): typeof path {
    return this.#place.here ? path : path.posix
  }

  #isInside(file: string): boolean {
    const way = this.#paths.relative(this.root, file)
    return way !== '..' && !way.startsWith(`..${this.#paths.sep}`) && !this.#paths.isAbsolute(way)
  }
}
