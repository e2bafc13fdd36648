/** What the sources say of every flag, and which of them counts. */
import { TaplineError } from '../errors.ts'
import { accepts, allowedValues } from './define-flag.ts'
import type { Flag, FlagDetails, FlagValue } from './flag.ts'
import { FLAG_VARIABLE_PREFIX } from './registry.ts'
import type { FlagRegistry } from './registry.ts'

/** Where fixed values come from, strongest first. The place of a provider is between the variables and the configuration. */
export interface FlagSources {
  /** of code and of the command line; for these a text is read as that of a variable is */
  readonly override?: Readonly<Record<string, FlagValue>>
  /** `process.env`: `TAPLINE_FLAG_<NAME>` with on, off, true, false, 1, 0 or a variant */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** strongest file last */
  readonly features?: readonly { readonly name: string; readonly value: FlagValue; readonly where: string }[]
}

/** What one source says of one flag. */
export interface FlagStatement {
  readonly source: FlagDetails['source']
  /** left out where the source gives no value that counts */
  readonly value?: FlagValue
  readonly variant?: string
  readonly reason: string
  readonly errorCode?: string
  readonly errorMessage?: string
  /** `file:line:column`, or the name of a variable */
  readonly where?: string
}

/** Flag → what is said of it, strongest source first; the last is its default. */
export type Statements = ReadonlyMap<Flag, readonly FlagStatement[]>

/** What the fixed sources say. Throws FLAG_UNKNOWN and FLAG_BAD_VALUE, naming the place and what would be right; a mistake in a source that is too weak to count is told too. */
export function fixedStatements(registry: FlagRegistry, sources: FlagSources = {}): Statements {
  const found = new Map<Flag, FlagStatement[]>([...registry].map((flag) => [flag, [statement(flag, 'default', flag.default, 'DEFAULT')]]))
  const put = (flag: Flag, source: FlagDetails['source'], value: FlagValue, where?: string): void =>
    void found.get(flag)?.unshift(statement(flag, source, value, 'STATIC', where))
  for (const { name, value, where } of sources.features ?? []) {
    const flag = registry.get(name, where)
    if (!accepts(flag, value)) throw badValue(flag, value, where)
    put(flag, 'configuration', value, where)
  }
  for (const [variable, text] of Object.entries(sources.variables ?? {})) {
    if (text === undefined || !variable.startsWith(FLAG_VARIABLE_PREFIX)) continue
    const flag = registry.ofVariable(variable)
    put(flag, 'environment_variable', read(flag, text, `the environment variable ${variable}`), variable)
  }
  for (const [name, value] of Object.entries(sources.override ?? {})) {
    const flag = registry.get(name)
    put(flag, 'override', read(flag, value, 'the override'))
  }
  return found
}

const STRONGER_THAN_PROVIDER: ReadonlySet<string> = new Set(['override', 'environment_variable'])

/** True where no provider can change the value. */
export function isSettled(statements: readonly FlagStatement[]): boolean {
  return STRONGER_THAN_PROVIDER.has(statements[0]?.source ?? '')
}

/** The statements with that of the provider in its place. */
export function withProvider(statements: readonly FlagStatement[], said: FlagStatement): readonly FlagStatement[] {
  const stronger = statements.filter(({ source }) => STRONGER_THAN_PROVIDER.has(source))
  return [...stronger, said, ...statements.slice(stronger.length)]
}

/** The statement that counts. */
export function winnerOf(statements: readonly FlagStatement[]): FlagStatement & { readonly value: FlagValue } {
  return statements.find(({ value }) => value !== undefined) as FlagStatement & { readonly value: FlagValue }
}

/** The details of a flag: the value that counts, and the error of a provider that would have been stronger. */
export function detailsOf(flag: Flag, statements: readonly FlagStatement[]): FlagDetails {
  const winner = winnerOf(statements)
  const failed = statements.slice(0, statements.indexOf(winner)).find(isFailure)
  const { value, variant, source, reason } = winner
  return Object.freeze({
    flagKey: flag.name,
    value,
    ...(variant !== undefined && { variant }),
    reason: failed ? 'ERROR' : reason,
    ...(failed?.errorCode !== undefined && { errorCode: failed.errorCode }),
    ...(failed?.errorMessage !== undefined && { errorMessage: failed.errorMessage }),
    source,
  })
}

/** True where a provider should have had an answer; that it does not know a flag is none of its mistakes. */
export function isFailure({ errorCode }: FlagStatement): boolean {
  return errorCode !== undefined && errorCode !== 'FLAG_NOT_FOUND'
}

function statement(flag: Flag, source: FlagDetails['source'], value: FlagValue, reason: string, where?: string): FlagStatement {
  return Object.freeze({
    source,
    value,
    ...(flag.variants && { variant: String(value) }),
    reason,
    ...(where !== undefined && { where }),
  })
}

const SWITCH_TEXT: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['on', true],
  ['off', false],
  ['1', true],
  ['0', false],
])

function read(flag: Flag, value: FlagValue, where: string): FlagValue {
  if (accepts(flag, value)) return value
  if (typeof value === 'string') {
    if (typeof flag.default === 'boolean') {
      const on = SWITCH_TEXT.get(value.toLowerCase())
      if (on !== undefined) return on
    } else if (typeof flag.default === 'number' && value.trim() !== '' && accepts(flag, Number(value))) {
      return Number(value)
    }
  }
  // here a text is read too, where a file has true or false
  const taken = typeof flag.default === 'boolean' ? [...SWITCH_TEXT.keys()].join(', ') : allowedValues(flag)
  throw badValue(flag, value, where, taken)
}

function badValue(flag: Flag, value: unknown, where: string, taken = allowedValues(flag)): TaplineError {
  const message = `the flag "${flag.name}" cannot be ${JSON.stringify(value)} (${where}): it is one of ${taken}`
  return new TaplineError('FLAG_BAD_VALUE', message, { where, data: { name: flag.name } })
}
