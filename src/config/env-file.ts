/** The `envFile` of a server: variables, one a line, as most programs write them. */
import { readFileSync, statSync } from 'node:fs'
import { decodeText } from '../documents/read-file.ts'

/** Bytes. */
const LARGEST = 1024 * 1024
const LINE = /^\s*(?:export\s+)?([^\s=#'"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\r\n]*?))\s*(?:\s#[^\r\n]*)?$/

/** The variables of the file, or what is in the way; lines that are no assignment are skipped. */
export function readEnvFile(file: string): ReadonlyMap<string, string> | string {
  try {
    const found = statSync(file)
    if (!found.isFile()) return `${file} is no file`
    if (found.size > LARGEST) return `${file} has more than ${LARGEST} bytes`
    return parse(decodeText(readFileSync(file), file))
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (code === 'CONFIG_INVALID') return `${file} is not UTF-8 text`
    return code === 'ENOENT' || code === 'ENOTDIR' ? `there is no file ${file}` : `${file} cannot be read (${code ?? 'unknown cause'})`
  }
}

function parse(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, name, double, single, bare] = LINE.exec(line) ?? []
    if (name === undefined || line.includes('\0')) continue
    variables.set(
      name,
      double?.replace(/\\([nrt"\\])/g, (_, one: string) => ({ n: '\n', r: '\r', t: '\t' })[one] ?? one) ?? single ?? bare ?? '',
    )
  }
  return variables
}
