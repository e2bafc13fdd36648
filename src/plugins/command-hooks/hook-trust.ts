/** Which hooks files may run: records in the store, bound to what the hooks are and to the scripts that they name. */
import { createHash } from 'node:crypto'
import { realFile } from '../../documents/real-file.ts'
import { isJsonObject } from '../../json.ts'
import type { Store } from '../../storage/store.ts'
import type { CommandHook } from './definition.ts'
import { fileDigest } from './file-digest.ts'
import type { HookPlaces } from './hook-env.ts'
import { changedScript, namedScripts, type Scripts } from './named-scripts.ts'

/** What trust is about. */
export interface HookSubject {
  /** the file that has the hooks, absolute */
  readonly path: string
  readonly hooks: readonly CommandHook[]
  readonly places: HookPlaces
  /** where it may be looked at from as well: a file of a plugin package that is named by its path */
  readonly alsoIn?: HookPlaces
}

interface HookRecord {
  readonly id: string
  readonly digest: string
  readonly scripts: Scripts
}

/** Trusts the hooks as they are now. Gives the real path. */
export async function trustHooks(store: Store, subject: HookSubject): Promise<string> {
  const file = await realFile(subject.path)
  await store.put('trust', keyOf(file), JSON.stringify({ file, hooks: await recordsOf(subject) }))
  return file
}

/** Takes that back, also of a file that is gone. Gives the real path, or null where it was not trusted. */
export async function untrustHooks(store: Store, path: string): Promise<string | null> {
  const file = await realFile(path)
  return (await store.delete('trust', keyOf(file))) ? file : null
}

/** Why the hooks may not run (it goes on after the path of the file); null: they may. A file without hooks of tool calls needs no trust. */
export async function distrustOf(store: Store, subject: HookSubject): Promise<string | null> {
  if (subject.hooks.length === 0) return null
  const known = await recordedHooks(store, await realFile(subject.path))
  if (known === null) return 'is not trusted'
  const now = await recordsOf(subject)
  const digests = new Set(known.map(({ digest }) => digest))
  const added = now.find(({ digest }) => !digests.has(digest))
  if (added !== undefined) return `changed since it was trusted: the hook ${added.id} is another one`
  for (const { id, digest, scripts } of now) {
    const before = known.find((one) => one.digest === digest)?.scripts ?? {}
    const changed = await changedIn(before, scripts)
    if (changed !== null) return `names ${changed} in the hook ${id}, which changed since it was trusted`
  }
  if (known.length !== now.length) return 'changed since it was trusted: hooks are missing'
  if (known.some(({ digest }, index) => digest !== now[index]?.digest))
    return 'changed since it was trusted: its hooks are in another order'
  return null
}

/** The path of a script that is not as it was. A record may have more of them than `now`: it can be one of several places. */
async function changedIn(before: Scripts, now: Scripts): Promise<string | null> {
  for (const [path, digest] of Object.entries(now)) if (before[path] !== digest) return path
  for (const [path, digest] of Object.entries(before)) if ((now[path] ?? (await fileDigest(path))) !== digest) return path
  return null
}

/** Why a hook may not run any more, asked before each run: a script that it names is not what it was when this was called. */
export async function scriptWatch({ path, hooks, places }: HookSubject): Promise<(hook: CommandHook) => Promise<string | null>> {
  const scripts = new Map(await Promise.all(hooks.map(async ({ id, command }) => [id, await namedScripts(command, places)] as const)))
  return async ({ id, command }) => {
    const changed = await changedScript(command, places, scripts.get(id) ?? {})
    return changed === null
      ? null
      : `${changed}, which the hook ${id} of ${path} names, changed since the hooks were loaded: read it, then trust the hooks and open a session again`
  }
}

function recordsOf({ hooks, places, alsoIn }: HookSubject): Promise<readonly HookRecord[]> {
  return Promise.all(
    hooks.map(async ({ id, command, written }) => ({
      id,
      digest: createHash('sha256').update(written).digest('hex'),
      scripts: { ...(alsoIn && (await namedScripts(command, alsoIn))), ...(await namedScripts(command, places)) },
    })),
  )
}

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
