/** The scripts that the command of a hook names, as far as they lie where its file does: what trust in the hook is bound to. */
import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { realFile } from '../../documents/real-file.ts'
import { matchesGlob } from '../../hooks/tap-filter.ts'
import { commandWords } from './command-words.ts'
import { fileDigest } from './file-digest.ts'
import type { HookPlaces } from './hook-env.ts'

/** Path → SHA-256 of the file, or `unreadable`. */
export type Scripts = Readonly<Record<string, string>>

/** What programs try for a word that is no file: `node ./guard`, `node ./scripts`, `python scripts`. */
const ENDINGS = ['.js', '.cjs', '.mjs', '.json', '.node', '.py', '/index.js', '/package.json', '/__main__.py']
/** Folders that a command may go to before it names a script. */
const MOST_FOLDERS = 8
/** Files that one pattern may stand for; others do not count. */
const MOST_FILES = 500
const PATTERN = /[*?[{]/

/** The scripts that are there. Folders of the file, of the project and of the plugin package count. */
export function namedScripts(command: string, places: HookPlaces): Promise<Scripts> {
  return digestsOf(command, places, ['', ...ENDINGS])
}

/** The path of a script that is not as it was, or null. Cheaper than looking for all of them again, for before each run. */
export async function changedScript(command: string, places: HookPlaces, trusted: Scripts): Promise<string | null> {
  const now = await digestsOf(command, places, [''])
  for (const [file, digest] of Object.entries(now)) if (trusted[file] !== digest) return file
  for (const [file, digest] of Object.entries(trusted)) if ((now[file] ?? (await fileDigest(file))) !== digest) return file
  return null
}

async function digestsOf(command: string, places: HookPlaces, endings: readonly string[]): Promise<Scripts> {
  const written = [places.folder, places.project, ...(places.plugin === null ? [] : [places.plugin.root])]
  const roots = [...new Set([...written, ...(await Promise.all(written.map((root) => realpath(root).catch(() => root))))])]
  const isOurs = (file: string): boolean => roots.some((root) => isBelow(root, file))
  const words = commandWords(command, places)
  const files = new Set<string>()
  const digests = new Map<string, string>()
  for (const base of await basesOf(words, places, isOurs)) {
    for (const word of words) {
      for (const ending of endings) files.add(path.resolve(base, word + ending))
      if (PATTERN.test(word)) for (const file of await filesOf(path.resolve(base, word), isOurs)) files.add(file)
    }
  }
  await Promise.all(
    [...files].map(async (file) => {
      // a link leads out of the folder, and is in it all the same
      const real = await realFile(file)
      if (!isOurs(file) && !isOurs(real)) return
      const digest = await fileDigest(real)
      if (digest !== null) digests.set(real, digest)
    }),
  )
  return Object.fromEntries(digests)
}

/** Where relative words may start: also the folders that the command itself names, as in `cd scripts && ./guard.sh`. */
async function basesOf(words: readonly string[], places: HookPlaces, isOurs: (file: string) => boolean): Promise<ReadonlySet<string>> {
  const bases = new Set([places.folder, places.project])
  const named = [...bases].flatMap((base) => words.map((word) => path.resolve(base, word))).filter(isOurs)
  for (const folder of named) {
    if (bases.size >= MOST_FOLDERS) break
    if ((await stat(folder).catch(() => null))?.isDirectory()) bases.add(folder)
  }
  return bases
}

/** What a pattern for files of one folder stands for: `hooks.d/*.sh`. The folders themselves must be written out. */
async function filesOf(pattern: string, isOurs: (file: string) => boolean): Promise<readonly string[]> {
  const folder = path.dirname(pattern)
  if (PATTERN.test(folder) || !isOurs(path.join(folder, 'x'))) return []
  const glob = path.basename(pattern).replace(/\[[^\]]*\]|\{.*\}/g, '*')
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => matchesGlob(glob, name))
    .sort()
    .slice(0, MOST_FILES)
    .map((name) => path.join(folder, name))
}

function isBelow(root: string, file: string): boolean {
  const way = path.relative(root, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)
}
