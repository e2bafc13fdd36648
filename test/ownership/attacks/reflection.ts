/** Kind 3: prototypes and reflection. Nothing of this may ever take effect; what is an assignment as well is told. */
import { type Attack, inEveryHook, tap } from '../attack.ts'

const EVERYTHING = `
  for (const target of [call, call.owner, call.authority]) {
    for (const object of [target, Object.getPrototypeOf(target)]) {
      for (const [key, descriptor] of Object.entries({ owner: { value: ELSEWHERE }, environmentId: { get: () => 'exec-b' }, tool: { value: 'erase' }, name: { value: 'other' }, toJSON: { value: () => ELSEWHERE } })) {
        swallow(() => Object.defineProperty(object, key, { configurable: true, ...descriptor }))
        swallow(() => Reflect.defineProperty(object, key, { configurable: true, ...descriptor }))
      }
      swallow(() => Object.setPrototypeOf(object, { owner: ELSEWHERE, environmentId: 'exec-b' }))
      swallow(() => Reflect.setPrototypeOf(object, null))
      swallow(() => { object.__proto__ = { owner: ELSEWHERE } })
      swallow(() => Object.defineProperties(object, { owner: { value: ELSEWHERE } }))
    }
  }`

/** Adds to Object.prototype while another call is made, and takes it away again. */
const polluted = (fields: string): string => `
  const fields = ${fields}
  for (const [key, value] of Object.entries(fields)) Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true })
  `

