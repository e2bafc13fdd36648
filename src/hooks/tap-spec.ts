/** Reads what a plugin registers, strictly. */
import type { HookName } from '../errors.ts'
import { TaplineError } from '../errors.ts'
import type { Method } from '../mcp.ts'
import { nearest } from '../nearest.ts'
import type { TapFilter } from './plugin.ts'
import { ALL_METHODS } from './methods.ts'
import { STAGE_DEFAULT, STAGE_LIMIT } from './stages.ts'

/** A registration that was checked. */
export interface TapSpec {
  readonly hook: HookName
  readonly name: string
  readonly plugin: string
  readonly kind: 'sync' | 'promise'
  readonly stage: number
  readonly before: readonly string[]
  readonly methods: readonly Method[] | null
  readonly filter: TapFilter
  readonly timeoutMs: number
  readonly onFailure: 'block' | 'continue'
  readonly fn: (...args: unknown[]) => unknown
}

const FILTER_KEYS = ['environments', 'servers', 'tools'] as const
const KNOWN = new Set<string>(['name', 'stage', 'before', 'methods', 'timeoutMs', 'onFailure', ...FILTER_KEYS])
const KNOWN_TO_OBSERVERS = new Set<string>(['name', ...FILTER_KEYS])
const LONGEST_MS = 3_600_000

/** Throws HOOK_BAD_TAP with the first thing that is wrong. */
export function readTapSpec(hook: HookName, plugin: string, kind: TapSpec['kind'], options: unknown, fn: unknown): TapSpec {
  const given: Record<string, unknown> = {
    __proto__: null,
    ...(typeof options === 'string' ? { name: options } : (options as object | null)),
  }
  const name = typeof given['name'] === 'string' ? given['name'].trim() : ''
  const fail = (problem: string): never => {
    throw new TaplineError('HOOK_BAD_TAP', `plugin "${plugin}": ${name ? `tap "${name}"` : 'a tap'} on ${hook}: ${problem}`, {
      hook,
      plugin,
      ...(name && { tap: name }),
    })
  }
  if (name === '') fail('a tap needs a name')
  if (typeof fn !== 'function') fail('a tap needs a function')
  const isObserver = hook === 'settled'
  const unknown = Object.keys(given).find((key) => !(isObserver ? KNOWN_TO_OBSERVERS : KNOWN).has(key))
  if (unknown !== undefined)
    fail(isObserver && KNOWN.has(unknown) ? `an observer has no option "${unknown}"` : `unknown option "${unknown}"${didYouMean(unknown)}`)
  const { stage = STAGE_DEFAULT, before = [], methods, timeoutMs = 5000, onFailure = 'block' } = given
  if (typeof stage !== 'number' || !Number.isFinite(stage) || Math.abs(stage) > STAGE_LIMIT)
    fail(`stage must be a finite number within ±${STAGE_LIMIT}`)
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 1 && timeoutMs <= LONGEST_MS)) fail(`timeoutMs must be 1 to ${LONGEST_MS}`)
  if (onFailure !== 'block' && onFailure !== 'continue') fail('onFailure is "block" or "continue"')
  const names = typeof before === 'string' ? [before] : before
  if (!isTexts(names)) fail('before must be a name or a list of names')
  if (
    methods !== undefined &&
    !(isTexts(methods) && methods.length > 0 && methods.every((method) => ALL_METHODS.includes(method as Method)))
  ) {
    fail(`methods must be a list of ${ALL_METHODS.join(', ')}`)
  }
  const filter: Record<string, unknown> = {}
  for (const key of FILTER_KEYS) {
    const value = given[key]
    if (value === undefined) continue
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' || (key === 'environments' && one === null)))
      fail(`${key} must be a list of names`)
    filter[key] = Object.freeze([...(value as unknown[])])
  }
  return Object.freeze({
    hook,
    name,
    plugin,
    kind,
    stage: stage as number,
    before: Object.freeze([...(names as string[])]),
    methods: isObserver ? null : Object.freeze([...((methods as Method[] | undefined) ?? (['tools/call'] as const))]),
    filter: filter,
    timeoutMs: timeoutMs as number,
    onFailure: onFailure as TapSpec['onFailure'],
    fn: fn as TapSpec['fn'],
  })
}

const didYouMean = (option: string): string => {
  const near = nearest(option, KNOWN)
  return near === null ? '' : ` (did you mean "${near}"?)`
}
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string')
