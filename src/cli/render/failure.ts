/** Errors outside a call, in JSON and as lines for people. */
import { inspect } from 'node:util'
import { isTaplineError } from '../../errors.ts'
import type { TaplineError } from '../../errors.ts'
import type { ServerFailure } from '../../runtime/types.ts'
import type { KeyJson, KeyParts } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { visible, visibleLine, visibleMessage } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'

interface Mistake {
  readonly where: string
  readonly message: string
}
interface ErrorJson {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly remedy: string
    readonly where?: string
    readonly candidates?: readonly unknown[]
    readonly mistakes?: readonly Mistake[]
  }
}
interface FailureJson {
  readonly owner: KeyJson
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** The document of a command that failed. */
export function errorJson(error: TaplineError): ErrorJson {
  const { code, message, remedy, where } = error
  const candidates = candidatesOf(error)
  const mistakes = mistakesOf(error)
  return {
    error: {
      code,
      message,
      remedy,
      ...(where === undefined ? {} : { where }),
      ...(candidates.length === 0 ? {} : { candidates: candidates.map((one) => (typeof one === 'string' ? one : ownerJson(one))) }),
      ...(mistakes.length === 0 ? {} : { mistakes }),
    },
  }
}

/** `error: message`, the candidates and mistakes where there are any, and what to do. */
export function errorText(error: TaplineError, paint: Paint): string {
  const { code, message, remedy, where } = error
  const place = where === undefined || message.includes(where) ? '' : `${visibleLine(where)}: `
  const mistakes = mistakesOf(error)
  // with several mistakes the message is their list, which follows line by line
  const what = mistakes.length > 1 ? `the configuration has ${mistakes.length} mistakes` : `${place}${visibleMessage(message)}`
  const lines = [`${paint.red('error')}: ${what} ${paint.dim(`(${code})`)}`]
  if (mistakes.length > 1) for (const mistake of mistakes) lines.push(`  ${visibleLine(mistake.where)}: ${visibleLine(mistake.message)}`)
  for (const candidate of candidatesOf(error))
    lines.push(`  - ${typeof candidate === 'string' ? visibleLine(candidate) : ownerText(candidate)}`)
  if (remedy !== '') lines.push(visibleMessage(remedy))
  return lines.join('\n')
}

/** `data.candidates` of the error, as far as it can be shown. */
function candidatesOf(error: TaplineError): readonly (string | KeyParts)[] {
  const candidates = error.data?.['candidates']
  return Array.isArray(candidates) ? candidates.filter((one): one is string | KeyParts => typeof one === 'string' || isKey(one)) : []
}
const isKey = (value: unknown): value is KeyParts =>
  typeof value === 'object' && value !== null && typeof (value as Partial<KeyParts>).name === 'string'

/** `data.mistakes` of CONFIG_INVALID: every mistake with its place. */
export function mistakesOf(error: TaplineError): readonly Mistake[] {
  const mistakes = error.data?.['mistakes']
  return Array.isArray(mistakes) ? mistakes.map(({ where, message }: Mistake) => ({ where, message })) : []
}

/** Stack and causes, for TAPLINE_DEBUG. */
export function debugText(error: unknown): string {
  const lines: string[] = []
  let at: unknown = error
  for (let depth = 0; depth < 8 && at !== undefined; depth++) {
    const head = depth === 0 ? '' : 'caused by: '
    if (!(at instanceof Error)) return visible([...lines, head + inspect(at)].join('\n'))
    lines.push(head + (at.stack ?? String(at)))
    at = at.cause
  }
  return visible(lines.join('\n'))
}

/** An entry of `errors`. */
export function failureJson({ owner, error }: ServerFailure): FailureJson {
  const { code, message, remedy } = error
  return { owner: ownerJson(owner), code, message, remedy }
}

/** One server that failed, as one line, and what to do. */
export function failureText({ owner, error }: ServerFailure, paint: Paint): string {
  const remedy = isTaplineError(error) && error.remedy !== '' ? `\n  ${paint.dim(visibleLine(error.remedy))}` : ''
  return `${paint.red('failed')} ${ownerText(owner)}: ${visibleMessage(error.message)} ${paint.dim(`(${error.code})`)}${remedy}`
}
