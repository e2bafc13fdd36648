/** Sends again what failed and may be sent again. */
import { setTimeout as after } from 'node:timers/promises'
import { isTaplineError } from '../../errors.ts'
import type { CallView } from '../../hooks/call-view.ts'
import { definePlugin } from '../../hooks/define-plugin.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { type CallRule, type CallTest, readCallRules } from './call-rules.ts'
import { type OptionReader, optionSchema } from './option-reader.ts'
import { isFailedStart, passing } from './transient-errors.ts'

/** Options of `retry`. */
export interface RetryOptions {
  /** how often a call is sent at most, the first time included: 2 to 10, default 3 */
  readonly attempts?: number
  /** ms before the second attempt, twice as much before each later one: 0 to 60,000, default 200 */
  readonly delayMs?: number
  /** longest wait between two attempts in ms, except after a start that failed, where it is 2 s, 4 s, 8 s … at least: 0 to 600,000, default 5000 */
  readonly maxDelayMs?: number
  /** no attempt begins later than this many ms after the first: 1 to 3,000,000, default 30,000 */
  readonly totalMs?: number
  /** true: each wait is a random part of what it would be, so that many callers do not come back at once; default true */
  readonly jitter?: boolean
  /** calls that are safe to send twice by what you know of them, whatever their annotations say */
  readonly safe?: readonly (string | CallRule)[]
  /** from 0 to 1, for the jitter; default `Math.random` */
  readonly random?: () => number
}

interface Plan {
  readonly attempts: number
  readonly delayMs: number
  readonly maxDelayMs: number
  readonly totalMs: number
  readonly jitter: boolean
  readonly safe: CallTest | null
  readonly random: () => number
}

const KEYS = ['attempts', 'delayMs', 'maxDelayMs', 'totalMs', 'jitter', 'safe', 'random'] as const
/** What a tap may take beside its waits, in ms. */
const SLACK_MS = 5000
/** ms in which a connection does not try a start again that has failed; twice as much after the next one. */
const START_BACK_OFF_MS = 2000

const readPlan = (options: OptionReader): Plan => ({
  attempts: options.whole('attempts', 3, { least: 2, most: 10 }),
  delayMs: options.number('delayMs', 200, { least: 0, most: 60_000 }),
  maxDelayMs: options.number('maxDelayMs', 5000, { least: 0, most: 600_000 }),
  totalMs: options.number('totalMs', 30_000, { least: 1, most: 3_000_000 }),
  jitter: options.truth('jitter', true),
  safe: readCallRules(options, 'safe'),
  random: (options.function('random') as (() => number) | null) ?? Math.random,
})

/** Repeats calls that failed for a passing reason, with growing waits: those that reached nobody, and of the others those that are safe to send twice. A mistake in the options is HOOK_BAD_PLUGIN. */
export const retry: (options?: RetryOptions) => HookPlugin = definePlugin({
  name: 'retry',
  options: optionSchema<RetryOptions, Plan>(KEYS, readPlan),
  apply({ hooks }, plan) {
    // waits are the tap's own time
    const timeoutMs = plan.totalMs + SLACK_MS
    hooks.dispatch.tapPromise({ name: 'again', methods: ALL_METHODS, timeoutMs, onFailure: 'continue' }, async (call, next, context) => {
      const began = performance.now()
      for (let attempt = 1; ; attempt++) {
        try {
          return await next()
        } catch (error) {
          const waitMs = Math.max(waitAfter(plan, attempt), isFailedStart(error) ? START_BACK_OFF_MS * 2 ** (attempt - 1) : 0)
          const isLate = performance.now() - began + waitMs > plan.totalMs
          if (attempt >= plan.attempts || isLate || context.signal.aborted || !mayRepeat(plan, call, error)) throw error
          context.log(
            `${String(call.owner)}: attempt ${attempt + 1} of ${plan.attempts} in ${Math.round(waitMs)} ms, after ${codeOf(error)}`,
          )
          // what next() threw is how the call ends, also where it is cancelled meanwhile
          await after(waitMs, undefined, { signal: context.signal }).catch(() => {
            throw error
          })
        }
      }
    })
  },
})

/** ms to wait after so many attempts. */
function waitAfter({ delayMs, maxDelayMs, jitter, random }: Plan, attempts: number): number {
  const whole = Math.min(maxDelayMs, delayMs * 2 ** (attempts - 1))
  const part = jitter ? random() : 1
  return whole * (part >= 0 && part <= 1 ? part : 1)
}

/** As the dispatch itself decides it after a lost session: only what does no harm when it comes twice. */
function mayRepeat({ safe }: Plan, call: CallView, error: unknown): boolean {
  const sent = passing(error)
  if (sent === null) return false
  if (sent === 'no' || safe?.(call) === true || call.method !== 'tools/call') return true
  const { readOnlyHint, idempotentHint } = call.annotations
  return call.annotationsTrusted && (readOnlyHint === true || idempotentHint === true)
}

const codeOf = (error: unknown): string => (isTaplineError(error) ? error.code : 'an error')
