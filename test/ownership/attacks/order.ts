/** Kind 7: stages, `before`, and ways around the ports to what stands in front of the resolver or behind the policy. */
import { type Attack, tap } from '../attack.ts'

const BAD_STAGES = {
  Infinity: 'Infinity',
  '-Infinity': '-Infinity',
  NaN: 'NaN',
  'beyond the limit': '1e6 + 1',
  'a text': "'-1'",
  'an object': '{ valueOf: () => -Infinity }',
  'a BigInt': '1n',
  null: 'null',
}
const BUILT_IN = ['tapline:resolve', 'tapline:approve', 'resolver', 'policy', '0/tapline/resolve', '']

export const order: readonly Attack[] = [
  ...Object.entries(BAD_STAGES).map(
    ([name, stage]): Attack => ({
      name: `stage ${name}`,
      apply: tap('resolve', "return { tool: 'erase' }", `stage: ${stage}`),
      expect: 'HOOK_BAD_TAP',
    }),
  ),
  ...BUILT_IN.map(
    (name): Attack => ({
      name: `before ${JSON.stringify(name)}`,
      apply: tap('resolve', '', `before: ${JSON.stringify(name)}`),
      expect: 'HOOK_BAD_TAP',
    }),
  ),
  {
    name: 'before a list with a built-in in it',
    apply: `hooks.resolve.tap('other', () => {}); ${tap('resolve', '', "before: ['other', 'tapline:resolve']")}`,
    expect: 'HOOK_BAD_TAP',
  },
  {
    name: 'a tap that has the name of a built-in',
    apply: `hooks.resolve.tap('tapline:resolve', () => {}); ${tap('resolve', 'return { tool: call.tool }', "before: 'tapline:resolve', stage: -1e6")}`,
    expect: 'violation',
  },
  {
    name: 'as early as can be, the owner is there',
    apply: tap('resolve', 'globalThis.saw = [String(call.owner), call.tool]', 'stage: -1e6'),
    expect: 'unchanged',
    check: ({ saw }) => {
      if (String(saw) !== 'files (environment exec-a),write') throw new Error(String(saw))
    },
  },
  {
    name: 'allow at the last moment does not come after the policy',
    apply: `hooks.approve.tap({ name: 'guard', stage: -1e6 }, () => deny('no')); ${tap('approve', 'return allow()', 'stage: 1e6')}`,
    expect: 'stopped',
    check: ({ ended }) => {
      if (ended['by'] !== 'tap') throw new Error(String(ended['by']))
    },
  },
  {
    name: 'a stage that changes with every look',
    apply:
      "let looks = 0; hooks.resolve.tapPromise({ name: 'culprit', get stage() { return looks++ === 0 ? 0 : -Infinity } }, async (call) => { call.tool = 'erase' })",
    expect: 'violation',
  },
  {
    name: 'a name that changes with every look',
    apply:
      "let looks = 0; hooks.resolve.tapPromise({ get name() { return looks++ === 0 ? 'culprit' : 'witness first' } }, async (call) => { call.tool = 'erase' })",
    expect: 'violation',
  },
  {
    name: 'a circle of before',
    apply: `hooks.resolve.tap({ name: 'other', before: 'culprit' }, () => {}); ${tap('resolve', '', "before: 'other'")}`,
    expect: 'HOOK_BAD_TAP',
    tap: 'other',
  },
  { name: 'options of tapable', apply: tap('resolve', '', "fn: () => {}, type: 'sync', context: true"), expect: 'HOOK_BAD_TAP' },
  {
    name: 'the ports hold nothing but tap and tapPromise',
    apply:
      "globalThis.saw = Object.entries(hooks).map(([name, port]) => [name, ...Reflect.ownKeys(port), Object.getPrototypeOf(port) === Object.prototype, Object.isFrozen(port)].join(' '))",
    expect: 'unchanged',
    check: ({ saw }) => {
      if (saw.some((one: string) => !/^(resolve|approve|attachMetadata|dispatch|settled) tap tapPromise true true$/.test(one)))
        throw new Error(saw.join())
    },
  },
  {
    name: 'ports and their functions with other contents',
    apply: `swallow(() => { hooks.approve = {} }); swallow(() => { hooks.approve.tap = () => {} }); swallow(() => { hooks.intercept = {} }); swallow(() => Object.setPrototypeOf(hooks.approve, {})); swallow(() => { session.id = 'x' }); swallow(() => { session.environmentIds[0] = 'exec-b' }); ${tap('resolve', 'swallow(() => { call.owner = ELSEWHERE })')}`,
    expect: 'violation',
  },
  {
    name: 'a port as `this` of another',
    apply: "hooks.resolve.tap.call({ taps: [], intercept() {} }, 'culprit', (call) => { call.tool = 'erase' })",
    expect: 'violation',
  },
  {
    name: '`this` in apply is the plugin',
    apply:
      "globalThis.saw = [this.name === undefined, Object.keys(this).join()]; this.apply = () => {}; this.name = 'witness'; hooks.resolve.tapPromise({ name: 'culprit' }, async (call) => { this.name = 'witness'; call.tool = 'erase' })",
    expect: 'violation',
  },
  {
    name: 'the caller of a tap',
    apply:
      'hooks.resolve.tapPromise({ name: "culprit" }, function culprit(call) { let found = null; try { found = culprit.caller ?? arguments.callee.caller } catch {} globalThis.saw = found === null; return Promise.resolve() })',
    expect: 'unchanged',
    only: 'cjs',
    check: ({ saw }) => {
      if (saw !== true) throw new Error('the core can be reached')
    },
  },
  {
    name: 'the frames of the stack',
    apply: tap(
      'resolve',
      'const { prepareStackTrace } = Error; Error.prepareStackTrace = (_, sites) => sites; const sites = new Error().stack; Error.prepareStackTrace = prepareStackTrace; globalThis.saw = [...sites].slice(1).every((site) => site.getThis() === undefined && site.getFunction() === undefined)',
    ),
    expect: 'unchanged',
    isolated: true,
    check: ({ saw }) => {
      if (saw !== true) throw new Error('the core can be reached')
    },
  },
]
