/** What a tap of each hook may return; everything else is refused by name. */
import { types } from 'node:util'
import type { TaplineError } from '../errors.ts'
import { messageOf } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject, strictSnapshot } from '../json.ts'
import type { Method } from '../mcp.ts'
import { OWNERSHIP_KEYS } from '../ownership-keys.ts'
import { isTraceContextKey, metaKeyProblem } from './reserved-metadata.ts'
import { guardResourceArguments } from './resource-guard.ts'
import type { CallRun } from './call-run.ts'
import { HookError } from './hook-error.ts'
import type { TapStep } from './tap-step.ts'
import { changedOwner } from './tap-view.ts'
import type { TapTrace } from './trace.ts'
import { readVerdict } from '../verdicts.ts'

type Decision = TapTrace['decision']

/** Methods whose arguments are those of the tool or prompt itself; those of all others may name an owner. */
const OWN_ARGUMENTS: ReadonlySet<Method> = new Set<Method>(['tools/call', 'prompts/get'])
/** What a result of the method must have as a list. */
const LISTS: Partial<Record<Method, string>> = { 'tools/call': 'content', 'resources/read': 'contents', 'prompts/get': 'messages' }

const { getPrototypeOf, ownKeys } = Reflect
const { isPromise } = types
const then = Promise.prototype.then
const ignore = (): void => {}

/** resolve: nothing, `{ arguments }`, or deny(). */
export function acceptResolve(run: CallRun, step: TapStep, value: unknown): Decision {
  if (value === undefined) return 'none'
  const verdict = readVerdict(value)
  if (verdict !== null) {
    if (verdict.kind !== 'deny') throw step.error(run, 'HOOK_BAD_RETURN', `returned ${verdict.kind}(), which belongs to approve,`)
    throw refusal(run, step, verdict.text)
  }
  const returned = plainObject(run, step, value)
  assertOnlyKeys(run, step, returned, 'arguments')
  if (!Object.hasOwn(returned, 'arguments')) throw step.error(run, 'HOOK_BAD_RETURN', 'returned an object without arguments')
  const copy = jsonCopy(run, step, returned['arguments'], 'arguments')
  if (!isJsonObject(copy)) throw step.error(run, 'HOOK_BAD_RETURN', 'returned arguments that are not an object')
  run.arguments.replace(OWN_ARGUMENTS.has(run.method) ? copy : guardResourceArguments(run.arguments.read(), copy, run.id, step))
  return 'rewrite'
}

/** approve: nothing, allow(), deny() or ask(). */
export function acceptApprove(run: CallRun, step: TapStep, value: unknown): Decision {
  if (value === undefined) return 'none'
  const verdict = readVerdict(value)
  if (verdict === null) {
    assertOnlyKeys(run, step, plainObject(run, step, value))
    throw step.error(run, 'HOOK_BAD_RETURN', 'returned an object that is no verdict')
  }
  if (verdict.kind === 'deny') throw refusal(run, step, verdict.text)
  ;(run.votes ??= []).push({ kind: verdict.kind, text: verdict.text, tap: step.name, plugin: step.plugin })
  return verdict.kind
}

/** attachMetadata: nothing, or a flat patch of namespaced keys that nobody else has set. */
export function acceptMetadata(run: CallRun, step: TapStep, value: unknown): Decision {
  if (value === undefined) return 'none'
  if (readVerdict(value) !== null) throw step.error(run, 'HOOK_BAD_RETURN', 'returned a verdict, which belongs to approve,')
  const returned = plainObject(run, step, value)
  const patch: [string, Json][] = []
  assertNoOwner(run, step, returned)
  const keys = Reflect.ownKeys(returned)
  // a Map, or a verdict in disguise: whatever it means, it is no patch
  if (keys.length === 0 && Object.getPrototypeOf(returned) !== Object.prototype)
    throw step.error(run, 'HOOK_BAD_RETURN', 'returned an object that is no patch')
  for (const key of keys) {
    if (typeof key === 'symbol') throw step.error(run, 'HOOK_BAD_RETURN', 'returned a key that is a symbol')
    const problem = metaKeyProblem(key)
    if (problem === 'reserved') throw step.error(run, 'HOOK_BAD_RETURN', `returned the reserved key ${key}`)
    if (problem === 'needs_prefix')
      throw step.error(run, 'HOOK_BAD_RETURN', `returned the key ${JSON.stringify(key)}, which needs a prefix such as example.com/name,`)
    if (isTraceContextKey(key) && typeof returned[key] !== 'string')
      throw step.error(run, 'HOOK_BAD_RETURN', `returned ${key} that is no text,`)
    const other = run.patch?.get(key)
    if (other !== undefined && other.by?.instance !== step.instance) {
      throw step.error(
        run,
        'HOOK_BAD_RETURN',
        `returned the key ${key}, which ${other.by === null ? 'the caller' : `plugin "${other.by.plugin}"`} has set already,`,
      )
    }
    patch.push([key, jsonCopy(run, step, returned[key], key)])
  }
  // all of it or nothing: the failure of this tap may be one that the call survives
  for (const [key, value] of patch) {
    ;(run.patch ??= new Map()).set(key, { value, by: step })
    run.trace?.meta(key, step.plugin)
  }
  return 'patch'
}

