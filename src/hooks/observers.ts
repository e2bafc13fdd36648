/** Tells the observers of `settled` how a call ended; nothing that they do can reach the call. */
import { types } from 'node:util'
import type { ModeCell } from './mode-cell.ts'
import type { Settled } from './plugin.ts'
import type { CallFilter } from './tap-filter.ts'
import type { SealedCall } from './sealed-call.ts'
import type { ShadowCall } from './shadow-call.ts'
import type { ViewOwner } from './tap-view.ts'

/** One observer. */
export interface Observer extends ViewOwner {
  readonly hook: 'settled'
  readonly filter: CallFilter
  readonly cell: ModeCell
  readonly fn: (...args: unknown[]) => unknown
}

const { isPromise } = types
const then = Promise.prototype.then

/**
 * Runs every observer whose filter lets the call through; `eventFor` makes the event with a view of the observer's own. An observer in shadow
 * comes after the taps of its plugin, which still run.
 */
export function observe(
  observers: readonly Observer[],
  call: SealedCall | null,
  eventFor: (observer: Observer) => Settled,
  report: (observer: Observer, error: unknown) => void,
  shadow: ShadowCall | null,
): void {
  for (const observer of observers) {
    if (observer.cell.mode === 'off') continue
    // a filter speaks of an owner, and a request that never became a call has none
    if (observer.filter !== null && (call === null || !observer.filter(call))) continue
    const tell = (): undefined => {
      try {
        const { fn } = observer
        const pending = fn(eventFor(observer))
        if (isPromise(pending)) void then.call(pending, undefined, (error: unknown) => report(observer, error))
      } catch (error) {
        report(observer, error)
      }
    }
    if (observer.cell.mode === 'enforce' || shadow === null) tell()
    else shadow.add(observer.cell, tell)
  }
}
