/** How a server is ended: asked, told, forced. */
import type { StdioProcess } from './executor.ts'

/** End of input, then SIGTERM, then SIGKILL, each with `graceMs` to come to an end. Never rejects; takes at most about three graces. */
export async function stopProcess(process: StdioProcess, graceMs: number): Promise<void> {
  const gone = (): Promise<boolean> =>
    within(
      process.exited.then(() => true),
      graceMs,
      false,
    )
  const ended = await within(
    process.endStdin().catch(() => false),
    graceMs,
    false,
  )
  if (ended && (await gone())) return
  await within(
    process.kill('terminate').catch(() => {}),
    graceMs,
    undefined,
  )
  if (await gone()) return
  await within(
    process.kill('kill').catch(() => {}),
    graceMs,
    undefined,
  )
  await gone()
}

/** What the promise gives, or `otherwise` after `ms`; for promises that do not reject. */
export function within<T>(promise: Promise<T>, ms: number, otherwise: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(otherwise), ms)
    void promise.then((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}
