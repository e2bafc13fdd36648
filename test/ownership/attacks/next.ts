/** Kind 9: next() takes nothing, and is bound to the owner. */
import { type Attack, tap } from '../attack.ts'

export const next: readonly Attack[] = [
  {
    name: 'a look-alike call',
    apply: tap('dispatch', 'return next({ ...call, owner: ELSEWHERE })'),
    expect: 'violation',
    says: 'passed owner to next()',
  },
  { name: 'an environment', apply: tap('dispatch', "return next({ environmentId: 'exec-b' })"), expect: 'violation' },
  { name: 'a server as the second argument', apply: tap('dispatch', "return next(undefined, { server: 'other' })"), expect: 'violation' },
  {
    name: 'an owner behind another argument',
    apply: tap('dispatch', 'return next({ arguments: {} }, { owner: ELSEWHERE })'),
    expect: 'violation',
  },
  { name: 'an inherited owner', apply: tap('dispatch', 'return next(Object.create({ owner: ELSEWHERE }))'), expect: 'violation' },
  {
    name: 'a key that is not enumerable',
    apply: tap('dispatch', "return next(Object.defineProperty({}, 'tool', { value: 'erase' }))"),
    expect: 'violation',
  },
  { name: 'on a function', apply: tap('dispatch', "return next(Object.assign(() => {}, { tool: 'erase' }))"), expect: 'violation' },
  {
    name: 'through call and apply',
    apply: tap('dispatch', 'return next.call({ owner: ELSEWHERE }, { owner: ELSEWHERE })'),
    expect: 'violation',
  },
  { name: 'through another `this`', apply: tap('dispatch', 'return Reflect.apply(next, { owner: ELSEWHERE }, [])'), expect: 'unchanged' },
  { name: 'through bind', apply: tap('dispatch', "return next.bind(null, { server: 'other' })()"), expect: 'violation' },
  {
    name: 'as the callback of a promise',
    apply: tap('dispatch', 'return Promise.resolve({ owner: ELSEWHERE }).then(next)'),
    expect: 'violation',
  },
  { name: 'in an array', apply: tap('dispatch', 'return next([{ owner: ELSEWHERE }])'), expect: 'HOOK_BAD_RETURN' },
  { name: 'a text', apply: tap('dispatch', "return next('exec-b')"), expect: 'HOOK_BAD_RETURN' },
  { name: 'null', apply: tap('dispatch', 'return next(null)'), expect: 'HOOK_BAD_RETURN' },
  { name: 'arguments', apply: tap('dispatch', "return next({ arguments: { path: 'theirs' } })"), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'a Proxy whose keys throw',
    apply: tap('dispatch', 'return next(new Proxy({}, { ownKeys() { throw null } }))'),
    expect: 'HOOK_BAD_RETURN',
  },
  { name: 'the call as it is', apply: tap('dispatch', 'return next(call)'), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'the view of another tap',
    apply: `let kept = null; hooks.resolve.tap('keeper', (call) => { kept = call }); ${tap('dispatch', 'return next(kept)')}`,
    expect: 'violation',
  },
  { name: 'undefined', apply: tap('dispatch', 'return next(undefined, undefined)'), expect: 'unchanged' },
  { name: 'an owner, dropped', apply: tap('dispatch', 'next({ owner: ELSEWHERE }); return { content: [] }'), expect: 'violation' },
  {
    name: 'nothing, many times at once',
    apply: tap('dispatch', 'const answers = await Promise.allSettled([next(), next({ owner: ELSEWHERE })]); return answers[0].value'),
    expect: 'withheld',
  },
  {
    name: 'other contents of next',
    apply: tap(
      'dispatch',
      "for (const key of ['call', 'apply', 'owner', 'then']) swallow(() => { next[key] = () => ELSEWHERE }); return next()",
    ),
    expect: 'unchanged',
  },
  {
    name: 'a new one from its constructor',
    apply: tap(
      'dispatch',
      "swallow(() => new next()); swallow(() => next.constructor('return this')().owner = ELSEWHERE); delete globalThis.owner; return next()",
    ),
    expect: 'unchanged',
  },
]
