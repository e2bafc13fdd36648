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

/** Characters of lists of names; anything else makes a regular expression. */
const LIST = /^[A-Za-z0-9_|,\s-]*$/
/** Characters of a matcher. */
const LONGEST = 4096
const CLASS = /\[\^?\]?(?:\\.|[^\]\\])*\]/sy
const UNIT = /\\.|\{\d*,\d*\}|./sy
const BY_KEY = 'server:'
/** What no name of a tool looks like: a server without a tool. */
const SERVER_ALONE = /^mcp__(?:(?!__).)*(?:__)?$/

/** The names of a list, however they are parted. */
const namesIn = (text: string): string[] =>
  text
    .split(/[|,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Throws SyntaxError with one line about what is wrong. The regular expressions run in linear time; their engine is loaded for the first one. */
export async function compileMatcher(text: string): Promise<Matcher> {
  if (text.length > LONGEST) throw new SyntaxError(`it must be at most ${LONGEST} characters`)
  const listed = namesIn(text)
  if (text.trim() === '*' || listed.length === 0) return () => true
  if (text.trimStart().startsWith(BY_KEY)) {
    const parts = text.split('|').map((part) => part.trim())
    const other = parts.find((part) => !part.startsWith(BY_KEY) || part === BY_KEY)
    if (other !== undefined) throw new SyntaxError(`every alternative must begin with ${BY_KEY}, ${JSON.stringify(other)} does not`)
    const globs = parts.map((part) => part.slice(BY_KEY.length))
    return ({ keys }) => globs.some((glob) => keys.some((key) => matchesGlob(glob, key)))
  }
  const exact = new Set([text, ...text.split('|').filter((part) => part !== ''), ...listed])
  if (LIST.test(text)) return ({ names }) => names.some((name) => exact.has(name))
  const { RE2JS } = await import('re2js')
  let pattern: InstanceType<typeof RE2JS>
  try {
    pattern = RE2JS.compile(text)
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error), { cause: error })
  }
  // expressions in a list with commas: names hardly have commas in them, so that the whole would fit nothing
  const parts = partsOf(text).map((part) => part.trim())
  const patterns = parts.includes(text) ? [pattern] : [pattern, ...parts.flatMap((part) => tryCompile(RE2JS, part))]
  return ({ names }) => names.some((name) => exact.has(name) || patterns.some((one) => one.matcher(name).find()))
}

/** What is between the commas that part expressions, as those of `[^,]` and `{1,3}` do not. */
function partsOf(text: string): readonly string[] {
  const parts = ['']
  // where one class has no end, none after it has one
  let hasClasses = true
  for (let at = 0; at < text.length; ) {
    const inClass = hasClasses && text[at] === '[' ? unitAt(CLASS, text, at) : ''
    if (inClass === null) hasClasses = false
    const unit = inClass || unitAt(UNIT, text, at) || ''
    if (unit === ',') parts.push('')
    else parts.push(`${parts.pop()}${unit}`)
    at += unit.length
  }
  return parts
}

function unitAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

function tryCompile<T>(engine: { compile(text: string): T }, text: string): T[] {
  try {
    return text === '' ? [] : [engine.compile(text)]
  } catch {
    return []
  }
}

/** A name in a list that can fit no tool because it names a server alone; undefined: there is none. */
export function idleName(text: string): string | undefined {
  return LIST.test(text) ? namesIn(text).find((name) => SERVER_ALONE.test(name)) : undefined
}
