/** Which hooks files may run: records in the store, bound to what the hooks are and to the scripts that they name. */
import { createHash } from 'node:crypto'
import { realFile } from '../../documents/real-file.ts'
import { isJsonObject } from '../../json.ts'
import type { Store } from '../../storage/store.ts'
import type { CommandHook } from './definition.ts'
import type { HookPlaces } from './hook-env.ts'
import { namedScripts } from './named-scripts.ts'

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
  readonly scripts: Readonly<Record<string, string | null>>
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
    // of one command it is always the same files that count, there or not
    const changed = Object.keys(scripts).find((path) => (before[path] ?? null) !== (scripts[path] ?? null))
    if (changed !== undefined) return `names ${changed} in the hook ${id}, which changed since it was trusted`
  }
  if (known.length !== now.length) return 'changed since it was trusted: hooks are missing'
  if (known.some(({ digest }, index) => digest !== now[index]?.digest))
    return 'changed since it was trusted: its hooks are in another order'
  return null
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
    Object.values(value['scripts']).every((digest) => digest === null || typeof digest === 'string')
  )
}

/** Apart from the records of configuration files: one file can be both. */
const keyOf = (file: string): string => createHash('sha256').update(`hooks\0${file}`).digest('hex')
