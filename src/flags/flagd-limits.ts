/** What a flagd definition may ask for: references that are filled in and loops over lists can make a small file endless work. */
import { isJsonObject } from '../json.ts'

/** Levels of lists and objects within each other, references filled in. */
const DEEPEST = 100
/** Steps that references and loops may add to what is written. */
const MOST_ADDED = 20_000
/** Items of a list that is not written in the file, unless a loop of the file goes over a longer one. */
const UNKNOWN_LENGTH = 100
const READS: ReadonlySet<string> = new Set(['var', 'val'])
/** What gives one of its values, or says something about them that is no longer than they are. */
const SIMPLE: ReadonlySet<string> = new Set(
  'if ?: and or ! !! == === != !== < <= > >= + - * / % min max in starts_with ends_with sem_ver'.split(' '),
)
const LOOPS: ReadonlySet<string> = new Set(['map', 'filter', 'reduce', 'all', 'none', 'some'])

/** Why the definition cannot be used (one phrase), or null. `value` is what was parsed. */
export function flagdExcess(value: unknown): string | null {
  const count = new Count(value)
  try {
    count.written(value, 0)
    const flags = isJsonObject(value) ? value['flags'] : null
    const rules = isJsonObject(flags) ? Object.values(flags).map((flag) => (isJsonObject(flag) ? flag['targeting'] : null)) : []
    count.learn(rules)
    const steps = rules.reduce<number>((sum, rule) => sum + count.steps(rule, 0), 0)
    return steps > count.ofRules(rules) + MOST_ADDED ? `its rules take more than ${MOST_ADDED} steps beside those that are written` : null
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
  readonly #longest = new Map<string, number>()
  readonly #keeping = new Map<object, number>()
  /** items of a list that a variable may stand for */
  #unknown = UNKNOWN_LENGTH

  constructor(value: unknown) {
    const evaluators = isJsonObject(value) ? value['$evaluators'] : null
    this.#evaluators = isJsonObject(evaluators) ? evaluators : {}
  }

  /** Looks for the longest list that a loop goes over: within loops, variables stand for what is in it. */
  learn(rules: readonly unknown[]): void {
    let longest = this.#unknown
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [key, inner] of Object.entries(value)) {
        // the list, and what a reduce begins with
        if (LOOPS.has(key) && Array.isArray(inner)) longest = Math.max(longest, this.#most(inner[0], 0), this.#most(inner[2], 0))
        look(inner)
      }
    }
    look(rules)
    look(this.#evaluators)
    this.#unknown = longest
    this.#longest.clear()
  }

  /** Values that are written in the rules and in the evaluators that they refer to. */
  ofRules(rules: readonly unknown[]): number {
    return [...rules, ...[...this.#known.keys()].map((name) => this.#evaluators[name])].reduce<number>(
      (sum, rule) => sum + this.written(rule, 0),
      0,
    )
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
        if (key === 'reduce' && this.#kept(body[0], level + 1) > 1 && !this.#isSimple(body[0], level + 1))
          throw new Excess('one of its reduces builds something of what it has more than once')
        sum +=
          this.steps(list, level + 1) +
          this.#length(list, level + 1) * body.reduce<number>((all, one) => all + this.steps(one, level + 1), 1)
      } else sum += this.steps(value, level + 1)
    }
    return sum
  }

  /** How often a step of a reduce may use what it got. More than once, it must not build anything of it: what doubles with each of thirty items is more than a machine holds. */
  #kept(rule: unknown, level: number): number {
    if (level > DEEPEST) throw new Excess(`its references lead deeper than ${DEEPEST} levels`)
    if (typeof rule !== 'object' || rule === null) return 0
    const known = this.#keeping.get(rule)
    if (known !== undefined) return known
    // one that refers to itself is told when its steps are counted
    this.#keeping.set(rule, 0)
    let sum = 0
    for (const [key, value] of Object.entries(rule)) {
      if (READS.has(key) && !Array.isArray(rule)) sum += Number(mayBeAccumulator(value))
      sum += this.#kept(key === '$ref' ? this.#referent(value) : value, level + 1)
    }
    this.#keeping.set(rule, sum)
    return sum
  }

  /** True where a rule gives one of the values that it reads, or a number, a text or a truth about them; nothing is joined and no list is made. */
  #isSimple(rule: unknown, level: number): boolean {
    if (level > DEEPEST) return false
    if (typeof rule !== 'object' || rule === null) return true
    if (Array.isArray(rule)) return false
    return Object.entries(rule).every(([key, value]) => {
      if (key === '$ref') return this.#isSimple(this.#referent(value), level + 1)
      const given: readonly unknown[] = Array.isArray(value) ? value : [value]
      return (READS.has(key) || SIMPLE.has(key)) && given.every((one) => this.#isSimple(one, level + 1))
    })
  }

  #referent(name: unknown): unknown {
    return typeof name === 'string' && Object.hasOwn(this.#evaluators, name) ? this.#evaluators[name] : null
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
    if (level > DEEPEST || !isJsonObject(list)) return this.#unknown
    const [[key, value] = ['', null]] = Object.entries(list)
    if (key === '$ref' && typeof value === 'string' && Object.hasOwn(this.#evaluators, value))
      return this.#length(this.#evaluators[value], level + 1)
    if ((key === 'map' || key === 'filter') && Array.isArray(value)) return this.#length(value[0], level + 1)
    return this.#most(list, level)
  }

  /** Items of the longest list that may come of a value, or that is in it. */
  #most(value: unknown, level: number): number {
    if (typeof value !== 'object' || value === null) return 1
    if (level > DEEPEST) return this.#unknown
    if (Array.isArray(value)) return value.reduce<number>((most, one) => Math.max(most, this.#most(one, level + 1)), value.length)
    return Object.entries(value).reduce<number>((most, [key, inner]) => Math.max(most, this.#mostOf(key, inner, level + 1)), this.#unknown)
  }

  #mostOf(key: string, inner: unknown, level: number): number {
    if (key === 'merge' && Array.isArray(inner)) return inner.reduce<number>((sum, one) => sum + this.#most(one, level), 0)
    if (key !== '$ref' || typeof inner !== 'string' || !Object.hasOwn(this.#evaluators, inner)) return this.#most(inner, level)
    const known = this.#longest.get(inner)
    if (known !== undefined) return known
    // one that refers to itself is told when its steps are counted
    this.#longest.set(inner, this.#unknown)
    const most = this.#most(this.#evaluators[inner], level)
    this.#longest.set(inner, most)
    return most
  }
}

/** By its name; `''` and names that are worked out may be anything. */
function mayBeAccumulator(name: unknown): boolean {
  const first: unknown = Array.isArray(name) ? name[0] : name
  return typeof first !== 'string' || first === '' || /^accumulator\b/.test(first)
}
