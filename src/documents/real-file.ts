/** Which file a path means. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'

/** The path with every link of its folder resolved: relative paths of a file start there, wherever a link of its own leads. */
export async function realFile(file: string): Promise<string> {
  const folder = path.dirname(file)
  const real = await realpath(folder).catch(() => folder)
  return path.join(real, path.basename(file))
}

/** A path as a word of a command line that people can paste. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
