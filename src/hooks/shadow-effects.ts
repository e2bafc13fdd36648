/** What a plugin in shadow may turn out to have wanted. */
import type { ShadowEffect } from './trace.ts'

/** Gravest first. */
export const SHADOW_EFFECTS: readonly ShadowEffect[] = [
  'violated',
  'failed',
  'refused',
  'asked',
  'allowed',
  'answered',
  'repeated',
  'changed_result',
  'rewritten',
  'metadata',
  'context',
]
