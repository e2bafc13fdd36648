/** Calls that are aborted: while a tap runs, and while the server does. */
import type { Session } from '../../runtime/types.ts'
import type { CheckRun } from './check-run.ts'
import type { CheckRequest } from './requests.ts'
import { endlessRequest } from './requests.ts'
import type { Invocation } from './watched-plugin.ts'
import type { WatchedTap } from './watched-tap.ts'

/** ms that a tap may go on after the abort */
const GRACE_MS = 300
const LOOK_MS = 10

/** Aborts a call at each asynchronous tap, and tells those that go on as if nothing had been said. */
export async function checkAborts(run: CheckRun, requests: readonly CheckRequest[], session: Session): Promise<void> {
  for (const tap of run.taps) {
    if (tap.isSync || tap.hook === 'settled' || tap.runs === 0 || run.findings.all.some((one) => isBlocking(one.kind, one.tap, tap)))
      continue
    const reached = requests.find(({ label }) => label === tap.reachedBy)
    for (const request of tap.hook === 'dispatch' ? [endlessRequest, reached] : [reached])
      if (request !== undefined) await abortAt(run, tap, request, session)
  }
  const aborted = AbortSignal.abort()
  await run.makeTogether(requests.slice(0, 5), session, aborted)
}

const isBlocking = (kind: string, name: string | null, tap: WatchedTap): boolean => kind === 'blocks_event_loop' && name === tap.tap

async function abortAt(run: CheckRun, tap: WatchedTap, request: CheckRequest, session: Session): Promise<void> {
  const controller = new AbortController()
  const seen: Invocation[] = []
  const { isOut } = tap
  // it hangs, and is left out: here it is aborted long before anybody has waited for it
  tap.isOut = false
  run.onEnter = (invocation) => {
    if (invocation.tap !== tap) return
    seen.push(invocation)
    setImmediate(() => controller.abort())
  }
  // a request that never gets to the tap must end as well
  const limit = setTimeout(() => controller.abort(), GRACE_MS)
  try {
    run.isSerial = true
    await run.make(request, session, controller.signal)
    const until = performance.now() + GRACE_MS
    while (seen.some(({ isPending }) => isPending) && performance.now() < until) await new Promise((done) => setTimeout(done, LOOK_MS))
    if (seen.some(({ isPending }) => isPending))
      run.findings.add('swallows_abort', tap, `was still at work ${GRACE_MS} ms after its call had been aborted`, request.call)
  } finally {
    clearTimeout(limit)
    run.isSerial = false
    run.onEnter = null
    tap.isOut = isOut
  }
}
