/** One look at an environment: is it there, and how far away. */
import type { ExecutorPool } from '../connections/executor-pool.ts'
import { untilAborted } from '../connections/on-abort.ts'
import { asTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { Environment } from '../servers/environment.ts'

/** What a look at an environment found. */
export interface EnvironmentCheck {
  /** ms until it was connected, and for one answer over the connection */
  readonly connectMs: number
  readonly latencyMs: number
  /** null where the executor does not say */
  readonly platform: string | null
  readonly version: string | null
  readonly home: string | null
}

/** Rejects with what the executor says, ENVIRONMENT_UNAVAILABLE after the limit, CALL_CANCELLED after the signal. */
export async function checkEnvironment(
  environment: Environment,
  places: ExecutorPool,
  { signal, timeoutMs }: { readonly signal?: AbortSignal; readonly timeoutMs: number },
): Promise<EnvironmentCheck> {
  const { id } = environment
  const ended = new AbortController()
  const late = setTimeout(
    () =>
      ended.abort(
        new TaplineError('ENVIRONMENT_UNAVAILABLE', `environment ${id} gave no answer within ${timeoutMs / 1000} s`, {
          data: { environmentId: id },
        }),
      ),
    timeoutMs,
  )
  const cancel = (): void =>
    ended.abort(new TaplineError('CALL_CANCELLED', `looking at environment ${id} was cancelled`, { cause: signal?.reason }))
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const began = performance.now()
    const executor = await untilAborted(places.get(environment), ended.signal, () => ended.signal.reason)
    const connected = performance.now()
    const found = executor.check
      ? await untilAborted(executor.check({ signal: ended.signal }), ended.signal, () => ended.signal.reason)
      : { platform: null, version: null, home: null }
    return { connectMs: connected - began, latencyMs: performance.now() - connected, ...found }
  } catch (error) {
    throw asTaplineError(error, 'ENVIRONMENT_UNAVAILABLE', `environment ${id} cannot be reached: ${messageOf(error)}`)
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', cancel)
  }
}
