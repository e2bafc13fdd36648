/** One check of one plugin: the real runtime, the watched plugin, and what was seen of them. */
import type { HookEntry, Session } from '../../runtime/types.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import type { Flag } from '../../flags/flag.ts'
import { openTestRuntime } from '../open-test-runtime.ts'
import type { TestRuntime } from '../types.ts'
import { arenaNames, arenaOptions } from './arena.ts'
import type { ArenaNames } from './arena.ts'
import { kindOfFailure } from './classify.ts'
import { companions } from './companions.ts'
import type { CheckedCall } from './finding.ts'
import type { Findings } from './findings.ts'
import { LoopWatch } from './loop-watch.ts'
import type { CheckRequest } from './requests.ts'
import { pluginScope } from './scope.ts'
import { seededNumbers } from './seeded.ts'
import type { Returned, Signature } from './signature.ts'
import { COMPARED, returnedText, withoutIds } from './signature.ts'
import type { Invocation, WatchHost } from './watched-plugin.ts'
import { WatchedPlugin } from './watched-plugin.ts'
import type { WatchedTap } from './watched-tap.ts'

/** Told of a tap just before it runs, where calls are made one after the other; a loop that stands still afterwards is its doing. */
export type OnEntered = (tap: WatchedTap, call: CheckedCall | null) => void

/** Settings of a run that are known by now. */
export interface CheckSettings {
  readonly seed: number
  readonly hangMs: number
  readonly flags: readonly Flag[]
  readonly onEntered: OnEntered | null
}

/** The state of a check. */
export class CheckRun implements WatchHost, AsyncDisposable {
  readonly findings: Findings
  readonly hangMs: number
  readonly plugin: WatchedPlugin
  readonly numbers: () => number
  readonly random: () => number
  isSerial = false
  isTracking = false
  isPinned = false
  /** requests made so far */
  count = 0
  /** called when a tap is entered, until it says that it has seen enough */
  onEnter: ((invocation: Invocation) => void) | null = null
  readonly #settings: CheckSettings
  readonly #loop = new LoopWatch()
  readonly #calls = new Map<string, CheckedCall>()
  /** stays open: what it closes could be what the next one needs */
  #first: TestRuntime | null = null
  #request: CheckRequest | null = null
  #returned: Returned[] = []
  #pending = new Set<Invocation>()

  constructor(plugin: HookPlugin, findings: Findings, settings: CheckSettings) {
    this.findings = findings
    this.hangMs = settings.hangMs
    this.numbers = seededNumbers(settings.seed)
    this.random = seededNumbers(settings.seed ^ 0x5bd1e995)
    this.#settings = settings
    this.plugin = new WatchedPlugin(plugin, this)
  }

  get label(): string | null {
    return this.#request?.label ?? null
  }

  get call(): CheckedCall | null {
    return this.#request?.call ?? null
  }

  get taps(): readonly WatchedTap[] {
    return [...this.plugin.taps.values()]
  }

  get names(): ArenaNames {
    return arenaNames(this.taps.map(({ facts }) => facts))
  }

  /** runs of taps that have not ended */
  get pending(): readonly Invocation[] {
    return [...this.#pending].filter(({ isPending }) => isPending)
  }

  pinnedRandom(): () => number {
    return seededNumbers(1)
  }

  longestTurnSince(started: number): number {
    return this.#loop.longestSince(started)
  }

  /** The runtime that the plugin is checked in. Rejects as `openTestRuntime` does. */
  async open(): Promise<TestRuntime> {
    const options = { flags: { define: this.#settings.flags }, features: { multi_environment_mcp: true } }
    const hooks = (): HookEntry[] => [...companions(this.taps), this.plugin, this.#observer()]
    // once to see what it registers: the servers are made after that, and other taps that it wants to precede
    this.#first = await openTestRuntime({ ...options, hooks: hooks() }).catch(async (error: unknown) => {
      if (companions(this.taps).length === 0) throw error
      return openTestRuntime({ ...options, hooks: hooks() })
    })
    return openTestRuntime({ ...options, hooks: hooks(), ...arenaOptions(this.names) })
  }

  /** Makes one request, and nothing else until it has ended. */
  async make(request: CheckRequest, session: Session, signal?: AbortSignal): Promise<Signature> {
    this.#request = request
    this.#returned = []
    const end = await this.#send(request, session, request.label, signal)
    const returned = this.#returned.map(({ tap, text }) => ({ tap, text: withoutIds(text, session.id) }))
    this.#request = null
    return { returned, end: withoutIds(end, session.id) }
  }

  /** Makes requests at the same time; gives their ends in order. */
  async makeTogether(requests: readonly CheckRequest[], session: Session, signal?: AbortSignal): Promise<string[]> {
    const ends = await Promise.all(requests.map((one, at) => this.#send(one, session, `${one.label}#${at}`, signal)))
    return ends.map((end) => withoutIds(end, session.id))
  }

  entered(tap: WatchedTap, invocation: Invocation): void {
    if (this.#pending.size > 5000) this.#pending = new Set(this.pending)
    this.#pending.add(invocation)
    if (this.isSerial) this.#settings.onEntered?.(tap, this.call)
    this.onEnter?.(invocation)
  }

  returned(tap: WatchedTap, value: unknown): void {
    const text = returnedText(tap, value)
    if (COMPARED.has(tap.hook)) tap.verdicts.add(text)
    if (this.isSerial && COMPARED.has(tap.hook)) this.#returned.push({ tap, text })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#loop[Symbol.dispose]()
    await this.#first?.close()
  }

  #send(request: CheckRequest, session: Session, callId: string, signal?: AbortSignal): Promise<unknown> {
    this.count++
    this.#calls.set(callId, request.call)
    return pluginScope.exit(() => request.send(session, { callId, ...(signal && { signal }) }))
  }

  /** Sees how calls end, as any observer does. */
  #observer(): HookPlugin {
    return {
      name: 'tapline-check',
      apply: ({ hooks }) => {
        hooks.settled.tap('ends', ({ outcome, trace }) => {
          for (const one of trace.taps) {
            const kind = one.plugin === this.plugin.name ? kindOfFailure(one, outcome.code) : null
            const tap = kind === null ? undefined : this.plugin.taps.get(`${one.hook}/${one.tap}`)
            if (kind === null || tap === undefined) continue
            // once is enough: everybody would have to wait for its limit again
            if (kind === 'hangs') tap.isOut = true
            this.findings.add(kind, tap, one.reason ?? kind, this.#calls.get(outcome.callId) ?? this.call)
          }
        })
      },
    }
  }
}
