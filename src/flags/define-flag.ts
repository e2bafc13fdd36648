/** Declares a flag. */
import { TaplineError } from '../errors.ts'
import type { Flag, FlagValue } from './flag.ts'

interface Declared<V extends FlagValue> {
  /** 1 to 128 of `[A-Za-z0-9_.-]`, starting with a letter */
  readonly name: string
  readonly default: V
  readonly description: string
  /** default: `experimental` */
  readonly stage?: Flag['stage']
}

/** What a flag can be called. */
export const FLAG_NAME: RegExp = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/

/** A switch. Throws FLAG_BAD_VALUE for a bad name or default. */
export function defineFlag(flag: Declared<boolean>): Flag<boolean>
/** A flag with named variants. Throws FLAG_BAD_VALUE where the default is none of them. */
export function defineFlag<const V extends string>(flag: Declared<NoInfer<V>> & { readonly variants: readonly V[] }): Flag<V>
export function defineFlag(flag: Declared<FlagValue> & { readonly variants?: readonly string[] }): Flag {
  const { name, description, stage = 'experimental', variants } = flag
  const defined: Flag = { name, default: flag.default, description, stage, ...(variants && { variants: Object.freeze([...variants]) }) }
  checkFlag(defined)
  return Object.freeze(defined)
}

/** Throws FLAG_BAD_VALUE for a flag that cannot be evaluated: a bad name, no variants, a default that is no value of it. */
export function checkFlag(flag: Flag): void {
  const { name, variants } = flag
  if (typeof name !== 'string' || !FLAG_NAME.test(name)) {
    throw new TaplineError('FLAG_BAD_VALUE', `${JSON.stringify(name)} cannot be the name of a flag`, {
      remedy: 'Name the flag with letters, digits, "_", "-" and ".", a letter first, at most 128 characters.',
    })
  }
  if (!accepts(flag, flag.default)) {
    throw new TaplineError(
      'FLAG_BAD_VALUE',
      `the default of the flag "${name}" is ${JSON.stringify(flag.default)}, which is not one of ${allowedValues(flag)}`,
      {
        remedy: variants ? 'Make the default one of the variants.' : 'Give the flag true or false as its default, or variants.',
      },
    )
  }
}

/** True where the value is one that the flag can have. */
export function accepts(flag: Flag, value: unknown): boolean {
  if (flag.variants) return flag.variants.includes(value as FlagValue)
  if (typeof value === 'number' && !Number.isFinite(value)) return false
  return (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number') && typeof value === typeof flag.default
}

/** The values of a flag, as messages show them. */
export function allowedValues(flag: Flag): string {
  if (flag.variants) return flag.variants.map((variant) => JSON.stringify(variant)).join(', ')
  return typeof flag.default === 'boolean' ? 'true, false' : `any ${typeof flag.default}`
}
