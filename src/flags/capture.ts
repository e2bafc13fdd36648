/** Evaluates every flag from the fixed sources: those that need not be waited for. */
import { Captured } from './captured.ts'
import type { CapturedFlags } from './flag.ts'
import type { FlagRegistry } from './registry.ts'
import { fixedStatements } from './statements.ts'
import type { FlagSources } from './statements.ts'

/** The values of all flags without a provider, frozen. Throws FLAG_UNKNOWN and FLAG_BAD_VALUE, naming the place and what would be right. */
export function captureFlags(registry: FlagRegistry, sources: FlagSources = {}): CapturedFlags {
  return new Captured(fixedStatements(registry, sources))
}
