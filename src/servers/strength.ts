/** Which of two registrations of one server counts. */
import type { Provenance } from './definition.ts'

const SOURCES: readonly Provenance['source'][] = ['discovered', 'selected', 'file', 'host']

/** Negative where `a` is the stronger source, 0 where both are equally strong; sorts the strongest first. */
export function compareStrength(a: Provenance, b: Provenance): number {
  return SOURCES.indexOf(b.source) - SOURCES.indexOf(a.source) || b.rank - a.rank
}
