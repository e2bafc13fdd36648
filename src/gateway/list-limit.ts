/** How long a client waits for a list when servers are still starting. */

/** ms; servers that take longer are told of with `list_changed`. */
export const LIST_MS = 5000

/** Runs the work with a signal that ends with the request, or when the client has waited long enough. */
export async function withinListTime<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController()
  const end = (): void => limit.abort()
  const timer = setTimeout(end, LIST_MS)
  signal?.addEventListener('abort', end, { once: true })
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
