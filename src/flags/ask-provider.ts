/** Asks an evaluator for many flags at once, for a limited time, and judges its answers. */
import { messageOf } from '../errors.ts'
import { accepts, allowedValues } from './define-flag.ts'
import type { FlagAnswer, FlagEvaluator } from './evaluator.ts'
import type { Flag, FlagValue } from './flag.ts'
import type { EvaluationContext } from './openfeature.ts'
import type { FlagStatement } from './statements.ts'

/** ms that a provider has for all flags of one session together, its own start included. */
const PROVIDER_MS = 100

/** What a provider said, and whether its failure is reported already. */
export interface Said {
  readonly statement: FlagStatement
  readonly reported: boolean
}

/** One statement a flag, within PROVIDER_MS. Never rejects: what fails, does not end or makes no sense is an ERROR with a code of OpenFeature. */
export async function askProvider(
  evaluator: FlagEvaluator,
  questions: ReadonlyMap<Flag, FlagValue>,
  context: EvaluationContext,
  redact: (text: string) => string = String,
): Promise<ReadonlyMap<Flag, Said>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof LATE>((resolve) => (timer = setTimeout(() => resolve(LATE), PROVIDER_MS)))
  try {
    const ready = readyOf(evaluator)
    if (ready !== null && (await Promise.race([ready, late])) === LATE) {
      const said = failed('PROVIDER_NOT_READY', `it was not ready within ${PROVIDER_MS} ms`)
      return new Map([...questions.keys()].map((flag) => [flag, said]))
    }
    const asked = [...questions].map(async ([flag, fallback]): Promise<[Flag, Said]> => {
      try {
        const answer = await Promise.race([evaluator.evaluate(flag, fallback, context), late])
        return [flag, answer === LATE ? failed('GENERAL', `no answer within ${PROVIDER_MS} ms`) : judge(flag, fallback, answer, redact)]
      } catch (error) {
        return [flag, failed(codeOf(error), redact(messageOf(error)))]
      }
    })
    return new Map(await Promise.all(asked))
  } finally {
    clearTimeout(timer)
  }
}

const LATE = Symbol('late')

/** One that cannot say whether it is ready is asked, and then says what is wrong. */
function readyOf(evaluator: FlagEvaluator): Promise<void> | null {
  try {
    return evaluator.ready()
  } catch {
    return null
  }
}

function judge(flag: Flag, fallback: FlagValue, answer: FlagAnswer, redact: (text: string) => string): Said {
  if (typeof answer !== 'object' || answer === null) return failed('GENERAL', 'its answer is no object')
  const { value, variant, reason, errorCode, errorMessage, reported } = answer
  if (errorCode !== undefined || reason === 'ERROR')
    return failed(knownCode(errorCode), typeof errorMessage === 'string' ? redact(errorMessage) : '', reported)
  const statement = {
    source: 'provider' as const,
    ...(typeof variant === 'string' && { variant }),
    reason: typeof reason === 'string' ? reason : 'UNKNOWN',
  }
  // it has nothing of its own to say, and hands back what it was given
  const isEcho = reason === 'DISABLED' || (reason === 'DEFAULT' && variant === undefined && value === fallback)
  if (isEcho) return { statement: Object.freeze(statement), reported: false }
  if (!accepts(flag, value)) return failed('TYPE_MISMATCH', `${shown(value)} is not one of ${allowedValues(flag)}`)
  return { statement: Object.freeze({ ...statement, value: value as FlagValue }), reported: false }
}

function failed(errorCode: string, errorMessage: string, reported = false): Said {
  const said = errorMessage === '' ? {} : { errorMessage }
  return { statement: Object.freeze({ source: 'provider', reason: 'ERROR', errorCode, ...said }), reported }
}

/** The errors of OpenFeature carry their code. */
function codeOf(error: unknown): string {
  return knownCode(typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined)
}

function knownCode(code: unknown): string {
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : 'GENERAL'
}

function shown(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : typeof value
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
