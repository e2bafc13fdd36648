/** The same requests again, in the same order and in another: what a call comes to must not depend on it. */
import type { Session } from '../../runtime/types.ts'
import type { CheckRun } from './check-run.ts'
import type { FindingKind } from './finding.ts'
import type { Place } from './findings.ts'
import { looksCounted } from './pattern.ts'
import type { CheckRequest } from './requests.ts'
import { shuffled } from './seeded.ts'
import type { Signature } from './signature.ts'
import { difference } from './signature.ts'

/** ms of the plugin's own after which no further request of a row is begun; those of the machine do not count */
const ROW_MS = 1000
/** the same request in a row, to see how its answers change */
const AGAIN = 72

type Results = ReadonlyMap<CheckRequest, Signature>
type Difference = NonNullable<ReturnType<typeof difference>> & { readonly request: CheckRequest }

/** Makes the requests one after the other; a plugin that is slow gets no further than its time. */
export async function inARow(run: CheckRun, requests: readonly CheckRequest[], session: Session): Promise<Results> {
  const results = new Map<CheckRequest, Signature>()
  const until = ownMs(run) + ROW_MS
  run.isSerial = true
  try {
    for (const request of requests) {
      if (ownMs(run) > until) break
      results.set(request, await run.make(request, session))
    }
  } finally {
    run.isSerial = false
  }
  return results
}

const ownMs = (run: CheckRun): number => run.taps.reduce((sum, tap) => sum + tap.totalMs, 0)

/** Repeats a first row, and tells where it came out differently. `sessions` opens a new one. */
export async function checkReplays(run: CheckRun, first: Results, openSession: () => Promise<Session>): Promise<void> {
  const requests = [...first.keys()]
  const again = async (order: readonly CheckRequest[]): Promise<Results> => {
    return inARow(run, order, await openSession())
  }
  const found = differs(first, await again(requests)) ?? differs(first, await again(shuffled(requests, run.numbers)))
  // what it returned before it was left out counts for nothing
  if (found === null || run.taps.some(({ isOut }) => isOut)) return
  const kind = await kindOf(run, found.request, requests, again, openSession)
  tell(run, kind, found)
}

/** Tells a difference, at the tap that it comes from as far as that is known. */
export function tell(run: CheckRun, kind: FindingKind, { hook, tap, texts, request }: Difference): void {
  const wrapping = run.taps.filter((one) => one.hook === 'dispatch')
  const place: Place = hook === null && wrapping.length === 1 ? (wrapping[0] as Place) : { hook, tap }
  const [one, other] = aroundDifference(texts)
  run.findings.add(kind, place, `the same request gave ${one} once, and ${other} another time`, request.call)
}

/** characters that are shown before two texts part, and in all */
const BEFORE = 20
const SHOWN = 70

function aroundDifference([one, other]: readonly [string, string]): readonly string[] {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const from = at <= BEFORE ? 0 : at - BEFORE
  return [one, other].map((text) => `${from > 0 ? '…' : ''}${text.slice(from, from + SHOWN)}${text.length > from + SHOWN ? '…' : ''}`)
}

function differs(first: Results, second: Results): Difference | null {
  for (const [request, one] of first) {
    const other = second.get(request)
    const found = other === undefined ? null : difference(one, other)
    if (found !== null) return { ...found, request }
  }
  return null
}

/** Chance, or memory? Where chance and time stand still and the rows agree, it was chance. */
async function kindOf(
  run: CheckRun,
  request: CheckRequest,
  requests: readonly CheckRequest[],
  again: (order: readonly CheckRequest[]) => Promise<Results>,
  openSession: () => Promise<Session>,
): Promise<FindingKind> {
  run.isPinned = true
  try {
    const pinned = await again(requests)
    const same = differs(pinned, await again(requests)) ?? differs(pinned, await again(shuffled(requests, run.numbers)))
    if (same === null) {
      run.isPinned = false
      // something that was used up gives the same answer from then on; chance goes on
      return differs(await again(requests), await again(requests)) === null ? 'state_between_calls' : 'not_deterministic'
    }
    const session = await openSession()
    const row: string[] = []
    run.isSerial = true
    for (let at = 0; at < AGAIN; at++) row.push(JSON.stringify(textsOf(await run.make(request, session))))
    return looksCounted(row) ? 'state_between_calls' : 'not_deterministic'
  } finally {
    run.isPinned = false
    run.isSerial = false
  }
}

const textsOf = ({ returned, end }: Signature): readonly string[] => [...returned.map(({ text }) => text), end]
