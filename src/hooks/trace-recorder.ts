/** Collects the trace of one call; there is none where nobody asked for it. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { ServerKey } from '../servers/key.ts'
import type { PipelineHook } from './outcome.ts'
import { SHADOW_EFFECTS } from './shadow-effects.ts'
import type { CallTrace, ShadowEffect, ShadowSummary, TapTrace, TraceNote } from './trace.ts'

type Approval = NonNullable<CallTrace['approval']>

const NONE: readonly ShadowSummary[] = Object.freeze([])

/** Written by the core while the call runs; read once, when it is over. */
export class TraceRecorder {
  readonly #taps: TapTrace[] = []
  readonly #notes: TraceNote[] = []
  readonly #metaKeys: { readonly key: string; readonly by: string }[] = []
  readonly #timings: Partial<Record<PipelineHook | 'queue' | 'server', number>> = {}
  readonly #redact: (text: string) => string
  readonly flags: CapturedFlags
  #candidates: readonly ServerKey[] = []
  #shadow: Map<string, Set<ShadowEffect>> | null = null
  #approval: Approval | null = null
  #connection: CallTrace['connection'] = null

  /** `redact` takes secrets out of what taps say. */
  constructor(flags: CapturedFlags, redact: (text: string) => string = (text) => text) {
    this.flags = flags
    this.#redact = redact
  }

  candidates(keys: readonly ServerKey[]): void {
    this.#candidates = keys
  }
  tap(entry: TapTrace): void {
    this.#taps.push(Object.freeze(entry.reason === undefined ? entry : { ...entry, reason: this.#redact(entry.reason) }))
  }
  /** What a tap of a plugin in shadow would have done; nothing: it ran. */
  shadow(plugin: string, effects: readonly ShadowEffect[]): void {
    const all = (this.#shadow ??= new Map<string, Set<ShadowEffect>>())
    const known = all.get(plugin) ?? new Set<ShadowEffect>()
    for (const effect of effects) known.add(effect)
    all.set(plugin, known)
  }
  /** A remark of a tap; 100 of a call are kept, each cut to 2,000 characters. */
  note(note: TraceNote): void {
    // redacted first: half of a secret would be known by nobody
    if (this.#notes.length < 100) this.#notes.push(Object.freeze({ ...note, text: this.#redact(note.text).slice(0, 2000) }))
  }
  approval(source: Approval['source'], waitedMs = 0): void {
    this.#approval = Object.freeze({ source, waitedMs })
  }
  meta(key: string, by: string): void {
    this.#metaKeys.push(Object.freeze({ key, by }))
  }
  connection(id: string, reused: boolean): void {
    this.#connection = Object.freeze({ id, reused })
  }
  /** Adds ms to a phase. */
  time(phase: PipelineHook | 'queue' | 'server', ms: number): void {
    this.#timings[phase] = (this.#timings[phase] ?? 0) + ms
  }

  read(): CallTrace {
    // frozen, because observers see it before the host does
    return Object.freeze({
      candidates: Object.freeze([...this.#candidates]),
      taps: Object.freeze([...this.#taps]),
      shadow: this.#shadow === null ? NONE : summaries(this.#shadow),
      ...(this.#notes.length > 0 && { notes: Object.freeze([...this.#notes]) }),
      approval: this.#approval,
      metaKeys: Object.freeze([...this.#metaKeys]),
      connection: this.#connection,
      flags: this.flags.all(),
      timingsMs: Object.freeze({ ...this.#timings }),
    })
  }
}

const summaries = (all: ReadonlyMap<string, ReadonlySet<ShadowEffect>>): readonly ShadowSummary[] =>
  Object.freeze(
    [...all].map(([plugin, effects]) =>
      Object.freeze({ plugin, wouldHave: Object.freeze(SHADOW_EFFECTS.filter((one) => effects.has(one))) }),
    ),
  )
