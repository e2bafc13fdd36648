/** The plugin under check with every tap of it watched. The runtime that runs it is the real one. */
import { types } from 'node:util'
import type { HookName } from '../../errors.ts'
import { messageOf } from '../../errors.ts'
import type { HookPlugin, HookPorts } from '../../hooks/plugin.ts'
import { isReservedKey } from '../../hooks/reserved-metadata.ts'
import { isJsonObject } from '../../json.ts'
import { SERVERS_KEY } from './arena.ts'
import type { CheckedCall } from './finding.ts'
import type { Findings } from './findings.ts'
import { cleanPrototypes } from './prototypes.ts'
import { threadNow } from './run-delay.ts'
import { pluginScope } from './scope.ts'
import type { Scope } from './scope.ts'
import { trackedCall, trackedJson } from './tracked.ts'
import { tapFacts, WatchedTap } from './watched-tap.ts'

type Fn = (...args: unknown[]) => unknown
const HOOKS: readonly HookName[] = ['resolve', 'approve', 'attachMetadata', 'dispatch', 'settled']
const ignore = (): void => {}

/** One run of a tap. */
export interface Invocation {
  readonly tap: WatchedTap
  isPending: boolean
}

/** What the check does with the runs of taps, and is told of them. */
export interface WatchHost {
  readonly findings: Findings
  /** ms after which a tap hangs */
  readonly hangMs: number
  /** calls are made one after the other, so that time and returns belong to the one that runs */
  isSerial: boolean
  /** writes to arguments and results are looked for, and nothing else */
  isTracking: boolean
  /** chance and time stand still */
  isPinned: boolean
  readonly random: () => number
  /** new numbers of a fixed order, for one run of a tap */
  readonly pinnedRandom: () => () => number
  /** the request that is being made, where they are made one after the other */
  readonly label: string | null
  readonly call: CheckedCall | null
  readonly entered: (tap: WatchedTap, invocation: Invocation, callId: string) => void
  /** ms of the longest turn of the event loop since then */
  readonly longestTurnSince: (started: number) => number
  readonly returned: (tap: WatchedTap, value: unknown) => void
}

/** Stands in the place of the plugin. */
export class WatchedPlugin implements HookPlugin {
  readonly name: string
  readonly taps: Map<string, WatchedTap> = new Map()
  /** the taps that each session got, in the order of sessions */
  readonly registrations: string[][] = []
  readonly signals: AbortSignal[] = []
  readonly #plugin: HookPlugin
  readonly #host: WatchHost

  constructor(plugin: HookPlugin, host: WatchHost) {
    this.name = plugin.name
    this.#plugin = plugin
    this.#host = host
  }

