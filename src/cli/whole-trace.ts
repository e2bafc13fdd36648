/** The whole trace of a call: taps in shadow may end after it. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { Session } from '../runtime/types.ts'

/** ms that taps in shadow are waited for: a little more than they have by default. */
const WAIT_MS = 6000

/** Listens from now on; the function gives the trace of a call of this session that was to have one, what there is of it after six seconds. */
export function wholeTraces(session: Session): (outcome: CallOutcome) => Promise<CallTrace | undefined> {
  const seen = new Map<string, CallTrace>()
  let told = (): void => {}
  session.subscribe((event) => {
    if (event.type !== 'traced') return
    seen.set(event.callId, event.trace)
    told()
  })
  return async ({ callId, trace }) => {
    // a trace file or an observer has a trace too, which nobody asked to see
    if (trace === undefined) return undefined
    if (!seen.has(callId) && session.hookPlugins.some(({ mode }) => mode === 'shadow')) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, WAIT_MS)
        told = () => seen.has(callId) && resolve()
      })
      clearTimeout(timer)
    }
    return seen.get(callId) ?? trace
  }
}
