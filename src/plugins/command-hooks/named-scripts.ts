/** The scripts that the command of a hook names, as far as they lie where its file does: what trust in the hook is bound to. */
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { matchesGlob } from '../../hooks/tap-filter.ts'
import { commandWords } from './command-words.ts'
import { fileDigest } from './file-digest.ts'
import type { HookPlaces } from './hook-env.ts'
import { eachOf, Folders, PathBudget } from './script-paths.ts'
import { tooMuch } from './shell-variables.ts'

/** Path → SHA-256 of the file, or `unreadable`. */
export type Scripts = Readonly<Record<string, string>>

/** What programs try for a word that is no file: `node ./guard`, `node ./scripts`, `python scripts`. */
const ENDINGS = ['.js', '.cjs', '.mjs', '.json', '.node', '.py', '/index.js', '/package.json', '/__main__.py']
/** Folders that a command may go to before it names a script, and places where its words are looked for. More is a mistake: nothing is left out. */
const MOST_FOLDERS = 64
const MOST_PLACES = 65_536
/** Files that one pattern may stand for; others do not count. */
const MOST_FILES = 500
const PATTERN = /[*?[{]/

/** `cd` and the like where a command begins: what follows is a folder to go to. Also the dot that reads a script. */
const GOES_TO =
  /(?:^|[;&|(){}\n"'`!]|\b(?:then|do|else|if|while|until|builtin|command)\s)[^\S\n]*(?:(?:cd|pushd)\s+(?:-[-LPe@]+\s+)*|(?=\.\s))/g
/** Programs that run a folder, up to what they are given. */
const RUNS = /(?:^|[\s/;&|("'`])(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)(?:\.exe)?(?:\s+-\S+|\s+run)*\s+/g
/** Programs for which the `package.json` of the folder that they are in is the script. */
const RUNS_PACKAGE = /\b(?:npm|pnpm|yarn|bun)\b/
/** In no command that a person wrote; glued to a word it makes another one of it. */
const MARK = '\u0001'

/** The scripts that are there. Folders of the file, of the project and of the plugin package count. Throws TooManyPaths. */
export function namedScripts(command: string, places: HookPlaces, budget: PathBudget = new PathBudget()): Promise<Scripts> {
  return digestsOf(command, places, { endings: ENDINGS, budget })
}

/** The path of a script that is not as it was, or null. Cheaper than looking for all of them again, for before each run. Throws TooManyPaths. */
export async function changedScript(command: string, places: HookPlaces, trusted: Scripts): Promise<string | null> {
  const now = await digestsOf(command, places, { endings: [], budget: new PathBudget() })
  for (const [file, digest] of Object.entries(now)) if (trusted[file] !== digest) return file
  for (const [file, digest] of Object.entries(trusted)) if ((now[file] ?? (await fileDigest(file))) !== digest) return file
  return null
}

interface Looking {
  /** beside the words as they are */
  readonly endings: readonly string[]
  readonly budget: PathBudget
}

async function digestsOf(command: string, places: HookPlaces, { endings, budget }: Looking): Promise<Scripts> {
  const written = [places.folder, places.project, ...(places.plugin === null ? [] : [places.plugin.root])]
  const roots = [...new Set([...written, ...(await Promise.all(written.map((root) => realpath(root).catch(() => root))))])]
  const isOurs = (file: string): boolean => roots.some((root) => isBelow(root, file))
  const words = commandWords(command, places)
  const folders = new Folders(budget)
  const hasEndings = endings.length === 0 ? () => false : runnable(command, places)
  const files = new Set<string>()
  budget.spend(2 * words.length)
  for (const base of await basesOf(words, places, isOurs)) {
    for (const word of words) {
      const file = path.resolve(base, word)
      const found = PATTERN.test(word) ? await filesOf(file, isOurs, folders) : []
      const ends = hasEndings(word, file) ? endings : []
      budget.spend(1 + ends.length + found.length)
      files.add(file)
      for (const ending of ends) files.add(path.resolve(base, word + ending))
      for (const one of found) files.add(one)
    }
  }
  const digests = new Map<string, string>()
  await eachOf(files, async (file) => {
    // a link leads out of the folder, and is in it all the same
    const real = await folders.realFile(file)
    if (!isOurs(file) && !isOurs(real)) return
    const digest = await fileDigest(real)
    if (digest !== null) digests.set(real, digest)
  })
  // in the order of the paths, not in that of the disk
  return Object.fromEntries([...digests].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether a program may run what a word and an ending make. Not of folders that are gone to, nor, unless it is run, of the project: its package.json is no script. */
function runnable(command: string, places: HookPlaces): (word: string, file: string) => boolean {
  if (RUNS_PACKAGE.test(command)) return () => true
  const used = new Set(commandWords(command.replace(GOES_TO, `$&${MARK}`), places))
  const run = new Set(commandWords(command.replace(RUNS, `$&${MARK}`), places))
  const project = path.resolve(places.project)
  const isProject = (word: string, file: string): boolean => path.isAbsolute(word) && file === project
  return (word, file) => used.has(word) && (!isProject(word, file) || run.has(MARK + word))
}

/** Where relative words may start: also the folders that the command itself names, one in the other, as in `cd scripts && cd deep && ./guard.sh`. */
async function basesOf(words: readonly string[], places: HookPlaces, isOurs: (file: string) => boolean): Promise<ReadonlySet<string>> {
  const bases = new Set([places.folder, places.project])
  const seen = new Set(await Promise.all([...bases].map((base) => realpath(base).catch(() => base))))
  // those that are added are gone through as well
  for (const base of bases) {
    const folders = new Set(words.map((word) => path.resolve(base, word)).filter((folder) => isOurs(folder) && !bases.has(folder)))
    for (const folder of folders) {
      if (!(await stat(folder).catch(() => null))?.isDirectory()) continue
      // a link can lead round and round
      const real = await realpath(folder).catch(() => folder)
      if (!seen.has(real)) bases.add(folder)
      seen.add(real)
      if (bases.size > MOST_FOLDERS || bases.size * words.length > MOST_PLACES) throw tooMuch()
    }
  }
  return bases
}

/** What a pattern for files of one folder stands for: `hooks.d/*.sh`. The folders themselves must be written out. */
async function filesOf(pattern: string, isOurs: (file: string) => boolean, folders: Folders): Promise<readonly string[]> {
  const folder = path.dirname(pattern)
  if (PATTERN.test(folder) || !isOurs(path.join(folder, 'x'))) return []
  const glob = path.basename(pattern).replace(/\[[^\]]*\]|\{.*\}/g, '*')
  return (await folders.namesIn(folder))
    .filter((name) => matchesGlob(glob, name))
    .sort()
    .slice(0, MOST_FILES)
    .map((name) => path.join(folder, name))
}

function isBelow(root: string, file: string): boolean {
  const way = path.relative(root, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)
}