  apply(ports: HookPorts): ReturnType<HookPlugin['apply']> {
    const registered: string[] = []
    this.registrations.push(registered)
    this.signals.push(ports.session.signal)
    const hooks = Object.fromEntries(HOOKS.map((hook) => [hook, this.#port(hook, ports.hooks[hook], registered)]))
    const watched = Object.freeze({ ...ports, hooks: Object.freeze(hooks) }) as unknown as HookPorts
    return pluginScope.run(this.#scope(null, null), () => this.#plugin.apply(watched))
  }

  #port(hook: HookName, real: object, registered: string[]): object {
    const add = (kind: 'tap' | 'tapPromise') => (options: unknown, fn: unknown) => {
      const register = Reflect.get(real, kind) as Fn
      const given = options as { readonly name?: unknown } | string | null
      const name = typeof given === 'string' ? given : String(given?.name)
      const id = `${hook}/${name}`
      registered.push(id)
      if (typeof fn !== 'function' || (hook === 'dispatch' && kind === 'tap')) return register(options, fn)
      const tap = this.taps.get(id) ?? new WatchedTap(hook, name.trim(), kind === 'tap', tapFacts(options))
      register(this.#options(hook, options), this.#watch(tap, fn as Fn))
      this.taps.set(id, tap)
    }
    return Object.freeze({ tap: add('tap'), tapPromise: add('tapPromise') })
  }

  /** Failures are what the check wants to see, and nobody wants to wait five seconds for each. */
  #options(hook: HookName, options: unknown): unknown {
    if (hook === 'settled' || (typeof options !== 'string' && (typeof options !== 'object' || options === null))) return options
    const given = (typeof options === 'string' ? { name: options } : options) as Readonly<Record<string, unknown>>
    const { timeoutMs = 5000, onFailure } = given
    return {
      ...given,
      ...(typeof timeoutMs === 'number' && timeoutMs >= 1 && { timeoutMs: Math.min(timeoutMs, this.#host.hangMs) }),
      ...(onFailure === 'continue' && { onFailure: 'block' }),
    }
  }

  #watch(tap: WatchedTap, fn: Fn): Fn {
    if (tap.hook === 'settled') return (event) => this.#observe(tap, fn, event)
    if (tap.hook === 'dispatch') return (call, next, context) => this.#wrap(tap, fn, call as object, next as Fn, context)
    return (call, context) => {
      if (tap.isOut) return tap.isSync ? undefined : Promise.resolve(undefined)
      const view = this.#host.isTracking ? trackedCall(call as object, this.#written(tap, 'mutates_arguments')) : call
      return this.#run(tap, call as object, () => fn(view, context))
    }
  }

  #wrap(tap: WatchedTap, fn: Fn, call: object, next: Fn, context: unknown): unknown {
    const host = this.#host
    if (tap.isOut) return next()
    let waited = 0
    let last: unknown
    const watchedNext = (...args: unknown[]): Promise<unknown> => {
      const since = threadNow()
      // what happens in there is not the plugin's
      const answer = pluginScope.exit(() => next(...args)) as Promise<unknown>
      answer.then(
        (result) => {
          waited += threadNow() - since
          last = result
        },
        () => (waited += threadNow() - since),
      )
      if (!host.isTracking) return answer
      const tracked = answer.then((result) => trackedJson(result, this.#written(tap, 'mutates_result')))
      tracked.catch(ignore)
      return tracked
    }
    const view = host.isTracking ? trackedCall(call, this.#written(tap, 'mutates_arguments')) : call
    return this.#run(
      tap,
      call,
      () => fn(view, watchedNext, context),
      () => waited,
      (value) => this.#look(tap, value, last),
    )
  }

  #run(tap: WatchedTap, call: object, fn: () => unknown, waited = (): number => 0, ended: (value: unknown) => void = ignore): unknown {
    const host = this.#host
    const { isSerial, label, call: request } = host
    tap.runs++
    tap.reachedBy ??= host.label
    const invocation: Invocation = { tap, isPending: true }
    host.entered(tap, invocation, (call as { readonly id: string }).id)
    const started = threadNow()
    let syncMs = 0
    const settle = (): void => {
      invocation.isPending = false
      this.#polluted(tap)
      if (!isSerial || !host.isSerial) return
      const own = threadNow() - started - waited()
      tap.ownMs.push(own)
      tap.totalMs += own
      // what it did after an await may be longer than what it did before
      tap.turn(Math.max(syncMs, Math.min(own - syncMs, host.longestTurnSince(started))), host.findings, label, request)
    }
    let value: unknown
    try {
      value = pluginScope.run(this.#scope(tap.hook, tap.tap), fn)
    } catch (error) {
      syncMs = threadNow() - started
      settle()
      throw error
    }
    syncMs = threadNow() - started
    tap.syncMs += syncMs
    this.#polluted(tap)
    if (!types.isPromise(value)) {
      settle()
      host.returned(tap, value)
      return value
    }
    void value.then((result) => {
      settle()
      host.returned(tap, result)
      ended(result)
    }, settle)
    return value
  }

  #observe(tap: WatchedTap, fn: Fn, event: unknown): unknown {
    const { findings } = this.#host
    if (tap.isOut) return undefined
    tap.runs++
    const invocation: Invocation = { tap, isPending: true }
    this.#host.entered(tap, invocation, '')
    const failed = (error: unknown): void => {
      invocation.isPending = false
      const moved = (error as { readonly code?: unknown } | null)?.code === 'HOOK_CHANGED_OWNER'
      findings.add(moved ? 'moves_owner' : 'throws', tap, `${moved ? '' : 'threw '}${messageOf(error)}`, this.#host.call)
    }
    const started = threadNow()
    try {
      const value = pluginScope.run(this.#scope('settled', tap.tap), () => fn(event))
      if (types.isPromise(value)) value.then(() => (invocation.isPending = false), failed)
      else {
        invocation.isPending = false
        if (value !== undefined) findings.add('bad_return', tap, 'returned something from an observer, which nobody reads', this.#host.call)
      }
      return value
    } catch (error) {
      failed(error)
      throw error
    } finally {
      if (this.#host.isSerial) tap.turn(threadNow() - started, findings, this.#host.label, this.#host.call)
    }
  }

  #polluted(tap: WatchedTap): void {
    const key = cleanPrototypes()
    if (key !== null)
      this.#host.findings.add('pollutes_prototypes', tap, `put "${key}" on a prototype that everybody shares`, this.#host.call)
  }

  /** A result may carry `_meta` too; its reserved keys are the server's and MCP's. One that cannot be read the runtime refuses itself. */
  #look(tap: WatchedTap, value: unknown, last: unknown): void {
    try {
      this.#forged(tap, value, last)
    } catch {}
  }

  #forged(tap: WatchedTap, value: unknown, last: unknown): void {
    if (value === last || !isJsonObject(value) || !isJsonObject(value['_meta'])) return
    const before = isJsonObject(last) && isJsonObject(last['_meta']) ? last['_meta'] : {}
    const forged = Object.keys(value['_meta']).find((key) => isReservedKey(key) && key !== SERVERS_KEY && !Object.hasOwn(before, key))
    if (forged !== undefined)
      this.#host.findings.add('forges_metadata', tap, `put the reserved key ${forged} into _meta of the result`, this.#host.call)
  }

  #written(tap: WatchedTap, kind: 'mutates_arguments' | 'mutates_result') {
    return (key: string): void => {
      const { findings, call } = this.#host
      findings.muted = false
      findings.add(kind, tap, `wrote to ${key} of ${kind === 'mutates_result' ? 'the result of next()' : 'the arguments'}`, call)
      findings.muted = true
    }
  }

  #scope(hook: HookName | null, tap: string | null): Scope {
    const { findings, isPinned, random, pinnedRandom, call } = this.#host
    const started = performance.now()
    return {
      hook,
      tap,
      tell: (kind, place, message) => findings.add(kind, place, message, call),
      random: isPinned ? pinnedRandom() : random,
      now: isPinned ? () => PINNED_NOW + stillFor(performance.now() - started) : null,
    }
  }
}

const PINNED_NOW = 1_750_000_000_000
/** a loop that waits for a time to come must end */
const stillFor = (ms: number): number => (ms > 500 ? Math.round(ms) : 0)
