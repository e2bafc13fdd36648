/** Options of a host, checked where no compiler did: a mistyped one is never dropped without a word. */
import type { LogLevel } from '../connections/lessees.ts'
import { LOG_LEVELS } from '../connections/lessees.ts'
import { LONGEST_DELAY } from '../connections/pending-request.ts'
import { TaplineError } from '../errors.ts'
import { isOpenFeatureClient, isOpenFeatureProvider } from '../flags/openfeature.ts'
import { TRACE_KEYS, traceProblem } from './trace-option.ts'
import { unknownKey } from './unknown-key.ts'

/** Every option of a session. */
export const SESSION_KEYS = [
  'id',
  'environments',
  'approver',
  'onElicitation',
  'onSampling',
  'onRoots',
  'declares',
  'logLevel',
  'approvalTimeoutMs',
  'reviewTimeoutMs',
  'evaluationContext',
  'trace',
  'signal',
] as const
const RUNTIME_KEYS = [
  'config',
  'environments',
  'selectedEnvironments',
  'mcpServers',
  'plugins',
  'features',
  'naming',
  'resourceTools',
  'hooks',
  'flags',
  'executors',
  'store',
  'idleCloseMs',
  'trace',
  'logger',
  'onInput',
] as const
const FLAG_KEYS = ['define', 'override', 'provider', 'flagd', 'evaluationContext'] as const

const isSessionEnvironment = (one: unknown): boolean =>
  typeof one === 'string' || (typeof one === 'object' && one !== null && typeof (one as { id?: unknown }).id === 'string')

/** Throws CALL_INVALID_REQUEST. */
export function checkSessionOptions(options: object): void {
  const given = options as Readonly<Record<string, unknown>>
  const { id, environments, declares, logLevel, approvalTimeoutMs, reviewTimeoutMs, signal } = given
  refuse(unknownKey('the options of a session', options, SESSION_KEYS))
  if (id !== undefined && (typeof id !== 'string' || id === '')) refuse('id of a session must be text')
  if (environments !== undefined && !(Array.isArray(environments) && environments.every(isSessionEnvironment)))
    refuse('environments of a session must be a list of ids, or of objects with an id')
  for (const name of ['approver', 'onElicitation', 'onSampling', 'onRoots'])
    if (given[name] !== undefined && typeof given[name] !== 'function') refuse(`${name} must be a function`)
  if (declares !== undefined && typeof declares !== 'object') refuse('declares must be an object with elicitation or sampling')
  if (logLevel !== undefined && !LOG_LEVELS.includes(logLevel as LogLevel)) refuse(`logLevel must be one of ${LOG_LEVELS.join(', ')}`)
  for (const [name, ms] of Object.entries({ approvalTimeoutMs, reviewTimeoutMs }))
    if (ms !== undefined && !(typeof ms === 'number' && ms > 0)) refuse(`${name} must be a number of ms above 0`)
  checkTrace(given['trace'])
  checkContext('evaluationContext', given['evaluationContext'])
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== 'function')
    refuse('signal must be an AbortSignal')
}

/** Options of openRuntime; with `isSession` those of openSession, which has both. Throws CALL_INVALID_REQUEST. */
export function checkRuntimeOptions(options: object, isSession: boolean): void {
  const { flags, hooks, onInput, trace } = options as Readonly<Record<string, unknown>>
  refuse(
    unknownKey(
      `the options of ${isSession ? 'openSession' : 'openRuntime'}`,
      options,
      isSession ? [...new Set([...RUNTIME_KEYS, ...SESSION_KEYS])] : RUNTIME_KEYS,
    ),
  )
  if (hooks !== undefined && !Array.isArray(hooks)) refuse('hooks must be a list')
  if (onInput !== undefined && typeof onInput !== 'function') refuse('onInput must be a function')
  checkTrace(trace)
  if (flags === undefined) return
  if (typeof flags !== 'object' || flags === null)
    refuse('flags must be an object with define, override, provider, flagd or evaluationContext')
  refuse(unknownKey('flags', flags as object, FLAG_KEYS))
  const { define, override, provider, flagd, evaluationContext } = flags as Readonly<Record<string, unknown>>
  if (define !== undefined && !Array.isArray(define)) refuse('flags.define must be a list of flags')
  if (override !== undefined && (typeof override !== 'object' || override === null)) refuse('flags.override must be an object')
  if (provider !== undefined && !isOpenFeatureProvider(provider) && !isOpenFeatureClient(provider))
    refuse('flags.provider must be an OpenFeature provider for servers, or a client')
  if (flagd !== undefined && (typeof flagd !== 'string' || flagd === '')) refuse('flags.flagd must be the path of a flagd definition file')
  if (provider !== undefined && flagd !== undefined) refuse('flags has provider and flagd: give one of the two')
  checkContext('flags.evaluationContext', evaluationContext)
}

function checkContext(name: string, context: unknown): void {
  if (context === undefined) return
  if (typeof context !== 'object' || context === null || Array.isArray(context)) refuse(`${name} must be an object of attributes`)
  const { targetingKey } = context as { readonly targetingKey?: unknown }
  if (targetingKey !== undefined && typeof targetingKey !== 'string') refuse(`${name}.targetingKey must be text`)
}

function checkTrace(option: unknown): void {
  refuse(traceProblem(option))
  if (typeof option === 'object' && option !== null) refuse(unknownKey('trace', option, TRACE_KEYS))
}

function refuse(problem: string | null): void {
  if (problem !== null)
    throw new TaplineError('CALL_INVALID_REQUEST', problem, { remedy: 'Correct the options; docs/reference/library.md lists them.' })
}

/** ms that a person and a reviewer have to answer, where the host says nothing else. */
const APPROVAL_MS = 600_000
const REVIEW_MS = 60_000

/** The limits as a timer takes them. Throw CALL_INVALID_REQUEST. */
export const approvalLimit = (ms: number = APPROVAL_MS): number => limitOf('approvalTimeoutMs', ms)
export const reviewLimit = (ms: number = REVIEW_MS): number => limitOf('reviewTimeoutMs', ms)

function limitOf(name: string, ms: number): number {
  if (!(ms >= 1)) refuse(`${name} must be 1 ms or more`)
  return Math.min(ms, LONGEST_DELAY)
}
