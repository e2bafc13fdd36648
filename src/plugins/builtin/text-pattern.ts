/** What is looked for in texts. */
import { createRequire } from 'node:module'
import { messageOf } from '../../errors.ts'

/** A match: from this index up to that one. */
export type Range = readonly [start: number, end: number]
/** Every match in a text that is not empty, in order. */
export type TextPattern = (text: string) => readonly Range[]

/** A pattern of the host's, which runs on the engine of JavaScript: how long that takes is up to the pattern. */
export function hostPattern(pattern: RegExp): TextPattern {
  // a copy: the host's own keeps its place in `lastIndex`, and one that is sticky finds only the start
  const all = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
  return (text) => {
    const ranges: Range[] = []
    for (const { 0: match, index } of text.matchAll(all)) if (match !== '') ranges.push([index, index + match.length])
    return ranges
  }
}

/** A pattern that came as text, which runs on RE2: linear in the text, whatever it is. Throws Error with one line for what RE2 does not take. */
export function linearPattern(source: string): TextPattern {
  // loaded where such a pattern is there, and at once: a mistake in it is one of the options
  const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js')
  let compiled: ReturnType<typeof RE2JS.compile>
  try {
    compiled = RE2JS.compile(source)
  } catch (error) {
    throw new Error(messageOf(error).split('\n', 1)[0], { cause: error })
  }
  return (text) => {
    const matcher = compiled.matcher(text)
    const ranges: Range[] = []
    while (matcher.find()) if (matcher.start() < matcher.end()) ranges.push([matcher.start(), matcher.end()])
    return ranges
  }
}

/** Exactly these texts, also in the form that JSON and URLs give them. Null where there are none. */
export function literalPattern(values: ReadonlySet<string>): TextPattern | null {
  if (values.size === 0) return null
  const longestFirst = [...new Set([...values].flatMap(forms))].sort((a, b) => b.length - a.length)
  return hostPattern(new RegExp(longestFirst.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|')))
}

function forms(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1)
  try {
    return [value, escaped, encodeURIComponent(value)]
  } catch {
    // half a surrogate pair has no form in a URL
    return [value, escaped]
  }
}

/** The text with all matches replaced. Matches that overlap are one: a part of one that another has cut would stay to be read. */
export function replaceMatches(text: string, patterns: readonly TextPattern[], instead: (match: string) => string): string {
  const ranges = patterns.flatMap((pattern) => pattern(text)).sort(([a], [b]) => a - b)
  let result = ''
  let at = 0
  for (let index = 0; index < ranges.length; index++) {
    const [start, first] = ranges[index]!
    let end = first
    while (index + 1 < ranges.length && ranges[index + 1]![0] < end) end = Math.max(end, ranges[++index]![1])
    result += text.slice(at, start) + instead(text.slice(start, end))
    at = end
  }
  return at === 0 ? text : result + text.slice(at)
}
