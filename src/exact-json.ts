/** Leaf room. Whether JSON survives being parsed and printed: what does not is refused, never rebuilt. */

const LONE_SURROGATE = /\p{Surrogate}/u
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]]/g

/** What the text would lose between JSON.parse and JSON.stringify (one phrase), or null. The text must have been parsed before. */
export function lossInText(text: string): string | null {
  const open: (Set<string> | null)[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[0]
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"')) {
      const value = JSON.parse(token) as string
      if (LONE_SURROGATE.test(value)) return 'half of a surrogate pair'
      if (!isKey(text, TOKEN.lastIndex)) continue
      const keys = open.at(-1)
      if (keys?.has(value)) return `the key ${shown(value)} twice in one object`
      keys?.add(value)
    } else if (!numberSurvives(token)) return `the number ${token.slice(0, 40)}, which JavaScript cannot keep`
  }
  return null
}

/** True where a key is in one object more than once: what was parsed is not all that is in the text. The text must have been parsed before. */
export function repeatsKey(text: string): boolean {
  const open: (Set<string> | null)[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[0]
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"') && isKey(text, TOKEN.lastIndex)) {
      const keys = open.at(-1)
      const key = JSON.parse(token) as string
      if (keys?.has(key)) return true
      keys?.add(key)
    }
  }
  return false
}

/** What the value would lose in JSON text (one phrase), or null. A member that is undefined counts as absent. Throws RangeError where it is nested too deeply. */
export function lossInValue(value: unknown): string | null {
  switch (typeof value) {
    case 'boolean':
      return null
    case 'string':
      return LONE_SURROGATE.test(value) ? 'half of a surrogate pair' : null
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? null : `the number ${Object.is(value, -0) ? '-0' : value}`
    case 'object':
      break
    default:
      return `a ${typeof value}`
  }
  if (value === null) return null
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const loss = lossInValue(value[index])
      if (loss !== null) return loss
    }
    return null
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return 'an object that is no plain object'
  for (const [key, member] of Object.entries(value)) {
    if (LONE_SURROGATE.test(key)) return 'half of a surrogate pair'
    const loss = member === undefined ? null : lossInValue(member)
    if (loss !== null) return loss
  }
  return null
}

function isKey(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text.charAt(at))) at += 1
  return text.charAt(at) === ':'
}

function numberSurvives(token: string): boolean {
  const value = Number(token)
  return Number.isFinite(value) && !Object.is(value, -0) && decimal(token) === decimal(String(value))
}

/** One spelling for each decimal value: sign, digits without zeros at either end, power of ten. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  return short === '' ? '0' : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`
}

const shown = (key: string): string => JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key)
