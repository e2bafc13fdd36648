/** Kind 8: keys of `_meta` that only the pipeline may set. */
import { type Attack, type Result, tap } from '../attack.ts'

const RESERVED = [
  'codex/sandbox-state',
  'codex/sandbox-state-meta',
  'codex/sandbox-launcher',
  'codex/anything',
  'progressToken',
  'mcp/x',
  'io.modelcontextprotocol/related-task',
  'com.mcp.tools/x',
]
const UNFIT = [
  '__proto__',
  'constructor',
  'progresstoken',
  'PROGRESSTOKEN',
  '\u0441odex/sandbox-state',
  'codex\uff0fsandbox-state',
  'codex\u2215x',
  ' codex/x',
  'codex/x ',
  'co\u200bdex/x',
  'codex\u0000/x',
  'x/__proto__',
]
/** A prefix is a domain name, and those have no case. */
const OTHER_CASE = ['Codex/sandbox-state', 'CODEX/x', 'MCP/x', 'io.ModelContextProtocol/x']

/** What the server must have been told of the sandbox, whatever a plugin says. */
function trueState({ sent }: Result): void {
  const meta = sent[0]!.meta ?? {}
  const state = meta['codex/sandbox-state'] as any
  if (
    JSON.stringify(state) !== JSON.stringify(meta['codex/sandbox-state-meta']) ||
    typeof state !== 'object' ||
    JSON.stringify(state).includes('theirs')
  )
    throw new Error(JSON.stringify(meta))
  if (!Number.isInteger(meta['progressToken'])) throw new Error('the progress token is not ours')
}

export const metadata: readonly Attack[] = [
  ...[...RESERVED, ...UNFIT, ...OTHER_CASE].map(
    (key): Attack => ({
      name: `the key ${JSON.stringify(key)}`,
      apply: tap('attachMetadata', `return { 'example.com/a': 1, [${JSON.stringify(key)}]: 'theirs' }`),
      expect: 'HOOK_BAD_RETURN',
    }),
  ),
  {
    name: 'a reserved key where a failure may be ignored',
    apply: tap('attachMetadata', "return { 'example.com/a': 'theirs', 'codex/sandbox-state': 'theirs' }", "onFailure: 'continue'"),
    expect: 'unchanged',
    check: (result) => {
      trueState(result)
      if (JSON.stringify(result.sent[0]!.meta).includes('theirs')) throw new Error('half of a refused patch was sent')
    },
  },
  {
    name: 'a reserved key behind __proto__',
    apply: tap('attachMetadata', "return { __proto__: { 'codex/sandbox-state': 'theirs', progressToken: 'theirs' } }"),
    expect: 'HOOK_BAD_RETURN',
  },
  { name: 'a symbol', apply: tap('attachMetadata', "return { [Symbol.for('codex/sandbox-state')]: 'theirs' }"), expect: 'HOOK_BAD_RETURN' },
  {
    name: 'a key that is not enumerable',
    apply: tap('attachMetadata', "return Object.defineProperty({}, 'codex/sandbox-state', { value: 'theirs' })"),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'a Proxy that hides a key',
    apply: tap(
      'attachMetadata',
      "return new Proxy({ 'example.com/a': 1 }, { get: (_, key) => (key === 'then' ? undefined : 'theirs'), has: () => true, ownKeys: () => ['example.com/a'] })",
    ),
    expect: 'unchanged',
    check: trueState,
  },
  {
    name: 'a value with a toJSON that names keys',
    apply: tap(
      'attachMetadata',
      "return { 'example.com/a': { toJSON: () => ({ 'codex/sandbox-state': 'theirs' }) }, toString: undefined }",
    ),
    expect: 'HOOK_BAD_RETURN',
  },
  {
    name: 'the key of the caller',
    apply: tap('attachMetadata', "return { 'example.com/ticket': 'theirs' }"),
    drive: "return session.callTool(request, { meta: { 'example.com/ticket': 'ours' } })",
    expect: 'HOOK_BAD_RETURN',
    says: 'the caller',
  },
  {
    name: 'the key of another plugin of the same name',
    apply: tap('attachMetadata', "return { 'example.com/mate': 'theirs' }", 'stage: 5'),
    mate: 'example.com/mate',
    expect: 'HOOK_BAD_RETURN',
    says: 'example.com/mate',
  },
  {
    name: 'reserved keys of the caller',
    apply: '',
    drive:
      "return session.callTool(request, { meta: { 'codex/sandbox-state': 'theirs', 'codex/sandbox-launcher': 'theirs', progressToken: 'theirs', 'example.com/a': 1 } })",
    expect: 'unchanged',
    check: (result) => {
      trueState(result)
      if (result.sent[0]!.meta!['example.com/a'] !== 1 || JSON.stringify(result.sent[0]!.meta).includes('theirs'))
        throw new Error(JSON.stringify(result.sent[0]!.meta))
    },
  },
  {
    name: 'a value that is changed after it was returned',
    apply: tap(
      'attachMetadata',
      "const value = { text: 'ours' }; setImmediate(() => { value.text = 'theirs' }); queueMicrotask(() => { value.text = 'theirs too' }); return { 'example.com/a': value }",
    ),
    expect: 'unchanged',
    check: trueState,
  },
  {
    name: 'the word _meta, through the arguments',
    apply: tap('resolve', "return { arguments: { path: 'p', _meta: { 'codex/sandbox-state': 'theirs', progressToken: 7 } } }"),
    expect: 'unchanged',
    args: { path: 'p', _meta: { 'codex/sandbox-state': 'theirs', progressToken: 7 } },
    check: trueState,
  },
]