export const reflection: readonly Attack[] = [
  ...inEveryHook('defineProperty and setPrototypeOf on all there is', EVERYTHING, 'unchanged'),
  {
    name: 'defineProperty, not swallowed',
    apply: tap('resolve', "Object.defineProperty(call, 'owner', { value: ELSEWHERE })"),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'setPrototypeOf, not swallowed',
    apply: tap('attachMetadata', 'Object.setPrototypeOf(call, { owner: ELSEWHERE })'),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'the constructor',
    apply: tap(
      'resolve',
      'globalThis.saw = [call, call.owner, call.authority, context].map((one) => one.constructor === Object || one.constructor)',
    ),
    expect: 'unchanged',
    check: ({ saw }) => same(saw.slice(0, 3), [true, true, true]),
  },
  {
    name: 'the constructor of a context',
    apply: tap(
      'resolve',
      "swallow(() => { context.constructor.end = () => {} }); swallow(() => Object.defineProperty(context.constructor.prototype, 'log', { value() {} }))",
    ),
    expect: 'unchanged',
  },
  {
    name: 'setters found through descriptors',
    apply: tap(
      'resolve',
      'const { set } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(call)).owner; swallow(() => set.call(call, ELSEWHERE))',
    ),
    expect: 'violation',
  },
  {
    name: 'setters of all fields on foreign objects',
    apply: tap(
      'resolve',
      'for (const { set } of Object.values(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(call)))) for (const one of [{}, null, 1, new Proxy(call, {}), context]) swallow(() => set?.call(one, ELSEWHERE))',
    ),
    expect: 'unchanged',
  },
  {
    name: 'getters redefined on their own functions',
    apply: tap(
      'resolve',
      'const { get } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(call)).owner; swallow(() => { get.call = () => ELSEWHERE; get.apply = () => ELSEWHERE })',
    ),
    expect: 'unchanged',
  },
  {
    name: '__defineSetter__ and __defineGetter__',
    apply: tap(
      'resolve',
      "swallow(() => call.__defineSetter__('owner', () => {})); swallow(() => call.__defineGetter__('owner', () => ELSEWHERE)); swallow(() => call.owner.__defineGetter__('environmentId', () => 'exec-b'))",
    ),
    expect: 'unchanged',
  },
  {
    name: '__lookupSetter__',
    apply: tap('resolve', "swallow(() => call.__lookupSetter__('owner').call(call, ELSEWHERE))"),
    expect: 'violation',
  },
  {
    name: 'the tap as a method of the core',
    apply: 'hooks.resolve.tapPromise({ name: "culprit" }, async function () { "use strict"; globalThis.saw = this === undefined })',
    expect: 'unchanged',
    check: ({ saw }) => same(saw, true),
  },
  {
    name: 'the synchronous tap as a method of the core',
    apply: 'hooks.approve.tap({ name: "culprit" }, function () { "use strict"; globalThis.saw = this === undefined })',
    expect: 'unchanged',
    check: ({ saw }) => same(saw, true),
  },
  {
    name: 'the dispatch tap as a method of the core',
    apply:
      'hooks.dispatch.tapPromise({ name: "culprit" }, async function (call, next) { "use strict"; globalThis.saw = this === undefined; return next() })',
    expect: 'unchanged',
    check: ({ saw }) => same(saw, true),
  },
  {
    name: 'the observer as a method of the core',
    apply: 'hooks.settled.tap({ name: "culprit" }, function () { "use strict"; globalThis.saw = this === undefined })',
    expect: 'unchanged',
    check: ({ saw }) => same(saw, true),
  },
  {
    name: 'the step itself, taken from `this`, with other methods',
    apply: tap(
      'resolve',
      `
      const step = this
      swallow(() => { step.name = 'innocent'; step.plugin = 'innocent'; step.settled = () => {}; step.failed = () => {} })
      swallow(() => { Object.getPrototypeOf(step).settled = () => {} })
      swallow(() => { Object.getPrototypeOf(step).applies = (run) => { globalThis.run = run; return true } })
      swallow(() => { call.owner = ELSEWHERE })`,
    ),
    expect: 'violation',
    isolated: true,
  },
  {
    name: 'Object.prototype with the owner words, during the call',
    apply: tap(
      'resolve',
      polluted(
        "{ owner: ELSEWHERE, server: 'other', environmentId: 'exec-b', environment_id: 'exec-b', environment: 'exec-b', tool: 'erase', toolName: 'erase', key: ELSEWHERE, installationId: 'x', namespace: 'other' }",
      ),
    ),
    expect: 'unchanged',
    isolated: true,
  },
  {
    name: 'Object.prototype with environmentId, before a call that names none',
    apply: polluted("{ environmentId: 'exec-b', installationId: null }"),
    drive:
      "const outcome = await session.callTool({ server: 'files', tool: 'write', arguments: {} }); return { ...outcome, forModel: {}, owner: outcome.code === 'AMBIGUOUS_SERVER' ? 'files (environment exec-a)' : outcome.owner }",
    expect: 'stopped',
    isolated: true,
  },
  {
    name: 'Object.prototype with server, owner and name, before a call',
    apply: polluted("{ server: 'other', name: 'files__exec-b__write', tool: 'erase', arguments: { path: 'theirs' } }"),
    drive: "return session.callTool({ server: 'files', environmentId: 'exec-a', tool: 'write' })",
    request: { arguments: {} },
    expect: 'unchanged',
    isolated: true,
  },
  {
    name: 'Object.prototype with environmentId, before a read that names none',
    apply: polluted("{ environmentId: 'exec-b' }"),
    drive:
      "try { await session.readResource({ server: 'files', uri: 'x://one' }) } catch (error) { return { ...error, outcome: 'stopped', message: error.message, owner: 'files (environment exec-a)' } } return { outcome: 'completed', owner: 'files (environment exec-a)' }",
    request: { tool: 'x://one' },
    expect: 'stopped',
    isolated: true,
  },
  {
    name: 'Object.prototype with the filters of taps does not silence a guard',
    apply: `${polluted("{ environments: ['nowhere'], servers: ['nothing'], tools: ['nothing'] }")}; hooks.approve.tap('culprit', () => deny('seen'))`,
    expect: 'stopped',
    isolated: true,
    check: ({ ended }) => same(ended['by'], 'tap'),
  },
  {
    name: 'accessors on Object.prototype that take what is assigned',
    apply: tap(
      'resolve',
      "for (const key of ['owner', 'call', 'located', 'violation', 'key']) { let kept; Object.defineProperty(Object.prototype, key, { configurable: true, get: () => kept, set(value) { (globalThis.taken ??= []).push(key); kept = value } }) }; swallow(() => { call.tool = 'erase' })",
    ),
    expect: 'violation',
    isolated: true,
  },
  {
    name: 'functions that a write runs, patched for its moment',
    apply: tap(
      'approve',
      "const { freeze, defineProperty } = Object; const { prepareStackTrace } = Error; Object.freeze = Object.defineProperty = Error.prepareStackTrace = () => { throw null }; swallow(() => { call.tool = 'erase' }); Object.freeze = freeze; Object.defineProperty = defineProperty; Error.prepareStackTrace = prepareStackTrace",
    ),
    expect: 'violation',
    isolated: true,
  },
  {
    name: 'functions that read a return, patched',
    apply: tap(
      'resolve',
      "Reflect.ownKeys = () => ['arguments']; Reflect.getPrototypeOf = () => null; Array.prototype.find = () => undefined; return { arguments: {}, environment_id: 'exec-b' }",
    ),
    expect: 'violation',
    isolated: true,
  },
  {
    name: 'util.types, patched',
    top: "process.getBuiltinModule('node:util').types.isPromise = () => false",
    apply: tap('resolve', "return { tool: 'erase' }"),
    expect: 'violation',
    isolated: true,
  },
]

function same(a: unknown, b: unknown): void {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${JSON.stringify(a)} is not ${JSON.stringify(b)}`)
}
