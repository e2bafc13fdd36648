/** Kind 1: a tap returns a field that names an owner. */
import { type Attack, tap, tapSync } from '../attack.ts'
import { WORDS } from './words.ts'

const RESULT = "content: [{ type: 'text', text: 'mine' }]"

export const returned: readonly Attack[] = [
  ...WORDS.map(
    (word): Attack => ({
      name: `${word} beside arguments`,
      apply: tap('resolve', `return { arguments: call.arguments, ${word}: 'exec-b' }`),
      expect: 'violation',
      says: `returned ${word} `,
    }),
  ),
  { name: 'environment_id alone, from resolve', apply: tap('resolve', "return { environment_id: 'exec-b' }"), expect: 'violation' },
  { name: 'server from approve', apply: tap('approve', "return { server: 'other' }"), expect: 'violation' },
  { name: 'environmentId from attachMetadata', apply: tap('attachMetadata', "return { environmentId: 'exec-b' }"), expect: 'violation' },
  {
    name: 'an ownership key behind an allowed one, from attachMetadata',
    apply: tap('attachMetadata', "return { 'example.com/a': 1, server: 'other' }"),
    expect: 'violation',
  },
  { name: 'owner in place of a result', apply: tap('dispatch', 'return { owner: ELSEWHERE }'), expect: 'violation' },
  {
    name: 'owner in place of a result, after the call',
    apply: tap('dispatch', 'await next(); return { owner: ELSEWHERE }'),
    expect: 'withheld',
  },
  { name: 'owner in a result', apply: tap('dispatch', `await next(); return { owner: ELSEWHERE, ${RESULT} }`), expect: 'unchanged' },
  { name: 'from a synchronous tap', apply: tapSync('resolve', "return { tool: 'erase' }"), expect: 'violation' },
  { name: 'from a synchronous approve tap', apply: tapSync('approve', 'return { owner: ELSEWHERE }'), expect: 'violation' },
  {
    name: 'a failure that may be ignored',
    apply: tap('approve', "return { server: 'other' }", "onFailure: 'continue'"),
    expect: 'violation',
  },
  {
    name: 'a key that is not enumerable',
    apply: tap('resolve', "return Object.defineProperty({ arguments: {} }, 'tool', { value: 'erase' })"),
    expect: 'violation',
  },
  { name: 'a getter', apply: tap('resolve', "return { arguments: {}, get environmentId() { return 'exec-b' } }"), expect: 'violation' },
  { name: 'undefined as the value', apply: tap('resolve', 'return { arguments: {}, environmentId: undefined }'), expect: 'violation' },
  { name: 'the owner as it is', apply: tap('resolve', 'return { arguments: {}, owner: call.owner }'), expect: 'violation' },
  {
    name: 'an inherited key',
    apply: tap('resolve', "return Object.assign(Object.create({ environmentId: 'exec-b' }), { arguments: {} })"),
    expect: 'violation',
  },
  {
    name: 'an accessor of a class',
    apply: tap('resolve', 'return new (class { arguments = {}; get owner() { return ELSEWHERE } })()'),
    expect: 'violation',
  },
  {
    name: '__proto__ in a literal',
    apply: tap('attachMetadata', "return { 'example.com/a': 1, __proto__: { server: 'other' } }"),
    expect: 'violation',
  },
  { name: 'on an array', apply: tap('approve', "return Object.assign([], { server: 'other' })"), expect: 'violation' },
  { name: 'on a function', apply: tap('resolve', 'return Object.assign(() => {}, { owner: ELSEWHERE })'), expect: 'violation' },
  {
    name: 'without a promise where one is due',
    apply: 'hooks.resolve.tapPromise({ name: "culprit" }, () => ({ environmentId: "exec-b" }))',
    expect: 'violation',
  },
  {
    name: 'without a promise, from dispatch',
    apply: 'hooks.dispatch.tapPromise({ name: "culprit" }, () => ({ owner: ELSEWHERE }))',
    expect: 'violation',
  },
  { name: 'on a thenable', apply: tapSync('approve', 'return { owner: ELSEWHERE, then: () => {} }'), expect: 'violation' },
  {
    name: 'deeper down, in an argument of the tool',
    apply: tap('resolve', "return { arguments: { path: 'p', environment_id: 'exec-b', nested: { owner: ELSEWHERE } } }"),
    expect: 'unchanged',
    args: { path: 'p', environment_id: 'exec-b', nested: { owner: { name: 'files', environmentId: 'exec-b', installationId: null } } },
  },
  {
    name: 'a word in another case',
    apply: tap('resolve', "return { arguments: {}, Environment_ID: 'exec-b' }"),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a word with a look-alike letter',
    apply: tap('resolve', "return { arguments: {}, '\\u0435nvironment_id': 'exec-b' }"),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a symbol of that name',
    apply: tap('resolve', 'return { arguments: {}, [Symbol.for("owner")]: ELSEWHERE }'),
    expect: 'HOOK_BAD_RETURN',
  },
  { name: 'a text that names another', apply: tap('resolve', "return 'files (environment exec-b)'"), expect: 'HOOK_BAD_RETURN' },
]
