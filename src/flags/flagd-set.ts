/** One content of a flagd definition file, checked and ready to be evaluated. */
import type { Logger } from '@openfeature/core'
import { flagdExcess } from './flagd-limits.ts'
import { flagdProblem } from './flagd-problem.ts'
import type { FlagdProblem } from './flagd-problem.ts'
import type { FlagValue } from './flag.ts'
import type { EvaluationContext, FlagResolution } from './openfeature.ts'

/** A flag as a file defines it. */
export interface FlagdFlag {
  readonly name: string
  readonly isEnabled: boolean
  readonly variants: ReadonlyMap<string, unknown>
  readonly defaultVariant: string | null
}

/** Flags of one content; never changes. */
export interface FlagdSet {
  readonly flags: readonly FlagdFlag[]
  evaluate(name: string, fallback: FlagValue, context: EvaluationContext): FlagResolution<FlagValue>
}

const silent = (): void => {}
/** The default logger would print to the console of the host. */
const LOGGER: Logger = { error: silent, warn: silent, info: silent, debug: silent }

/** Reads a definition by flagd's own schema; a content with any mistake is a problem as a whole. Loads flagd-core. */
export async function readFlagdSet(text: string): Promise<FlagdSet | FlagdProblem> {
  const { FlagdCore, MemoryStorage } = await import('@openfeature/flagd-core')
  // rules are interpreted: a file must not become code
  const options = { disableDynamicCodeGeneration: true }
  const storage = new MemoryStorage(LOGGER, options)
  try {
    const excess = flagdExcess(JSON.parse(text))
    if (excess !== null) return { problem: excess }
    storage.setConfigurations(text, true)
  } catch (error) {
    return flagdProblem(error, text)
  }
  const core = new FlagdCore(storage, LOGGER, options)
  return {
    flags: [...storage.getFlags().values()].map(({ key, state, variants, defaultVariant }) => ({
      name: key,
      isEnabled: state === 'ENABLED',
      variants,
      defaultVariant: defaultVariant ?? null,
    })),
    evaluate: (name, fallback, context) => core.resolve(typeof fallback as 'boolean', name, fallback, context),
  }
}
