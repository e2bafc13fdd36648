/** What a flagd definition may ask for: references that are filled in and loops over lists can make a small file endless work. */
import { isJsonObject } from '../json.ts'

/** Levels of lists and objects within each other, references filled in. */
const DEEPEST = 100
/** Steps that references and loops may add to what is written. */
const MOST_ADDED = 20_000
/** Items of a list that is not written in the file. */
const UNKNOWN_LENGTH = 100
const LOOPS: ReadonlySet<string> = new Set(['map', 'filter', 'reduce', 'all', 'none', 'some'])

/** Why the definition cannot be used (one phrase), or null. `value` is what was parsed. */
export function flagdExcess(value: unknown): string | null {
  const count = new Count(value)
  try {
    const written = count.written(value, 0)
    const flags = isJsonObject(value) ? value['flags'] : null
    const rules = isJsonObject(flags) ? Object.values(flags).map((flag) => (isJsonObject(flag) ? flag['targeting'] : null)) : []
    const steps = rules.reduce<number>((sum, rule) => sum + count.steps(rule, 0), 0)
    return steps > written + MOST_ADDED ? `its rules take more than ${MOST_ADDED} steps beside those that are written` : null
  } catch (error) {
    if (error instanceof Excess) return error.message
    throw error
  }
}

class Excess extends Error {}

class Count {
  readonly #evaluators: Readonly<Record<string, unknown>>
  /** null: being counted */
  readonly #known = new Map<string, number | null>()

  constructor(value: unknown) {
    const evaluators = isJsonObject(value) ? value['$evaluators'] : null
    this.#evaluators = isJsonObject(evaluators) ? evaluators : {}
  }

  /** Values in the file as it is. */
  written(value: unknown, level: number): number {
    if (level > DEEPEST) throw new Excess(`it is nested deeper than ${DEEPEST} levels`)
    if (typeof value !== 'object' || value === null) return 1
    return Object.values(value).reduce<number>((sum, one) => sum + this.written(one, level + 1), 1)
  }

  /** Values that are looked at when the rule is evaluated, at most. */
  steps(rule: unknown, level: number): number {
    if (level > DEEPEST) throw new Excess(`its references lead deeper than ${DEEPEST} levels`)
    if (typeof rule !== 'object' || rule === null) return 1
    let sum = 1
    for (const [key, value] of Object.entries(rule)) {
      if (key === '$ref' && typeof value === 'string') sum += this.#referred(value, level + 1)
      else if (LOOPS.has(key) && Array.isArray(value)) {
        const [list, ...body] = value as readonly unknown[]
        sum +=
          this.steps(list, level + 1) +
          this.#length(list, level + 1) * body.reduce<number>((all, one) => all + this.steps(one, level + 1), 1)
      } else sum += this.steps(value, level + 1)
    }
    return sum
  }

  #referred(name: string, level: number): number {
    if (!Object.hasOwn(this.#evaluators, name)) return 1
    const known = this.#known.get(name)
    if (known === null) throw new Excess(`its evaluator ${JSON.stringify(name.slice(0, 40))} refers to itself`)
    if (known !== undefined) return known
    this.#known.set(name, null)
    const steps = this.steps(this.#evaluators[name], level)
    this.#known.set(name, steps)
    return steps
  }

  /** Items of what a loop goes over, at most. */
  #length(list: unknown, level: number): number {
    if (Array.isArray(list)) return list.length
    if (level > DEEPEST || !isJsonObject(list)) return UNKNOWN_LENGTH
    const [[key, value] = ['', null]] = Object.entries(list)
    if (key === '$ref' && typeof value === 'string' && Object.hasOwn(this.#evaluators, value))
      return this.#length(this.#evaluators[value], level + 1)
    if ((key === 'map' || key === 'filter') && Array.isArray(value)) return this.#length(value[0], level + 1)
    if (key === 'merge' && Array.isArray(value)) return value.reduce<number>((sum, one) => sum + this.#length(one, level + 1), 0)
    return UNKNOWN_LENGTH
  }
}
