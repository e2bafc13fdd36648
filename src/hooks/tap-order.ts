/** The order of the taps of one hook. */
import { TaplineError } from '../errors.ts'
import type { TapSpec } from './tap-spec.ts'

interface Ordered {
  readonly spec: TapSpec
}

/** HOOK_BAD_TAP about the place of one tap. */
export class BadOrder extends TaplineError {
  readonly #at: Ordered

  constructor(at: Ordered, problem: string) {
    const { hook, name, plugin } = at.spec
    super('HOOK_BAD_TAP', `plugin "${plugin}": tap "${name}" on ${hook} ${problem}`, { hook, tap: name, plugin })
    this.#at = at
  }

  /** the tap that is meant */
  get at(): Ordered {
    return this.#at
  }
}

/**
 * By stage, then by registration; a tap that others name in `before` has them in front of it, wherever their stage would put them.
 * Throws BadOrder for a circle and, without `onUnknown`, for a name that no tap has.
 */
export function inOrder<T extends Ordered>(taps: readonly T[], onUnknown: ((tap: T, name: string) => void) | null): readonly T[] {
  const byStage = taps.toSorted((a, b) => a.spec.stage - b.spec.stage)
  const inFront = new Map<T, T[]>(byStage.map((tap) => [tap, []]))
  for (const tap of byStage) {
    for (const name of new Set(tap.spec.before)) {
      const named = byStage.filter(
        (other) => other !== tap && (other.spec.name === name || `${other.spec.plugin}/${other.spec.name}` === name),
      )
      if (named.length === 0) {
        if (onUnknown === null) throw new BadOrder(tap, `names "${name}" in before, and no plugin has such a tap on this hook`)
        onUnknown(tap, name)
      }
      for (const other of named) inFront.get(other)!.push(tap)
    }
  }
  const result = new Set<T>()
  const open = new Set<T>()
  const place = (tap: T): void => {
    if (result.has(tap)) return
    if (open.has(tap)) throw new BadOrder(tap, 'is part of a circle of before')
    open.add(tap)
    for (const other of inFront.get(tap)!) place(other)
    result.add(tap)
  }
  for (const tap of byStage) place(tap)
  return [...result]
}
