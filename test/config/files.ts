/** Temporary configurations for the tests of this room. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import type { Config, LoadedConfig } from '../../src/config/config.ts'
import type { ConfigFile } from '../../src/config/load.ts'
import { formatOf } from '../../src/config/format.ts'
import { loadConfig } from '../../src/config/load.ts'
import { parseFile } from '../../src/documents/parse-file.ts'
import { toJson } from '../../src/documents/value.ts'
import type { TaplineError } from '../../src/errors.ts'
import { isTaplineError } from '../../src/errors.ts'
import { Secrets } from '../../src/secrets.ts'
import type { ServerRegistration } from '../../src/servers/definition.ts'
import { newFolder } from '../new-folder.ts'
import { against } from './schema.ts'

/** A new folder with these files; values that are no text are written as JSON. */
export function folderWith(files: Readonly<Record<string, unknown>> = {}): string {
  const folder = newFolder('tapline-config-')
  for (const [name, content] of Object.entries(files)) write(folder, name, content)
  return folder
}

export function write(folder: string, name: string, content: unknown): string {
  const file = path.join(folder, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content, null, 2))
  return file
}

export interface Given {
  readonly host?: Config
  readonly env?: Readonly<Record<string, string>>
  readonly secrets?: Secrets
  readonly cwd?: string
}

export async function load(
  files: readonly ConfigFile[],
  { host, env = {}, secrets = new Secrets(), cwd = os.tmpdir() }: Given = {},
): Promise<LoadedConfig> {
  const loaded = await loadConfig({ files, env, secrets, cwd, ...(host && { host }) })
  for (const file of files) await expectInSchema(path.resolve(cwd, file.path), loaded)
  return loaded
}

/** What the readers take without a mistake, the schema for editors takes too. */
async function expectInSchema(file: string, { diagnostics }: LoadedConfig): Promise<void> {
  if (diagnostics.some(({ severity, where }) => severity !== 'info' && where?.startsWith(file))) return
  const root = await parseFile(fs.readFileSync(file), file, () => {})
  if (root === null || formatOf(file, root) !== 'tapline') return
  expect(against(toJson(root, () => {})), file).toEqual([])
}

/** Loads one file called `name`, named by the user, in a folder of its own. */
export async function loadText(
  content: unknown,
  given: Given & { readonly name?: string; readonly kind?: ConfigFile['kind'] } = {},
): Promise<LoadedConfig & { readonly file: string; readonly folder: string }> {
  const folder = folderWith()
  const file = write(folder, given.name ?? 'tapline.json', content)
  return { ...(await load([{ path: file, kind: given.kind ?? 'named' }], given)), file, folder }
}

/** The error that the promise ends with; fails where there is none. */
export async function failure(promise: Promise<unknown>): Promise<TaplineError> {
  const error: unknown = await promise.then(
    () => new Error('there was no error'),
    (cause: unknown) => cause,
  )
  if (!isTaplineError(error)) throw error
  return error
}

export function server(loaded: LoadedConfig, name: string, environmentId: string | null = null): ServerRegistration {
  const found = loaded.registrations.findLast((one) => one.key.name === name && one.key.environmentId === environmentId)
  if (found === undefined)
    throw new Error(`no registration of ${name}; there are ${loaded.registrations.map((one) => one.key.name).join(', ')}`)
  return found
}

/** Where a piece of a text is, as `line:column`. */
export function placeOf(text: string, piece: string, nth = 0): string {
  let at = -1
  for (let index = 0; index <= nth; index++) at = text.indexOf(piece, at + 1)
  if (at < 0) throw new Error(`${piece} is not in the text`)
  const before = text.slice(0, at).split('\n')
  return `${before.length}:${(before.at(-1) as string).length + 1}`
}
