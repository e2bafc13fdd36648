/** Whether a tap wants to see a call: by method, environment, server and raw tool, never by the visible name. */
import type { Method } from '../mcp.ts'
import type { TapFilter } from './plugin.ts'
import type { SealedCall } from './sealed-call.ts'

/** A compiled filter; null: everything. */
export type CallFilter = ((call: SealedCall) => boolean) | null

/** Compiles methods and filters of a tap and of its plugin's entry; all of them must agree. */
export function compileFilter(methods: readonly Method[] | null, ...filters: readonly TapFilter[]): CallFilter {
  const tests: ((call: SealedCall) => boolean)[] = []
  if (methods !== null) {
    const [only] = methods
    tests.push(methods.length === 1 ? (call) => call.method === only : (call) => methods.includes(call.method))
  }
  for (const filter of filters) {
    // own fields: something on Object.prototype must not silence a guard
    const { environments, servers, tools }: TapFilter = { __proto__: null, ...filter } as TapFilter
    if (environments !== undefined) tests.push((call) => environments.includes(call.owner.environmentId))
    if (servers !== undefined) tests.push(matcher(servers, (call) => call.owner.name))
    // a filter by tool does not speak of what has no tool
    if (tools !== undefined) tests.push(matcher(tools, (call) => (call.method === 'tools/call' ? call.target : null)))
  }
  if (tests.length === 0) return null
  const [first, ...others] = tests as [(call: SealedCall) => boolean]
  return others.length === 0 ? first : (call) => tests.every((test) => test(call))
}

function matcher(patterns: readonly string[], read: (call: SealedCall) => string | null): (call: SealedCall) => boolean {
  const exact = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)))
  const globs = patterns.filter((pattern) => /[*?]/.test(pattern))
  return (call) => {
    const text = read(call)
    return text !== null && (exact.has(text) || globs.some((glob) => matchesGlob(glob, text)))
  }
}

/** `*` is any run of characters, `?` any one; linear in the text, so that no pattern can hang. */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0
  let inGlob = 0
  let star = -1
  let mark = 0
  while (at < text.length) {
    if (inGlob < glob.length && (glob[inGlob] === '?' || (glob[inGlob] !== '*' && glob[inGlob] === text[at]))) {
      at++
      inGlob++
    } else if (glob[inGlob] === '*') {
      star = inGlob++
      mark = at
    } else if (star >= 0) {
      inGlob = star + 1
      at = ++mark
    } else return false
  }
  while (glob[inGlob] === '*') inGlob++
  return inGlob === glob.length
}
