/** The order of the taps of one hook. */
import { TaplineError } from '../errors.ts'
import type { TapSpec } from './tap-spec.ts'

interface Ordered {
  readonly spec: TapSpec
}

/** HOOK_BAD_TAP about the place of one tap. */
export class BadOrder extends TaplineError {
  readonly #involved: readonly Ordered[]

  constructor(involved: readonly [Ordered, ...Ordered[]], problem: string) {
    const { hook, name, plugin } = involved[0].spec
    super('HOOK_BAD_TAP', `plugin "${plugin}": tap "${name}" on ${hook} ${problem}`, { hook, tap: name, plugin })
    this.#involved = involved
  }

  /** the taps without one of which it would be no problem: the one that is meant, and those of its circle */
  get involved(): readonly Ordered[] {
    return this.#involved
  }
}

/**
 * By stage, then by registration; a tap that others name in `before` has them in front of it, wherever their stage would put them.
 * Throws BadOrder for a circle and for a name that no tap has, unless `mayBeUnknown` says that there is a reason for that.
 */
export function inOrder<T extends Ordered>(taps: readonly T[], mayBeUnknown: (tap: T, name: string) => boolean): readonly T[] {
  const byStage = taps.toSorted((a, b) => a.spec.stage - b.spec.stage)
  const inFront = new Map<T, T[]>(byStage.map((tap) => [tap, []]))
  for (const tap of byStage) {
    for (const name of new Set(tap.spec.before)) {
      const named = byStage.filter((other) => other !== tap && isNamed(other, name))
      if (named.length === 0 && !mayBeUnknown(tap, name))
        throw new BadOrder([tap], `names "${name}" in before, and no plugin has such a tap on this hook`)
      for (const other of named) inFront.get(other)!.push(tap)
    }
  }
  const result = new Set<T>()
  const open = new Set<T>()
  const place = (tap: T): void => {
    if (result.has(tap)) return
    if (open.has(tap)) {
      const path = [...open]
      const circle = path.slice(path.indexOf(tap) + 1).filter((one) => !result.has(one))
      throw new BadOrder([tap, ...circle], 'is part of a circle of before')
    }
    open.add(tap)
    for (const other of inFront.get(tap)!) place(other)
    result.add(tap)
  }
  for (const tap of byStage) place(tap)
  return [...result]
}

/** True where a `before` with this name means the tap. */
export const isNamed = ({ spec }: Ordered, name: string): boolean => spec.name === name || `${spec.plugin}/${spec.name}` === name
