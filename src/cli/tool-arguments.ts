/** ARGS of `call` and `explain`: JSON, `@file`, or `-` for standard input. */
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { TaplineError } from '../errors.ts'
import type { Json } from '../json.ts'
import { openInput, openStdin } from './open-input.ts'

const WRITE_AS = 'Give the arguments as one JSON object in quotes, as @FILE, or as - to read standard input.'

/** The value that ARGS stands for; undefined where there is none. Throws CALL_INVALID_REQUEST with line and column for what is not JSON. */
export async function readToolArguments(
  given: string | undefined,
  from: { readonly cwd: string; readonly stdin: Readable; readonly interrupt: { readonly signal: AbortSignal } },
): Promise<Json | undefined> {
  if (given === undefined) return undefined
  const { signal } = from.interrupt
  if (given === '-') {
    const text = await readAll(openStdin(from.stdin, signal)).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw cause
    })
    return parseToolArguments(text, 'standard input')
  }
  if (!given.startsWith('@')) return parseToolArguments(given, 'ARGS')
  const file = resolve(from.cwd, given.slice(1))
  let content: string
  try {
    content = await readAll(await openInput(file, signal))
  } catch (cause) {
    signal.throwIfAborted()
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'it is not there' : (code ?? message)
    throw new TaplineError('CALL_INVALID_REQUEST', `cannot read the arguments from ${file}: ${why}`, {
      cause,
      remedy: 'Name a file that exists after the @.',
    })
  }
  return parseToolArguments(content, file)
}

/** JSON text as a value. Throws CALL_INVALID_REQUEST with line and column (both from 1) of the mistake. */
export async function parseToolArguments(text: string, where: string): Promise<Json> {
  const json = text.replace(/^\uFEFF/, '')
  try {
    return JSON.parse(json) as Json
  } catch (cause) {
    const { line, column, what } = await findMistake(json)
    const place = `${where}:${line}:${column}`
    throw new TaplineError('CALL_INVALID_REQUEST', `the arguments are not JSON: ${what}`, {
      cause,
      where: place,
      remedy: WRITE_AS,
    })
  }
}

/** JSON.parse of Node 20 does not always say where, so the place comes from a parser that does. */
async function findMistake(json: string): Promise<{ line: number; column: number; what: string }> {
  if (json.trim() === '') return { line: 1, column: 1, what: 'nothing is there' }
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  const errors: { error: number; offset: number; length: number }[] = []
  try {
    parse(json, errors, { disallowComments: true, allowTrailingComma: false })
  } catch {
    // it calls itself for each level
    return { line: 1, column: 1, what: 'it is broken, and nested too deeply to say where' }
  }
  const first = errors[0]
  const offset = first?.offset ?? json.length
  const before = json.slice(0, offset)
  const word =
    first === undefined
      ? 'a mistake'
      : printParseErrorCode(first.error)
          .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
          .toLowerCase()
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n'), what: word }
}
