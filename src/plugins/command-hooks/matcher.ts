/** Which calls a matcher means. What it could mean, it means: a guard must not fall silent because a name looks otherwise. */
import { matchesGlob } from '../../hooks/tap-filter.ts'

/** The names of a call that matchers are held against. */
export interface CallNames {
  /** the visible one first, then all others by which a guard may know the tool */
  readonly names: readonly string[]
  /** `NAME@ENV/tool`, `NAME/tool`, `NAME@ENV`, `NAME`; ENV of a server without one is `thread-wide` */
  readonly keys: readonly string[]
}

export type Matcher = (call: CallNames) => boolean

/** Characters of alternatives; anything else makes a regular expression. */
const ALTERNATIVES = /^[A-Za-z0-9_|-]*$/
const BY_KEY = 'server:'

/** Throws SyntaxError with one line about what is wrong. The regular expressions run in linear time; their engine is loaded for the first one. */
export async function compileMatcher(text: string): Promise<Matcher> {
  const parts = text.split('|')
  if (text === '*' || parts.every((part) => part === '')) return () => true
  if (text.startsWith(BY_KEY)) {
    const other = parts.find((part) => !part.startsWith(BY_KEY) || part === BY_KEY)
    if (other !== undefined) throw new SyntaxError(`every alternative must begin with ${BY_KEY}, ${JSON.stringify(other)} does not`)
    const globs = parts.map((part) => part.slice(BY_KEY.length))
    return ({ keys }) => globs.some((glob) => keys.some((key) => matchesGlob(glob, key)))
  }
  const exact = new Set([text, ...parts].filter((part) => part !== ''))
  if (ALTERNATIVES.test(text)) {
    return ({ names }) => names.some((name) => exact.has(name))
  }
  const { RE2JS } = await import('re2js')
  let pattern: InstanceType<typeof RE2JS>
  try {
    pattern = RE2JS.compile(text)
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error), { cause: error })
  }
  return ({ names }) => names.some((name) => exact.has(name) || pattern.matcher(name).find())
}
