/** The content of a configuration file as a tree, whatever it is written in. */
import { parseDocument } from './document.ts'
import { decodeText } from './read-file.ts'
import { parseTomlDocument } from './toml-document.ts'
import type { Report, Value } from './value.ts'

/** The tree, or null and a mistake. Throws CONFIG_INVALID where the bytes are not UTF-8. */
export async function parseFile(bytes: Uint8Array, file: string, report: Report): Promise<Value | null> {
  const text = decodeText(bytes, file)
  return isToml(file) ? parseTomlDocument(text, file, report) : parseDocument(text, file, report)
}

/** True for files that are read as TOML. */
export function isToml(file: string): boolean {
  return /\.toml$/i.test(file)
}
