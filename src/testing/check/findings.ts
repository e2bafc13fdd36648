/** Gathers findings: each kind once a tap, the first one counts. */
import type { HookName } from '../../errors.ts'
import type { CheckedCall, CheckFinding, FindingKind } from './finding.ts'
import { FINDING_REMEDIES } from './finding.ts'

/** Where something was found. */
export interface Place {
  readonly hook: HookName | null
  readonly tap: string | null
}

const WARNINGS: ReadonlySet<FindingKind> = new Set<FindingKind>(['blind_to_resources'])

/** The findings of one check. */
export class Findings {
  /** while true nothing is added: what is tried then is known to disturb the plugin */
  muted = false
  readonly #plugin: string
  readonly #allowed: ReadonlySet<FindingKind>
  readonly #seen = new Set<FindingKind>()
  readonly #found = new Map<string, CheckFinding>()

  constructor(plugin: string, allowed: readonly FindingKind[]) {
    this.#plugin = plugin
    this.#allowed = new Set(allowed)
  }

  add(
    kind: FindingKind,
    { hook, tap }: Place,
    message: string,
    call: CheckedCall | null = null,
    remedy: string = FINDING_REMEDIES[kind],
  ): void {
    const id = JSON.stringify([kind, hook, tap])
    if (this.muted) return
    this.#seen.add(kind)
    if (this.#allowed.has(kind) || this.#found.has(id)) return
    const level = WARNINGS.has(kind) ? 'warning' : 'error'
    this.#found.set(id, Object.freeze({ kind, level, plugin: this.#plugin, hook, tap, message: oneLine(message), remedy, call }))
  }

  /** True for what was found, also where it is allowed. */
  has(kind: FindingKind): boolean {
    return this.#seen.has(kind)
  }

  get all(): readonly CheckFinding[] {
    return [...this.#found.values()]
  }
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 500)
}
