/** Abort listeners that are cheap to take back: one real listener a signal, however many requests wait on it. */

const hubs = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls the listener once when the signal aborts (not for one that has aborted already); gives the function that takes it back. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = hubs.get(signal)
  if (!listeners) {
    const hub = new Set<() => void>()
    hubs.set(signal, hub)
    // a listener of its own for every request would make Node warn about a leak from the eleventh on
    signal.addEventListener(
      'abort',
      () => {
        for (const one of hub) one()
        hub.clear()
      },
      { once: true },
    )
    listeners = hub
  }
  const hub = listeners
  hub.add(listener)
  return () => hub.delete(listener)
}

/** The promise, or a rejection with `reason()` as soon as the signal aborts; the work behind the promise goes on. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, reason: () => unknown): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const give = (): void => reject(reason())
    if (signal.aborted) {
      promise.catch(() => {})
      give()
      return
    }
    const forget = onAbort(signal, give)
    promise.then(resolve, reject).finally(forget)
  })
}
