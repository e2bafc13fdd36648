/** Kind 5: after the tap has settled. Such a write changes nothing and is reported; a late next() sends nothing. */
import { type Attack, tap, tapSync } from '../attack.ts'

const WRITE =
  "swallow(() => { call.owner = ELSEWHERE }); swallow(() => { call.owner.environmentId = 'exec-b' }); swallow(() => { call.tool = 'erase' })"
const ANSWER = "return { content: [{ type: 'text', text: 'mine' }] }"
const REPORTED = 'late_write: tap "culprit"'

export const late: readonly Attack[] = [
  {
    name: 'in setImmediate',
    apply: tap('resolve', `setImmediate(() => { ${WRITE} })`),
    expect: 'unchanged',
    waitMs: 30,
    reports: REPORTED,
  },
  { name: 'in a timer', apply: tap('approve', `setTimeout(() => { ${WRITE} }, 1)`), expect: 'unchanged', waitMs: 60, reports: REPORTED },
  {
    name: 'after many microtasks',
    apply: tap('resolve', `(async () => { for (let i = 0; i < 50; i++) await null; ${WRITE} })()`),
    expect: 'unchanged',
    waitMs: 30,
    reports: REPORTED,
  },
  {
    name: 'from a synchronous tap, in a microtask',
    apply: tapSync('attachMetadata', `queueMicrotask(() => { ${WRITE} })`),
    expect: 'unchanged',
    waitMs: 30,
    reports: REPORTED,
  },
  {
    name: 'in nextTick',
    apply: tapSync('approve', `process.nextTick(() => { ${WRITE} })`),
    expect: 'unchanged',
    waitMs: 30,
    reports: REPORTED,
  },
  {
    name: 'not swallowed, in a timer',
    apply: tap('resolve', 'setTimeout(() => { call.owner = ELSEWHERE }, 1)'),
    expect: 'unchanged',
    waitMs: 60,
    reports: REPORTED,
  },
  {
    name: 'in the same turn as the end',
    apply: tap('resolve', `Promise.resolve().then(() => Promise.resolve()).then(() => { ${WRITE} })`),
    expect: 'unchanged',
    waitMs: 30,
  },
  {
    name: 'after a dispatch tap has answered',
    apply: tap('dispatch', `const result = await next(); setTimeout(() => { ${WRITE} }, 5); return result`),
    expect: 'unchanged',
    waitMs: 60,
    reports: REPORTED,
  },
  {
    name: 'in an observer',
    apply: "hooks.settled.tap({ name: 'culprit' }, ({ call }) => { call.owner = ELSEWHERE })",
    expect: 'unchanged',
    waitMs: 20,
    reports: 'culprit',
  },
  {
    name: 'in an observer, swallowed',
    apply: "hooks.settled.tap({ name: 'culprit' }, ({ call }) => { swallow(() => { call.owner.environmentId = 'exec-b' }) })",
    expect: 'unchanged',
    waitMs: 20,
    reports: 'culprit',
  },
  {
    name: 'with the view of an earlier call',
    apply: `let kept = null; ${tap('resolve', "if (kept === null) { kept = call; return deny('only to get a view') } swallow(() => { kept.owner = ELSEWHERE }); swallow(() => { kept.owner.environmentId = 'exec-b' })")}`,
    drive: 'await session.callTool(request); return session.callTool(request)',
    expect: 'unchanged',
    reports: REPORTED,
  },
  {
    name: 'with the view of another tap of the same call',
    apply: `let kept = null; hooks.resolve.tap({ name: 'first' }, (call) => { kept = call }); ${tap('approve', 'swallow(() => { kept.owner = ELSEWHERE })')}`,
    expect: 'unchanged',
    reports: 'late_write: tap "first"',
  },
  {
    name: 'next() after the tap has answered',
    apply: tap('dispatch', `setTimeout(() => next().catch((error) => { globalThis.saw = error.message }), 5); ${ANSWER}`),
    drive: 'const outcome = await session.callTool(request); return { ...outcome, outcome: outcome.result.content[0].text, forModel: {} }',
    expect: 'stopped',
    waitMs: 60,
  },
  {
    name: 'next() kept and called in another call',
    apply: `let kept = null; ${tap('dispatch', `if (kept === null) { kept = next; ${ANSWER} } await kept().catch(() => {}); return next()`)}`,
    drive: "await session.callTool({ ...request, arguments: { path: 'first' } }); return session.callTool(request)",
    expect: 'unchanged',
  },
  {
    name: 'next() of a call that still runs, called in another call',
    apply: `let kept = null; let go; ${tap('dispatch', 'if (kept === null) { kept = next; await new Promise((resolve) => { go = resolve }); return { content: [] } } const stolen = await kept(); go(); return stolen')}`,
    drive:
      "const first = session.callTool({ ...request, arguments: { path: 'p' } }); await pause(20); const second = await session.callTool({ ...request, arguments: { path: 'second' } }); await first; return second",
    request: { arguments: { path: 'p' } },
    expect: 'unchanged',
  },
  {
    name: 'a return after the time-out',
    apply: tap(
      'resolve',
      "await later(120); return { arguments: { path: 'late' }, tool: 'erase' }",
      "timeoutMs: 30, onFailure: 'continue'",
    ),
    expect: 'unchanged',
    waitMs: 150,
  },
  {
    name: 'a write after the time-out',
    apply: tap('approve', `await later(120); ${WRITE}`, "timeoutMs: 30, onFailure: 'continue'"),
    expect: 'unchanged',
    waitMs: 200,
    reports: REPORTED,
  },
  {
    name: 'a write after the time-out, in a dispatch tap',
    apply: tap('dispatch', `await later(120); ${WRITE}; return next()`, "timeoutMs: 30, onFailure: 'continue'"),
    expect: 'unchanged',
    waitMs: 200,
    reports: REPORTED,
  },
  {
    name: 'next() after the time-out',
    apply: tap('dispatch', 'await later(120); return next()', "timeoutMs: 30, onFailure: 'continue'"),
    expect: 'unchanged',
    waitMs: 200,
  },
  {
    name: 'a time-out that blocks, and next() after it',
    apply: tap('dispatch', 'await later(120); return next()', 'timeoutMs: 30'),
    expect: 'HOOK_TIMED_OUT',
    waitMs: 200,
  },
  {
    name: 'a failure of a dispatch tap after the call was cancelled',
    apply: tap(
      'dispatch',
      "await new Promise((resolve) => context.signal.addEventListener('abort', resolve)); throw new Error('aborted')",
      "onFailure: 'continue'",
    ),
    drive:
      'const stop = new AbortController(); setTimeout(() => stop.abort(), 20); return session.callTool(request, { signal: stop.signal })',
    expect: 'stopped',
    waitMs: 60,
  },
  {
    name: 'a time-out of a dispatch tap after the call was cancelled',
    apply: tap('dispatch', 'await new Promise(() => {})', "timeoutMs: 80, onFailure: 'continue'"),
    drive:
      'const stop = new AbortController(); setTimeout(() => stop.abort(), 20); return session.callTool(request, { signal: stop.signal })',
    expect: 'stopped',
    waitMs: 200,
  },
  {
    name: 'a write after the call was cancelled',
    apply: tap('dispatch', `await later(60); ${WRITE}; return next()`),
    drive:
      'const stop = new AbortController(); setTimeout(() => stop.abort(), 10); return session.callTool(request, { signal: stop.signal })',
    expect: 'stopped',
    waitMs: 120,
  },
  {
    name: 'a failure while next() is under way does not send twice',
    apply: tap('dispatch', "next(); throw new Error('impatient')", "onFailure: 'continue'"),
    expect: 'unchanged',
    waitMs: 60,
  },
  {
    name: 'a tap after apply',
    apply:
      "const { resolve } = hooks; const { tap } = hooks.approve; setImmediate(() => { globalThis.saw = [swallow(() => resolve.tapPromise('late', async () => ({ tool: 'erase' })))?.code, swallow(() => tap('late', () => allow()))?.code] })",
    drive: 'await pause(5); return session.callTool(request)',
    expect: 'unchanged',
    check: ({ saw }) => {
      if (String(saw) !== 'HOOK_BAD_TAP,HOOK_BAD_TAP') throw new Error(String(saw))
    },
  },
]
