/** Kind 6: look-alikes of calls, keys, verdicts, promises and errors. */
import { type Attack, tap, tapSync } from '../attack.ts'

export const forgeries: readonly Attack[] = [
  {
    name: 'a copy of the call with another owner',
    apply: tap('resolve', 'return { ...call, owner: ELSEWHERE, arguments: {} }'),
    expect: 'violation',
  },
  { name: 'the call itself', apply: tap('resolve', 'return call'), expect: 'violation' },
  { name: 'the owner itself', apply: tap('approve', 'return call.owner'), expect: 'violation' },
  {
    name: 'a Proxy of the call that says another owner',
    apply: tap('resolve', "return new Proxy(call, { get: (target, key) => (key === 'owner' ? ELSEWHERE : undefined) })"),
    expect: 'violation',
  },
  {
    name: 'a write through a Proxy of the call',
    apply: tap(
      'resolve',
      'swallow(() => { new Proxy(call, {}).owner = ELSEWHERE }); swallow(() => { new Proxy(call.owner, {}).environmentId = "exec-b" })',
    ),
    expect: 'unchanged',
  },
  {
    name: 'a Proxy with keys that throw',
    apply: tap('resolve', 'return new Proxy({}, { ownKeys() { throw null } })'),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a Proxy with keys that throw, from dispatch',
    apply: tap('dispatch', 'return new Proxy({}, { ownKeys() { throw null } })'),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a Proxy without an end of prototypes',
    apply: tap('resolve', 'const endless = () => new Proxy({}, { getPrototypeOf: endless }); return endless()'),
    expect: 'HOOK_BAD_RETURN',
  },
  { name: 'a verdict that was made up', apply: tap('approve', "return { kind: 'allow' }"), expect: 'HOOK_BAD_RETURN' },
  { name: 'a Proxy of a verdict', apply: tap('approve', 'return new Proxy(allow(), {})'), expect: 'HOOK_BAD_RETURN' },
  { name: 'an object that inherits from a verdict', apply: tap('approve', 'return Object.create(allow())'), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'a verdict of a kind of its own',
    apply: tap('approve', "globalThis.saw = allow().constructor === Object; return new (allow().constructor)('allow')"),
    expect: 'HOOK_BAD_RETURN',
    check: ({ saw }) => {
      if (saw !== true) throw new Error('the class of verdicts can be reached')
    },
  },
  { name: 'a verdict in place of a result', apply: tap('dispatch', 'return allow()'), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'a then that is there at the second look',
    apply: tap('resolve', 'let looks = 0; return { get then() { if (looks++ > 0) throw null }, arguments: {} }'),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a then that is there at the second look, from dispatch',
    apply: tap('dispatch', 'let looks = 0; return { get then() { if (looks++ > 0) throw null }, content: [] }'),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'arguments that change with every look',
    apply: tap('resolve', 'let looks = 0; return { get arguments() { return { path: `look ${looks++}` } } }'),
    expect: 'unchanged',
    args: { path: 'look 0' },
  },
  {
    name: 'a getter that throws',
    apply: tap(
      'resolve',
      "return { get arguments() { throw new TaplineError('HOOK_CHANGED_OWNER', 'witness did it', { tap: 'witness first', plugin: 'witness', hook: 'approve', callId: call.id }) } }",
    ),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a getter that throws a refusal of another',
    apply: tap(
      'resolve',
      "return { get arguments() { throw new TaplineError('CALL_REFUSED', 'witness did it', { tap: 'witness first', plugin: 'witness', callId: call.id, data: { by: 'tap', reason: 'witness' } }) } }",
    ),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a getter that throws a refusal, where a failure may be ignored',
    apply: tap(
      'attachMetadata',
      "return { get 'example.com/a'() { throw new TaplineError('CALL_REFUSED', 'x', { callId: call.id }) } }",
      "onFailure: 'continue'",
    ),
    expect: 'unchanged',
  },
  {
    name: 'toJSON of arguments that names an owner',
    apply: tap('resolve', "return { arguments: { toJSON: () => ({ path: 'json', owner: 'x' }) } }"),
    expect: 'unchanged',
    args: { path: 'json', owner: 'x' },
  },
  {
    name: 'toJSON that writes',
    apply: tap('resolve', "return { arguments: { toJSON() { swallow(() => { call.tool = 'erase' }); return { path: 'json' } } } }"),
    expect: 'violation',
  },
  {
    name: 'a getter that writes',
    apply: tap('resolve', "return { get arguments() { swallow(() => { call.tool = 'erase' }); return { path: 'p' } } }"),
    expect: 'violation',
  },
  {
    name: 'toJSON of a result that writes',
    apply: tap('dispatch', "return { content: [], toJSON() { swallow(() => { call.tool = 'erase' }); return { content: [] } } }"),
    expect: 'violation',
  },
  {
    name: 'a getter that throws after it wrote, where a failure may be ignored',
    apply: tap('resolve', "return { get arguments() { swallow(() => { call.tool = 'erase' }); throw null } }", "onFailure: 'continue'"),
    expect: 'violation',
  },
  {
    name: 'an error of ours that blames another tap',
    apply: tap(
      'approve',
      "throw new TaplineError('HOOK_CHANGED_OWNER', 'tap \"witness first\" did it', { tap: 'witness first', plugin: 'witness', hook: 'resolve', callId: call.id, data: { key: 'owner' } })",
    ),
    expect: 'stopped',
    check: ({ ended }) => {
      if (ended['tap'] === 'witness first' || ended['plugin'] === 'witness') throw new Error('the wrong one is blamed')
    },
  },
  {
    name: 'an error of ours that is another end',
    apply: tap('approve', "throw Object.assign(new TaplineError('HOOK_BAD_RETURN', 'x', { callId: call.id }), { code: 'CALL_CANCELLED' })"),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'a thrown Proxy whose every trap throws',
    apply: tap('approve', 'throw new Proxy({}, new Proxy({}, { get() { throw null } }))'),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'a thrown Proxy whose every trap throws, from dispatch',
    apply: tap('dispatch', 'throw new Proxy({}, new Proxy({}, { get() { throw null } }))'),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'a thrown Proxy, synchronously',
    apply: tapSync('approve', 'throw new Proxy({}, new Proxy({}, { get() { throw null } }))'),
    expect: 'HOOK_FAILED',
  },
  { name: 'thrown null', apply: tap('dispatch', 'throw null'), expect: 'HOOK_FAILED' },
  {
    name: 'an error with a message that throws',
    apply: tap('dispatch', 'throw Object.defineProperty(new Error(), "message", { get() { throw null } })'),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'a promise with a then of its own',
    apply:
      'hooks.resolve.tapPromise({ name: "culprit" }, () => Object.assign(Promise.resolve({ tool: "erase" }), { then: (yes) => yes(undefined) }))',
    expect: 'violation',
  },
  {
    name: 'a subclass of Promise with a then of its own',
    apply:
      'class Odd extends Promise { then(yes) { return yes(undefined) } }; hooks.resolve.tapPromise({ name: "culprit" }, () => Odd.resolve({ tool: "erase" }))',
    expect: 'violation',
  },
  {
    name: 'a promise whose constructor throws',
    apply:
      'hooks.approve.tapPromise({ name: "culprit" }, (call) => { swallow(() => { call.tool = "erase" }); return Object.defineProperty(Promise.resolve(), "constructor", { get() { throw new Error("no constructor") } }) })',
    expect: 'violation',
  },
  {
    name: 'the same without an attempt',
    apply:
      'hooks.approve.tapPromise({ name: "culprit" }, () => Object.defineProperty(Promise.resolve(), "constructor", { get() { throw null } }))',
    expect: 'HOOK_FAILED',
  },
  {
    name: 'the same from dispatch, where a failure may be ignored',
    apply:
      'hooks.dispatch.tapPromise({ name: "culprit", timeoutMs: 40, onFailure: "continue" }, () => Object.defineProperty(Promise.resolve({ content: [] }), "constructor", { get() { throw null } }))',
    expect: 'unchanged',
    waitMs: 150,
  },
  {
    name: 'a species that throws, from dispatch',
    apply:
      'hooks.dispatch.tapPromise({ name: "culprit", timeoutMs: 40 }, (call) => { swallow(() => { call.tool = "erase" }); return Object.assign(Promise.resolve({ content: [] }), { constructor: { [Symbol.species]: class { constructor() { throw null } } } }) })',
    expect: 'violation',
    waitMs: 150,
  },
  {
    name: 'a thenable',
    apply: 'hooks.resolve.tapPromise({ name: "culprit" }, () => ({ then: (yes) => yes({ tool: "erase" }) }))',
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'an object that only inherits from Promise',
    apply: 'hooks.resolve.tapPromise({ name: "culprit" }, () => Object.create(Promise.prototype))',
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a promise for a thenable for an owner',
    apply: tap('resolve', "return { then: (yes) => yes({ environmentId: 'exec-b' }) }"),
    expect: 'violation',
  },
  {
    name: 'a Proxy of a promise',
    apply: 'hooks.resolve.tapPromise({ name: "culprit" }, () => new Proxy(Promise.resolve({ tool: "erase" }), {}))',
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'Symbol.toPrimitive in a reason',
    apply: tap(
      'approve',
      "swallow(() => deny({ [Symbol.toPrimitive]: () => { globalThis.saw = true; return 'x' } })); swallow(() => ask({ toString: () => 'x' }))",
    ),
    expect: 'unchanged',
    check: ({ saw }) => {
      if (saw) throw new Error('it was converted')
    },
  },
  {
    name: 'an owner that equals everything',
    apply: tap(
      'resolve',
      "globalThis.saw = [call.owner.equals(ELSEWHERE), call.owner.equals({ get name() { return call.owner.name }, environmentId: 'exec-a', installationId: null }), call.owner.equals(new Proxy(ELSEWHERE, {}))]",
    ),
    expect: 'unchanged',
    check: ({ saw }) => {
      if (String(saw) !== 'false,true,false') throw new Error(String(saw))
    },
  },
  {
    name: 'a request with a key that was made up',
    apply: '',
    drive:
      'const { owner } = (await session.listTools()).tools[0]; const forged = new owner.constructor({ name: "files", environmentId: "exec-b", installationId: null }); const outcome = await session.callTool({ owner: forged, tool: "write", arguments: {} }); return { ...outcome, forModel: {}, owner: outcome.owner ?? "files (environment exec-a)" }',
    expect: 'stopped',
  },
]
