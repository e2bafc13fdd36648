/** Which hooks files may run: records in the store, bound to what the hooks are and to the scripts that they name. */
import { createHash } from 'node:crypto'
import { invalidDocument } from '../../documents/invalid-document.ts'
import { realFile } from '../../documents/real-file.ts'
import { isJsonObject } from '../../json.ts'
import type { Store } from '../../storage/store.ts'
import type { CommandHook } from './definition.ts'
import { fileDigest } from './file-digest.ts'
import type { HookPlaces } from './hook-env.ts'
import { changedScript, namedScripts, type Scripts } from './named-scripts.ts'
import { PathBudget, TooManyPaths } from './script-paths.ts'

/** What trust is about. */
export interface HookSubject {
  /** the file that has the hooks, absolute */
  readonly path: string
  readonly hooks: readonly CommandHook[]
  readonly places: HookPlaces
  /** where it may be looked at from as well: a file of a plugin package that is named by its path */
  readonly alsoIn?: HookPlaces
}

interface HookText {
  readonly id: string
  readonly digest: string
}

interface HookRecord extends HookText {
  readonly scripts: Scripts
}

/** Trusts the hooks as they are now. Gives the real path. Rejects with CONFIG_INVALID where they name more paths than anybody should look at. */
export async function trustHooks(store: Store, subject: HookSubject): Promise<string> {
  const file = await realFile(subject.path)
  let scripts: readonly Scripts[]
  try {
    scripts = await scriptsOf(subject)
  } catch (error) {
    if (!(error instanceof TooManyPaths)) throw error
    throw invalidDocument([{ where: subject.path, message: `cannot be trusted: ${error.message}` }], `the hooks file ${subject.path}`)
  }
  const hooks: readonly HookRecord[] = textsOf(subject).map((text, index) => ({ ...text, scripts: scripts[index] ?? {} }))
  await store.put('trust', keyOf(file), JSON.stringify({ file, hooks }))
  return file
}

/** Takes that back, also of a file that is gone. Gives the real path, or null where it was not trusted. */
export async function untrustHooks(store: Store, path: string): Promise<string | null> {
  const file = await realFile(path)
  return (await store.delete('trust', keyOf(file))) ? file : null
}

/** Why the hooks may not run (it goes on after the path of the file); null: they may. A file without hooks of tool calls needs no trust. */
export async function distrustOf(store: Store, subject: HookSubject): Promise<string | null> {
  const known = await recordsOf(store, subject)
  return typeof known === 'string' ? known : distrustIn(known, subject)
}

/** What may run, and until when. */
export interface Watched {
  /** why the hooks may not run at all, as `distrustOf` says it */
  readonly why: string | null
  /** why one of them may not run any more, asked before each run: a script that it names is not what it was when this was made */
  readonly distrust: (hook: CommandHook) => Promise<string | null>
}

/** The same for hooks that are going to run, with scripts as `places` has them. Files that nobody trusts are asked for no script. */
export async function watchHooks(store: Store, subject: HookSubject, places: HookPlaces = subject.places): Promise<Watched> {
  const known = await recordsOf(store, subject)
  if (typeof known === 'string') return { why: known, distrust: () => Promise.resolve(known) }
  try {
    // before they are held against the record: what changes in between has changed
    const distrust = await scriptWatch({ path: subject.path, hooks: subject.hooks, places })
    return { why: await distrustIn(known, subject), distrust }
  } catch (error) {
    const why = tooMany(error)
    return { why, distrust: () => Promise.resolve(why) }
  }
}

/** The records, where the file itself is what was trusted; else why not. No script is looked at. */
async function recordsOf(store: Store, subject: HookSubject): Promise<readonly HookRecord[] | string> {
  if (subject.hooks.length === 0) return []
  const known = await recordedHooks(store, await realFile(subject.path))
  if (known === null) return 'is not trusted'
  const now = textsOf(subject)
  const digests = new Set(known.map(({ digest }) => digest))
  const added = now.find(({ digest }) => !digests.has(digest))
  if (added !== undefined) return `changed since it was trusted: the hook ${added.id} is another one`
  if (known.length !== now.length) return 'changed since it was trusted: hooks are missing'
  if (known.some(({ digest }, index) => digest !== now[index]?.digest))
    return 'changed since it was trusted: its hooks are in another order'
  return known
}

async function distrustIn(known: readonly HookRecord[], subject: HookSubject): Promise<string | null> {
  try {
    for (const [index, scripts] of (await scriptsOf(subject)).entries()) {
      const changed = await changedIn(known[index]?.scripts ?? {}, scripts)
      if (changed !== null) return `names ${changed} in the hook ${subject.hooks[index]?.id}, which changed since it was trusted`
    }
    return null
  } catch (error) {
    return tooMany(error)
  }
}

/** Throws what it is not. */
function tooMany(error: unknown): string {
  if (error instanceof TooManyPaths) return `cannot be trusted: ${error.message}`
  throw error
}

/** The path of a script that is not as it was. A record may have more of them than `now`: it can be one of several places. */
async function changedIn(before: Scripts, now: Scripts): Promise<string | null> {
  for (const [path, digest] of Object.entries(now)) if (before[path] !== digest) return path
  for (const [path, digest] of Object.entries(before)) if ((now[path] ?? (await fileDigest(path))) !== digest) return path
  return null
}

async function scriptWatch(subject: HookSubject): Promise<Watched['distrust']> {
  const { path, hooks, places } = subject
  const all = await scriptsOf(subject)
  const scripts = new Map(hooks.map(({ id }, index) => [id, all[index] ?? {}]))
  return async ({ id, command }) => {
    try {
      const changed = await changedScript(command, places, scripts.get(id) ?? {})
      return changed === null
        ? null
        : `${changed}, which the hook ${id} of ${path} names, changed since the hooks were loaded: read it, then trust the hooks and open a session again`
    } catch (error) {
      return `${path} ${tooMany(error)}`
    }
  }
}

/** The scripts of each hook, one hook after the other. Throws TooManyPaths, which names the hook. */
async function scriptsOf({ hooks, places, alsoIn }: HookSubject): Promise<readonly Scripts[]> {
  const budget = new PathBudget()
  const all: Scripts[] = []
  for (const { id, command } of hooks) {
    budget.nextHook()
    try {
      const elsewhere = alsoIn === undefined ? {} : await namedScripts(command, alsoIn, budget)
      all.push({ ...elsewhere, ...(await namedScripts(command, places, budget)) })
    } catch (error) {
      throw error instanceof TooManyPaths ? new TooManyPaths(`the hook ${id} ${error.message}`) : error
    }
  }
  return all
}

const textsOf = ({ hooks }: HookSubject): readonly HookText[] =>
  hooks.map(({ id, written }) => ({ id, digest: createHash('sha256').update(written).digest('hex') }))

async function recordedHooks(store: Store, file: string): Promise<readonly HookRecord[] | null> {
  const entry = await store.get('trust', keyOf(file))
  if (entry === null) return null
  try {
    const record: unknown = JSON.parse(entry.value)
    const isWhole = isJsonObject(record) && record['file'] === file && Array.isArray(record['hooks']) && record['hooks'].every(isRecord)
    return isWhole ? (record['hooks'] as unknown as readonly HookRecord[]) : null
  } catch {
    return null
  }
}

function isRecord(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value['digest'] === 'string' &&
    isJsonObject(value['scripts']) &&
    Object.values(value['scripts']).every((digest) => typeof digest === 'string')
  )
}

/** Apart from the records of configuration files: one file can be both. */
const keyOf = (file: string): string => createHash('sha256').update(`hooks\0${file}`).digest('hex')
