/** What is left to be said of each tap when everything has run. */
import type { Session } from '../../runtime/types.ts'
import type { CheckRun } from './check-run.ts'
import type { CheckRequest } from './requests.ts'
import type { Signature } from './signature.ts'
import { difference } from './signature.ts'
import type { WatchedTap } from './watched-tap.ts'

const FEW = 5
const LOOK_MS = 20
/** calls in a session that is opened when others have closed */
const AFTERWARDS = 12

/** Time, observers that do not end, sessions after each other, and guards that see tools only. */
export async function checkTaps(
  run: CheckRun,
  openSession: () => Promise<Session>,
  first: ReadonlyMap<CheckRequest, Signature>,
  budgetMs: number,
): Promise<void> {
  for (const tap of run.taps) {
    const middle = tap.ownMs.toSorted((a, b) => a - b)[Math.floor(tap.ownMs.length / 2)] ?? 0
    if (tap.ownMs.length >= FEW && middle > budgetMs)
      run.findings.add('slow', tap, `takes ${middle.toFixed(1)} ms of its own a call; the budget is ${budgetMs} ms`)
    if (isBlind(tap, run.taps))
      run.findings.add('blind_to_resources', tap, 'judges tools only: what a server offers as resources and prompts passes it unseen')
  }
  await checkSessions(run, openSession, first)
  await checkObservers(run)
}

/** A guard that did not say which methods it means, and does not look at names of tools. */
function isBlind({ hook, facts, verdicts, runs }: WatchedTap, taps: readonly WatchedTap[]): boolean {
  const judges = hook === 'approve' ? runs > 0 && !verdicts.has('allow') : hook === 'resolve' && verdicts.has('deny')
  const seesResources = taps.some((tap) => tap.hook === hook && tap.facts.methods?.includes('resources/read') === true)
  return judges && facts.methods === null && facts.tools.length === 0 && !seesResources
}

/** Every session gets the same taps, and works also when those before it have closed. */
async function checkSessions(
  run: CheckRun,
  openSession: () => Promise<Session>,
  first: ReadonlyMap<CheckRequest, Signature>,
): Promise<void> {
  const [one = '', ...others] = run.plugin.registrations.map((taps) => [...taps].sort().join(', '))
  const other = others.find((taps) => taps !== one)
  if (other !== undefined)
    run.findings.add(
      'apply_twice',
      { hook: null, tap: null },
      `registered ${one || 'no tap'} for one session, and ${other || 'no tap'} for another`,
    )
  if (run.findings.has('state_between_calls') || run.findings.has('not_deterministic') || run.taps.some(({ isOut }) => isOut)) return
  const session = await openSession()
  run.isSerial = true
  for (const [request, expected] of [...first].slice(0, AFTERWARDS)) {
    const found = difference(expected, await run.make(request, session))
    if (found === null) continue
    const message = `a call came to ${found.texts[1].slice(0, 80)} once other sessions had closed, and to ${found.texts[0].slice(0, 80)} before`
    run.findings.add('apply_twice', found, message, request.call)
    break
  }
  run.isSerial = false
  await session.close()
}

async function checkObservers(run: CheckRun): Promise<void> {
  const waiting = (): WatchedTap[] => run.pending.filter(({ tap }) => tap.hook === 'settled').map(({ tap }) => tap)
  const until = performance.now() + run.hangMs
  while (waiting().length > 0 && performance.now() < until) await new Promise((done) => setTimeout(done, LOOK_MS))
  for (const tap of waiting()) run.findings.add('hangs', tap, `did not end within ${run.hangMs} ms`)
}
