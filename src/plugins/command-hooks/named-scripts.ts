/** The scripts that the command of a hook names, as far as they lie where its file does: what trust in the hook is bound to. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { realFile } from '../../documents/real-file.ts'
import { type HookPlaces, placeVariables } from './hook-env.ts'

/** Words of one command that are looked at. */
const MOST_WORDS = 200

/** Real path → SHA-256 of the file; null: there is none (yet). Folders of the file, of the project and of the plugin package count. */
export async function namedScripts(command: string, places: HookPlaces): Promise<Readonly<Record<string, string | null>>> {
  const roots = await Promise.all(
    [places.folder, places.project, ...(places.plugin === null ? [] : [places.plugin.root])].map((root) =>
      realpath(root).catch(() => root),
    ),
  )
  const words = wordsOf(filledIn(command, places))
    .slice(0, MOST_WORDS)
    .filter((word) => word !== '' && !word.includes('\0'))
  const files = [...new Set([places.folder, places.project].flatMap((base) => words.map((word) => path.resolve(base, word))))]
  const real = await Promise.all(files.map(realFile))
  const paths = new Set(real.filter((file) => roots.some((root) => isBelow(root, file))))
  const digests = await Promise.all([...paths].map(async (file) => [file, await digestOfFile(file)] as const))
  return Object.fromEntries(digests)
}

function filledIn(command: string, places: HookPlaces): string {
  const variables = placeVariables(places)
  return command.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (written, braced: string | undefined, bare: string | undefined) => variables[braced ?? bare ?? ''] ?? written,
  )
}

/** Words as a shell would cut them, without its quotes; what is in quotes is cut once more, for `bash -c "…"`. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  const end = (): void => {
    if (word === '') return
    words.push(word)
    if (/\s/.test(word)) words.push(...word.split(/[\s"'`;|&()<>=]+/))
    word = ''
  }
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string
    if (quote !== '') {
      if (char === quote) quote = ''
      else word += char
    } else if (char === '"' || char === "'") quote = char
    else if (char === '\\') word += command[++at] ?? ''
    else if (/[\s`;|&()<>=]/.test(char)) end()
    else word += char
  }
  end()
  return words
}

function isBelow(root: string, file: string): boolean {
  const way = path.relative(root, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)
}

async function digestOfFile(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null)
  if (found === null || !found.isFile()) return null
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
    return hash.digest('hex')
  } catch {
    // it cannot be read, and so it cannot be what was trusted
    return 'unreadable'
  }
}
