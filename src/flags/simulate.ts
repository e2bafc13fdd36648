/** How a flag file would split many targeting keys. */
import { setImmediate as turn } from 'node:timers/promises'
import type { FlagValue } from './flag.ts'
import type { FlagdFlag, FlagdSet } from './flagd-set.ts'
import type { EvaluationContext } from './openfeature.ts'

/** How many keys got one variant; `variant` is null for those that would get the default of the code. */
export interface SimulatedShare {
  readonly variant: string | null
  readonly value: unknown
  readonly count: number
  /** 0 to 1 */
  readonly share: number
}

/** One flag of a file over all keys. */
export interface SimulatedFlag {
  readonly name: string
  readonly enabled: boolean
  readonly shares: readonly SimulatedShare[]
  /** messages of rules that failed, each once, ten at most */
  readonly errors: readonly string[]
}

const MOST_ERRORS = 10
/** keys between two turns of the event loop, which Ctrl-C needs */
const AT_ONCE = 5000

/** Evaluates the flag for so many keys, which are the same in every run; in the order of its variants. Rejects with the reason of `signal`. */
export async function simulateFlag(
  set: FlagdSet,
  flag: FlagdFlag,
  keys: number,
  context: EvaluationContext,
  signal?: AbortSignal,
): Promise<SimulatedFlag> {
  const counts = new Map<string | null, number>([...flag.variants.keys()].map((variant) => [variant, 0]))
  const errors = new Set<string>()
  const kind = fallbackFor(flag)
  for (let index = 0; index < keys; index++) {
    if (index % AT_ONCE === 0) {
      await turn()
      signal?.throwIfAborted()
    }
    const { variant, errorMessage } = set.evaluate(flag.name, kind, { ...context, targetingKey: simulatedKey(index) })
    if (errorMessage !== undefined && errors.size < MOST_ERRORS) errors.add(errorMessage)
    const got = errorMessage === undefined ? (variant ?? null) : null
    counts.set(got, (counts.get(got) ?? 0) + 1)
  }
  return {
    name: flag.name,
    enabled: flag.isEnabled,
    shares: [...counts].map(([variant, count]) => ({
      variant,
      value: variant === null ? null : flag.variants.get(variant),
      count,
      share: keys === 0 ? 0 : count / keys,
    })),
    errors: [...errors],
  }
}

/** The nth key of every simulation. */
const simulatedKey = (index: number): string => `simulated-${index}`

/** flagd gives values of the asked type only. */
function fallbackFor({ variants }: FlagdFlag): FlagValue {
  const [first] = variants.values()
  if (typeof first === 'boolean') return false
  return typeof first === 'number' ? 0 : ''
}
