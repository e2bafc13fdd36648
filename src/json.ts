/** Leaf room: JSON values, their canonical form and digest, snapshots and freezing. */
import { createHash } from 'node:crypto'

// taken at load: a plugin that patches them later changes nothing here
const { stringify, parse } = JSON
const { defineProperty, freeze, getPrototypeOf, hasOwn, is, isFrozen } = Object
const { isFinite } = Number
const { isArray } = Array
const PLAIN = Object.prototype

/** A JSON value; deeply read-only, because what crosses the pipeline is frozen on first read. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A deep copy by way of JSON text. Throws TypeError for what JSON cannot carry at the top (undefined, a function), for cycles and for BigInt. */
export function snapshot(value: unknown): Json {
  const flat = typeof value === 'object' && value !== null ? flatCopy(value) : null
  if (flat !== null) return flat
  const text = stringify(value)
  if (text === undefined) throw new TypeError('the value is not JSON')
  return parse(text) as Json
}

/** The copy of a plain object whose members are texts, numbers that JSON has, booleans and null, as most arguments are: a fifth of what going through text costs. null: JSON has to look. */
function flatCopy(value: object): JsonObject | null {
  const given = value as Readonly<Record<string, unknown>>
  if (getPrototypeOf(value) !== PLAIN || isArray(value) || given['toJSON'] !== undefined) return null
  const copy: Record<string, Json> = {}
  let isEmpty = true
  for (const key in given) {
    if (!hasOwn(given, key)) continue
    isEmpty = false
    const member = given[key]
    const isFlat = typeof member === 'string' || typeof member === 'boolean' || member === null || (isFinite(member) && !is(member, -0))
    // an assignment of what all objects inherit is lost, or runs a setter; the first letter of a String object is no member
    if (!isFlat || key in PLAIN || key === '0') return null
    copy[key] = member as Json
  }
  // nothing to copy, or an object that JSON knows better, such as a Number
  return isEmpty ? null : copy
}

/** A deep copy as `snapshot` makes it, of a value that JSON carries whole: throws TypeError for functions, symbols, numbers that are not finite, and objects that JSON would empty. An undefined member counts as absent. */
export function strictSnapshot(value: unknown): Json {
  const text = stringify(value, (key, member: unknown) => {
    const loss = lossOf(member)
    if (loss !== null) throw new TypeError(`${key === '' ? 'it' : key} is ${loss}`)
    return member
  })
  if (text === undefined) throw new TypeError('the value is not JSON')
  return parse(text) as Json
}

function lossOf(member: unknown): string | null {
  if (typeof member === 'function' || typeof member === 'symbol') return `a ${typeof member}`
  if (typeof member === 'number') return Number.isFinite(member) ? null : String(member)
  if (typeof member !== 'object' || member === null) return null
  const empty = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer].find((type) => member instanceof type)
  return empty === undefined ? null : `a ${empty.name}`
}

/** JSON text with the keys of every object in code-unit order, so that equal values have equal text. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return stringify(value)
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`
  const object = value as JsonObject
  const members: string[] = []
  for (const key of Object.keys(object).sort()) {
    const member = object[key]
    if (member !== undefined) members.push(`${stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** SHA-256 of the canonical form, 64 hex digits. */
export function digest(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** True where both values have the same canonical form. */
export function sameJson(a: Json, b: Json): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b)
}

/** A deeply frozen copy of a JSON value; an undefined member counts as absent. */
export function frozenCopy(value: Json): Json {
  // a loop, as below
  const open: { readonly from: Json; readonly into: Json }[] = []
  const copyOf = (from: Json): Json => {
    if (typeof from !== 'object' || from === null) return from
    const into = Array.isArray(from) ? [] : {}
    open.push({ from, into })
    return into
  }
  const copy = copyOf(value)
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { from, into } = one as { readonly from: JsonObject; readonly into: Record<string, Json> }
    for (const key of Object.keys(from)) {
      const member = from[key]
      if (member === undefined) continue
      // an assignment of what all objects inherit is lost, or runs a setter
      if (key in into) defineProperty(into, key, { value: copyOf(member), enumerable: true })
      else into[key] = copyOf(member)
    }
    freeze(into)
  }
  return copy
}

/** Freezes a JSON value that is ours, all the way down, and gives it back. */
export function deepFreeze<T extends Json>(value: T): T {
  // a loop, because results of servers may be nested deeper than a stack goes
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null || isFrozen(one)) continue
    freeze(one)
    for (const key of Object.keys(one)) open.push((one as JsonObject)[key])
  }
  return value
}