/** dispatch: a result of the method. What next() gave passes as it is; everything else is copied. */
export function readResult(run: CallRun, step: TapStep, value: unknown, fromNext: JsonObject | null): JsonObject {
  if (value === fromNext && fromNext !== null) return fromNext
  if (readVerdict(value) !== null) throw step.error(run, 'HOOK_BAD_RETURN', 'returned a verdict in place of a result')
  const returned = plainObject(run, step, value)
  const list = LISTS[run.method] ?? null
  // the copy is what is looked at: a getter or toJSON may give something else the second time
  const copy = jsonCopy(run, step, returned, 'result')
  if (isJsonObject(copy) && (list === null || Array.isArray(copy[list]))) return copy
  assertOnlyKeys(run, step, returned, ...Object.keys(returned).filter((key) => !OWNERSHIP_KEYS.has(key)))
  throw step.error(run, 'HOOK_BAD_RETURN', `returned a result without ${list ?? 'members'}`)
}

function refusal(run: CallRun, step: TapStep, reason = 'no reason given'): TaplineError {
  return new HookError('CALL_REFUSED', `tap "${step.name}" of plugin "${step.plugin}" refused the call: ${reason}`, step, run.id, {
    data: { by: 'tap', reason },
  })
}

/** The error for a value that is not what it should be; an attempt to move the call has its own code, whatever else is wrong. */
export function wrongReturn(run: CallRun, step: TapStep, value: unknown, problem: string): TaplineError {
  let word: string | null = null
  try {
    word = ownerNamedIn(value)
  } catch {
    // it cannot be read: the problem is told as it is
  }
  return word === null ? step.error(run, 'HOOK_BAD_RETURN', problem) : changedOwner(run.id, step, word, 'returned')
}

function plainObject(run: CallRun, step: TapStep, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    // nobody waits for it, and its failure must not end the host's process
    if (isPromise(value)) void then.call(value, ignore, ignore)
    if (typeof (value as { then?: unknown }).then === 'function') {
      throw wrongReturn(run, step, value, step.isSync ? 'returned a promise (use tapPromise)' : 'returned a thenable that is not a promise')
    }
    return value as Record<string, unknown>
  }
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : value === undefined ? 'nothing' : `a ${typeof value}`
  throw wrongReturn(run, step, value, `returned ${what}`)
}

/** Comes first: whatever else is wrong, an attempt to move the call has its own code. */
function assertNoOwner(run: CallRun, step: TapStep, value: object): void {
  const word = ownerNamedIn(value)
  if (word !== null) throw changedOwner(run.id, step, word, 'returned')
}

/** Longer chains of prototypes are not read: a Proxy can make them endless. */
const LONGEST_CHAIN = 20

/** The ownership word that a value has or inherits, or null. What all objects inherit says nothing about this one. */
export function ownerNamedIn(value: unknown): string | null {
  let object = value
  for (let i = 0; ((typeof object === 'object' && object !== null) || typeof object === 'function') && object !== Object.prototype; i++) {
    if (i === LONGEST_CHAIN) throw new TypeError('the value inherits without end')
    const keys = ownKeys(object)
    // by index: what a tap did to the methods of arrays must not hide its key
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at]
      if (typeof key === 'string' && OWNERSHIP_KEYS.has(key)) return key
    }
    object = getPrototypeOf(object)
  }
  return null
}

function assertOnlyKeys(run: CallRun, step: TapStep, value: object, ...allowed: readonly string[]): void {
  assertNoOwner(run, step, value)
  const keys = Reflect.ownKeys(value)
  const unknown = keys.find((key) => !allowed.includes(String(key)))
  if (unknown !== undefined) throw step.error(run, 'HOOK_BAD_RETURN', `returned the unknown key ${JSON.stringify(String(unknown))}`)
}

function jsonCopy(run: CallRun, step: TapStep, value: unknown, what: string): Json {
  try {
    return strictSnapshot(value)
  } catch (error) {
    throw step.error(
      run,
      'HOOK_BAD_RETURN',
      `returned ${what} that cannot be written as JSON (${messageOf(error).split('\n', 1)[0]}),`,
      error,
    )
  }
}
