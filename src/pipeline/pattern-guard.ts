/** Regular expressions of a foreign schema: which ones are tried at all, and on how long a text. */

/** What a validator needs of a regular expression. */
export interface GuardedPattern {
  test(text: string): boolean
  toString(): string
}

const LONGEST_PATTERN = 512
/** `(a+){3}` is no danger, `(a+){30}` is one. */
const MANY = 9
/** characters; a longer text is not matched */
const LONGEST_TEXT = 10_000

/** Why a pattern could backtrack without end (one phrase), or null. A heuristic: what it lets through still runs under a time limit. */
export function patternRisk(pattern: string): string | null {
  if (pattern.length > LONGEST_PATTERN) return `is longer than ${LONGEST_PATTERN} characters`
  /** for each open group: does it hold an unbounded repetition? */
  const groups: boolean[] = []
  let repeats = false
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at)
    if (/^\\(?:[1-9]|k<)/.test(rest)) return 'refers back to a group'
    const atom = /^(?:\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|<[^>]*>))?|\)|[^])/.exec(rest)?.[0] ?? rest.charAt(0)
    at += atom.length
    if (atom.startsWith('(')) {
      groups.push(repeats)
      repeats = false
      continue
    }
    const inside = atom === ')' && repeats
    if (atom === ')') repeats = (groups.pop() ?? false) || repeats
    const quantifier = /^(?:[*+]|\{\d+(?:,\d*)?\})/.exec(pattern.slice(at))?.[0]
    if (quantifier === undefined) continue
    at += quantifier.length
    const unbounded = !quantifier.startsWith('{') || quantifier.endsWith(',}')
    if (inside && (unbounded || Number(/(\d+)\}$/.exec(quantifier)?.[1]) > MANY)) return 'repeats a group that repeats itself'
    repeats ||= unbounded
  }
  return null
}

/** Compiles a pattern as the schema means it, without the `u` flag where it is only valid so. `giveUp` answers for what is not tried. Throws SyntaxError. */
export function guardPattern(pattern: string, flags: string, giveUp: () => boolean, note: (line: string) => void): GuardedPattern {
  let expression: RegExp
  try {
    expression = new RegExp(pattern, flags)
  } catch {
    expression = new RegExp(pattern)
  }
  const risk = patternRisk(pattern)
  if (risk !== null) note(`the pattern ${JSON.stringify(pattern.slice(0, 80))} ${risk}; it is not checked`)
  return {
    test: (text) => (risk !== null || text.length > LONGEST_TEXT ? giveUp() : expression.test(text)),
    // The validator tells patterns apart by this text.
    toString: () => `/${pattern}/${flags}`,
  }
}
