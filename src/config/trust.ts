/** What the user allowed to be read: records of configuration files that were found, bound to their content, and to that of their hook modules and plugin packages. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { realFile, shellWord } from '../documents/real-file.ts'
import { isTaplineError, TaplineError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { Store } from '../storage/store.ts'
import { FOUND_NAMES } from './discover.ts'
import { readHooks } from './hook-entries.ts'
import { formatOf } from './format.ts'
import type { ConfigFile } from './load.ts'
import { readPackages } from './packages.ts'
import { packageFiles } from './package-files.ts'
import { parseFile } from '../documents/parse-file.ts'
import { digestOf, readConfigFile } from '../documents/read-file.ts'

interface TrustRecord {
  readonly file: string
  readonly digest: string
  /** modules that the file names by path, and what its plugin packages on this machine say; null: there was none */
  readonly hooks: readonly { readonly path: string; readonly digest: string | null }[]
}

/** Trusts the configuration files of a folder as they are now, with the hook modules and plugin packages that they name by path. Gives their paths; throws CONFIG_NOT_FOUND where the folder has none. */
export async function trustFolder(store: Store, dir: string): Promise<string[]> {
  const trusted: string[] = []
  for (const name of FOUND_NAMES) {
    const file = await realFile(path.join(path.resolve(dir), name))
    const bytes = await contentOf(file)
    if (bytes === null) continue
    const hooks = await Promise.all(
      (await namedPaths(bytes, file)).map(async (hook) => ({ path: hook, digest: await digestIfThere(hook) })),
    )
    const record: TrustRecord = { file, digest: digestOf(bytes), hooks }
    await store.put('trust', keyOf(file), JSON.stringify(record))
    trusted.push(file)
  }
  if (trusted.length > 0) return trusted
  throw new TaplineError('CONFIG_NOT_FOUND', `${path.resolve(dir)} has no ${FOUND_NAMES.toReversed().join(' and no ')}`, {
    remedy: 'Name the folder of the configuration file.',
  })
}

/** Takes the trust in the files of a folder back, also of files that are gone. Gives the paths that were trusted. */
export async function untrustFolder(store: Store, dir: string): Promise<string[]> {
  const removed: string[] = []
  for (const name of FOUND_NAMES) {
    const file = await realFile(path.join(path.resolve(dir), name))
    if (await store.delete('trust', keyOf(file))) removed.push(file)
  }
  return removed
}

/** Checks every file that was found; they are only digested. Gives the files with the digest that `loadConfig` holds them to; throws CONFIG_UNTRUSTED that names each file and the command to run. */
export async function assertTrusted(store: Store, files: readonly ConfigFile[]): Promise<ConfigFile[]> {
  const checked: ConfigFile[] = []
  const refused: { readonly file: string; readonly why: string }[] = []
  for (const config of files) {
    if (config.kind !== 'found') {
      checked.push(config)
      continue
    }
    const file = await realFile(path.resolve(config.path))
    const digest = digestOf(await readConfigFile(file))
    const why = await distrust(await recordOf(store, file), digest)
    if (why === null) checked.push({ ...config, digest })
    else refused.push({ file, why })
  }
  if (refused.length === 0) return checked
  const commands = [...new Set(refused.map(({ file }) => `tapline trust ${shellWord(path.dirname(file))}`))]
  throw new TaplineError(
    'CONFIG_UNTRUSTED',
    `${refused.map(({ file, why }) => `${file} ${why}`).join('; ')}: read it, then run ${commands.join(' and ')}`,
    {
      remedy: `Run ${commands.join(' and ')}, or name the file with --config.`,
      data: { files: refused.map(({ file }) => file), commands },
      ...(refused[0] && { where: refused[0].file }),
    },
  )
}

async function distrust(record: TrustRecord | null, digest: string): Promise<string | null> {
  if (record === null) return 'is not trusted'
  if (record.digest !== digest) return 'changed since it was trusted'
  for (const hook of record.hooks) {
    if ((await digestIfThere(hook.path)) !== hook.digest) return `names ${hook.path}, which changed since it was trusted`
  }
  return null
}

/** Paths can hold what keys of a store cannot. */
function keyOf(file: string): string {
  return createHash('sha256').update(file).digest('hex')
}

async function recordOf(store: Store, file: string): Promise<TrustRecord | null> {
  const entry = await store.get('trust', keyOf(file))
  if (entry === null) return null
  try {
    const record: unknown = JSON.parse(entry.value)
    const isWhole =
      isJsonObject(record) &&
      record['file'] === file &&
      typeof record['digest'] === 'string' &&
      Array.isArray(record['hooks']) &&
      record['hooks'].every(isHookRecord)
    return isWhole ? (record as unknown as TrustRecord) : null
  } catch {
    return null
  }
}

function isHookRecord(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string' && (value['digest'] === null || typeof value['digest'] === 'string')
}

async function namedPaths(bytes: Buffer, file: string): Promise<readonly string[]> {
  const silent = (): void => {}
  const root = await parseFile(bytes, file, silent)
  if (root?.kind !== 'object') return []
  const source = { label: file, kind: 'found', rank: 0, folder: path.dirname(file), format: formatOf(file, root) } as const
  const hooks = root.members
    .filter((member) => member.name === 'hooks')
    .flatMap((member) => readHooks(member.value, source, silent))
    .filter((hook) => hook.kind === 'path')
    .map((hook) => hook.module)
  const packages = root.members
    .filter((member) => member.name === 'plugins')
    .flatMap((member) => readPackages(member.value, source, silent))
    .map((draft) => path.resolve(source.folder, draft.path))
  return [...hooks, ...(await Promise.all(packages.map(packageFiles))).flat()]
}

async function contentOf(file: string): Promise<Buffer | null> {
  try {
    return await readConfigFile(file)
  } catch (error) {
    if (isTaplineError(error) && error.code === 'CONFIG_NOT_FOUND') return null
    throw error
  }
}

async function digestIfThere(file: string): Promise<string | null> {
  const bytes = await contentOf(file)
  return bytes && digestOf(bytes)
}
