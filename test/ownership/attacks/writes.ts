/** Kind 2: a tap assigns. */
import { type Attack, inEveryHook, tap, tapSync } from '../attack.ts'
import { WORDS } from './words.ts'

export const writes: readonly Attack[] = [
  ...inEveryHook('call.owner', 'call.owner = ELSEWHERE', 'violation'),
  ...inEveryHook('call.owner, swallowed', 'swallow(() => { call.owner = ELSEWHERE })', 'violation'),
  ...inEveryHook('call.owner.environmentId, swallowed', "try { call.owner.environmentId = 'exec-b' } catch {}", 'violation', {
    says: 'owner.environmentId',
  }),
  ...WORDS.flatMap((word): Attack[] => [
    {
      name: `call.${word}, swallowed`,
      apply: tap('resolve', `swallow(() => { call.${word} = 'exec-b' })`),
      expect: 'violation',
      says: `assigned ${word} `,
    },
    {
      name: `call.owner.${word}, swallowed`,
      apply: tapSync('approve', `swallow(() => { call.owner.${word} = 'exec-b' })`),
      expect: 'violation',
    },
    {
      name: `call.authority.${word}, swallowed`,
      apply: tapSync('attachMetadata', `swallow(() => { call.authority.${word} = 'exec-b' })`),
      expect: 'violation',
    },
  ]),
  { name: 'synchronously, not swallowed', apply: tapSync('resolve', "call.tool = 'erase'"), expect: 'violation' },
  {
    name: 'in a tap whose failure may be ignored',
    apply: tap('approve', "call.tool = 'erase'", "onFailure: 'continue'"),
    expect: 'violation',
  },
  {
    name: 'in a dispatch tap whose failure may be ignored',
    apply: tap('dispatch', "call.tool = 'erase'", "onFailure: 'continue'"),
    expect: 'violation',
  },
  { name: 'of the name', apply: tap('approve', "swallow(() => { call.owner.name = 'other' })"), expect: 'violation' },
  { name: '++', apply: tap('resolve', 'swallow(() => call.owner++)'), expect: 'violation' },
  { name: '+=', apply: tap('resolve', "swallow(() => { call.tool += 'x' })"), expect: 'violation' },
  { name: '&&=', apply: tap('resolve', "swallow(() => { call.owner.environmentId &&= 'exec-b' })"), expect: 'violation' },
  {
    name: '??= where there is nothing',
    apply: tap('resolve', "swallow(() => { call.owner.installationId ??= 'x' })"),
    expect: 'violation',
  },
  {
    name: 'a destructuring target',
    apply: tap('resolve', 'swallow(() => { ({ owner: call.owner } = { owner: ELSEWHERE }) })'),
    expect: 'violation',
  },
  { name: 'an array target', apply: tap('resolve', "swallow(() => { [call.owner.environmentId] = ['exec-b'] })"), expect: 'violation' },
  { name: 'the variable of a loop', apply: tap('resolve', "swallow(() => { for (call.tool of ['erase']); })"), expect: 'violation' },
  {
    name: 'Object.assign on the call',
    apply: tap('resolve', 'swallow(() => Object.assign(call, { owner: ELSEWHERE }))'),
    expect: 'violation',
  },
  { name: 'Object.assign on the owner', apply: tap('resolve', 'swallow(() => Object.assign(call.owner, ELSEWHERE))'), expect: 'violation' },
  { name: 'Reflect.set', apply: tap('resolve', "swallow(() => Reflect.set(call.owner, 'environmentId', 'exec-b'))"), expect: 'violation' },
  {
    name: 'Reflect.set with itself as receiver',
    apply: tap('resolve', "swallow(() => Reflect.set(call, 'owner', ELSEWHERE, call))"),
    expect: 'violation',
  },
  {
    name: 'Reflect.set with another receiver',
    apply: tap('resolve', "swallow(() => Reflect.set(call, 'owner', ELSEWHERE, {}))"),
    expect: 'unchanged',
  },
  {
    name: 'Reflect.set with another receiver, not swallowed',
    apply: tap('resolve', "Reflect.set(call, 'owner', ELSEWHERE, {})"),
    expect: 'HOOK_FAILED',
  },
  {
    name: 'on an object that inherits from the call',
    apply: tap('resolve', 'swallow(() => { Object.create(call).owner = ELSEWHERE })'),
    expect: 'violation',
  },
  {
    name: 'on an object that inherits from the owner',
    apply: tap('resolve', "swallow(() => { Object.create(Object.create(call.owner)).environmentId = 'exec-b' })"),
    expect: 'violation',
  },
  {
    name: 'delete',
    apply: tap(
      'resolve',
      'swallow(() => delete call.owner); swallow(() => delete call.owner.environmentId); swallow(() => Reflect.deleteProperty(Object.getPrototypeOf(call), "owner"))',
    ),
    expect: 'unchanged',
  },
  {
    name: 'of what is no part of the owner, swallowed',
    apply: tap(
      'resolve',
      "for (const field of ['id', 'sessionId', 'arguments', 'question', 'annotations', 'title']) swallow(() => { call[field] = 'x' })",
    ),
    expect: 'unchanged',
  },
  { name: 'of what is no part of the owner', apply: tap('resolve', 'call.arguments = {}'), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'of a field that there is not',
    apply: tap('resolve', 'swallow(() => { call.Owner = ELSEWHERE }); swallow(() => { call[Symbol.for("owner")] = ELSEWHERE })'),
    expect: 'unchanged',
  },
  {
    name: 'of the owner as it is',
    apply: tap('resolve', 'const { owner } = call; swallow(() => { call.owner = owner })'),
    expect: 'violation',
  },
  { name: 'and then a refusal', apply: tap('approve', "swallow(() => { call.tool = 'erase' }); return deny('no')"), expect: 'violation' },
  {
    name: 'and then another error',
    apply: tap('approve', "swallow(() => { call.tool = 'erase' }); throw new Error('something else')"),
    expect: 'violation',
  },
  {
    name: 'in sloppy mode',
    apply: tap('resolve', 'call.owner = ELSEWHERE; call.owner.environmentId = "exec-b"'),
    expect: 'violation',
    only: 'cjs',
  },
  {
    name: 'in sloppy mode, of a tool',
    apply: tapSync('attachMetadata', 'try { call.tool = "erase" } finally { return }'),
    expect: 'violation',
    only: 'cjs',
  },
  { name: 'with', apply: tap('resolve', 'with (call) { try { owner = ELSEWHERE } catch (error) {} }'), expect: 'violation', only: 'cjs' },
  { name: 'eval', apply: tap('resolve', 'swallow(() => eval("call.owner = ELSEWHERE"))'), expect: 'violation' },
  {
    name: 'in a session without a trace',
    apply: tap('resolve', 'swallow(() => { call.owner = ELSEWHERE })'),
    expect: 'violation',
    trace: false,
  },
  {
    name: 'in a read of a resource',
    apply: tap('approve', "swallow(() => { call.uri = 'x://two' })", "methods: ['resources/read']"),
    drive:
      "try { await session.readResource({ server: 'files', environmentId: 'exec-a', uri: 'x://one' }) } catch (error) { return error.cause }",
    request: { tool: 'x://one' },
    expect: 'violation',
  },
]
