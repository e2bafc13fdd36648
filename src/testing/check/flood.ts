/** Many calls at the same time: each must come to what it came to alone. */
import type { Session } from '../../runtime/types.ts'
import type { CheckRun } from './check-run.ts'
import { tell } from './replays.ts'
import type { CheckRequest } from './requests.ts'
import { shuffled } from './seeded.ts'
import type { Signature } from './signature.ts'

/** ms of work that a slow plugin may cause here */
const MOST_MS = 5000

/** Makes the small ones of the requests `calls` times in all, at once. */
export async function checkFlood(
  run: CheckRun,
  alone: ReadonlyMap<CheckRequest, Signature>,
  session: Session,
  calls: number,
): Promise<void> {
  const small = [...alone.keys()].filter(({ isSmall }) => isSmall)
  if (small.length === 0) return
  const callMs = run.taps.reduce((sum, { syncMs, runs }) => sum + syncMs / Math.max(1, runs), 0)
  const count = Math.max(1, Math.min(calls, Math.floor(MOST_MS / Math.max(callMs, 0.001))))
  const requests = shuffled(
    Array.from({ length: count }, (_, at) => small[at % small.length] as CheckRequest),
    run.numbers,
  )
  const ends = await run.makeTogether(requests, session)
  // a difference between single calls has been told, and one left out makes others
  if (run.findings.has('state_between_calls') || run.findings.has('not_deterministic') || run.taps.some(({ isOut }) => isOut)) return
  for (const [at, end] of ends.entries()) {
    const request = requests[at] as CheckRequest
    const expected = alone.get(request) as Signature
    if (end === expected.end) continue
    return tell(run, 'state_between_calls', { hook: null, tap: null, texts: [expected.end, `${end} (${count} calls at once)`], request })
  }
}
