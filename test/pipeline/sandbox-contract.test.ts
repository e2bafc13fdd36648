// The rows of the vectors say what is expected, and each kind of end has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
import { chmodSync, copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExecutorDefinition } from '../../src/connections/executor.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { JsonObject } from '../../src/plugin.ts'
import { sandboxState } from '../../src/pipeline/sandbox-state.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { PermissionProfile } from '../../src/servers/environment.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin, REQUEST, toolCalls } from './kit.ts'

interface Row {
  readonly kind: string
  readonly id: string
  readonly experimental?: JsonObject
  readonly capability?: string
  readonly transport?: string
  readonly keys?: readonly string[]
  readonly callerMeta?: JsonObject
  readonly arguments?: unknown
  readonly result?: Readonly<Record<string, string>>
  readonly ours:
    | 'same'
    | {
        readonly keys?: readonly string[]
        readonly result?: Readonly<Record<string, string>>
        readonly trace?: readonly string[]
        readonly outcome?: string
        readonly sent?: string
      }
}
const { cases } = JSON.parse(readFileSync(new URL('../vectors/sandbox-meta.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
// Rows over HTTP are in sandbox-http.test.ts; those on a remote executor are below, on one of this test.
const rowsOf = (kind: string): readonly Row[] =>
  cases.filter((row) => row.kind === kind && (row.transport === undefined || row.transport === 'stdio'))

const STATE = 'codex/sandbox-state'
const ALIAS = 'codex/sandbox-state-meta'
const LAUNCHER = 'codex/sandbox-launcher'

let folder: string
let launcher: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapline-'))
  launcher = join(folder, 'codex')
  // a program that is no script, and passes the probe as it passes everything
  copyFileSync(['/bin/true', '/usr/bin/true'].find(existsSync)!, launcher)
})
afterAll(() => rmSync(folder, { recursive: true }))

function local(
  experimental: JsonObject | undefined,
  permissions: PermissionProfile | undefined = 'workspace-write',
  hooks: NonNullable<Parameters<typeof openTestRuntime>[0]>['hooks'] = [],
  executable = launcher,
): Promise<TestRuntime> {
  return openTestRuntime({
    environments: { local: { servers: {}, cwd: folder, codexExecutable: executable, ...(permissions && { permissions }) } },
    threadWide: { s: { tools: { run: {} }, ...(experimental && { experimental }) } },
    policies: { s: { defaultToolsApprovalMode: 'approve' } },
    hooks,
  })
}
const metaOf = (t: TestRuntime): JsonObject => toolCalls(t).at(-1)!.params._meta!
const codexKeys = (meta: JsonObject): string[] => Object.keys(meta).filter((key) => key.startsWith('codex/'))

describe('keys', () => {
  test.each(rowsOf('keys'))('$id', async ({ experimental, keys }) => {
    await using t = await local(experimental)
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
    const meta = metaOf(t)
    expect(codexKeys(meta)).toEqual(keys)
    if (keys!.length === 0) return
    expect(meta[STATE]).toEqual(sandboxState({ permissions: 'workspace-write', cwd: folder, codexExecutable: launcher }))
    expect(JSON.stringify(meta[ALIAS])).toBe(JSON.stringify(meta[STATE]))
    expect(meta[LAUNCHER]).toEqual({ codexExecutable: launcher })
  })

  test('all rows of stdio servers of this machine are here', () => {
    expect(rowsOf('keys').map(({ id }) => id)).toEqual(['none-stdio', 'new-stdio', 'old-stdio', 'both-stdio', 'version-stdio'])
  })

  test('no launcher where the probe does not pass or the path is not absolute: the state stays', async () => {
    const failing = join(folder, 'failing')
    writeFileSync(failing, '#!/bin/sh\nexit 1\n')
    chmodSync(failing, 0o755)
    for (const executable of [failing, join(folder, 'missing'), 'codex', './codex']) {
      await using t = await local({ [STATE]: {} }, 'read-only', [], executable)
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
      expect(codexKeys(metaOf(t))).toEqual([STATE, ALIAS])
    }
  })

  test('a script is a launcher, but not the helper in the state: the launcher finds its own', async () => {
    const script = join(folder, 'script')
    writeFileSync(script, '#!/bin/sh\nexit 0\n')
    chmodSync(script, 0o755)
    await using t = await local({ [STATE]: {} }, 'read-only', [], script)
    await t.callTool(REQUEST)
    expect(metaOf(t)[LAUNCHER]).toEqual({ codexExecutable: script })
    expect(metaOf(t)[STATE]).toEqual(sandboxState({ permissions: 'read-only', cwd: folder, codexExecutable: null }))
    expect(metaOf(t)[STATE]).not.toHaveProperty('codexLinuxSandboxExe')
  })

  test('a launcher that is replaced after its probe is not named; where it was put back unchanged it is', async () => {
    const good = join(folder, 'replaced')
    const put = (body: string): void => {
      writeFileSync(`${good}.new`, body)
      chmodSync(`${good}.new`, 0o755)
      renameSync(`${good}.new`, good)
    }
    const acts: (() => void)[] = [
      () => {},
      () => put('#!/bin/sh\nexit 0 # another one\n'),
      () => rmSync(good),
      () => chmodSync(good, 0o755),
    ]
    const meddler = plugin(({ hooks }) =>
      hooks.dispatch.tapPromise('meddle', async (_call: unknown, next: () => Promise<unknown>) => {
        acts[calls++]!()
        return next()
      }),
    )
    let calls = 0
    put('#!/bin/sh\nexit 0\n')
    await using t = await local({ [STATE]: {} }, 'read-only', [meddler], good)
    const seen: unknown[] = []
    for (let at = 0; at < 4; at++) {
      if (at === 3) put('#!/bin/sh\nexit 0\n')
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
      seen.push(codexKeys(metaOf(t)).includes(LAUNCHER))
    }
    expect(seen).toEqual([true, false, false, true])
  })

  test('no policy known: no state and no launcher, whatever the server says', async () => {
    await using t = await local({ [STATE]: {} })
    t.environments.get('local')!.update({ permissions: null })
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
    expect(codexKeys(metaOf(t))).toEqual([])
  })

  test('one probe for many calls at once', async () => {
    const counter = join(folder, 'count')
    const counting = join(folder, 'counting')
    writeFileSync(counting, `#!/bin/sh\necho probed >> ${counter}\nexit 0\n`)
    chmodSync(counting, 0o755)
    await using t = await local({ [STATE]: {} }, 'read-only', [], counting)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => t.callTool(REQUEST)))
    expect(outcomes.every(({ outcome }) => outcome === 'completed')).toBe(true)
    expect(toolCalls(t).every(({ params }) => codexKeys(params._meta!).length === 3)).toBe(true)
    expect(readFileSync(counter, 'utf8')).toBe('probed\n')
  })
})

describe('key-order', () => {
  test.each(rowsOf('key-order'))('$id', async ({ ours }) => {
    await using t = await local({ [STATE]: {} })
    await t.callTool(REQUEST)
    expect(Object.keys(metaOf(t))).toEqual((ours as { keys: string[] }).keys)
  })

  test('the keys of the contract are the last ones', async () => {
    await using t = await local({ [STATE]: {} }, 'read-only', [
      plugin(({ hooks }) => hooks.attachMetadata.tap({ name: 't', stage: 1000 }, () => ({ 'zz.example/z': 1 }))),
    ])
    await t.callTool(REQUEST, { meta: { 'example.com/a': 1 } })
    expect(Object.keys(metaOf(t)).filter((key) => key !== 'progressToken')).toEqual([
      'example.com/a',
      'zz.example/z',
      STATE,
      ALIAS,
      LAUNCHER,
    ])
  })
})

describe('spoof', () => {
  test.each(rowsOf('spoof'))('$id', async ({ callerMeta, capability, ours }) => {
    const { result, trace } = ours as { result: Record<string, string>; trace: string[] }
    await using t = await local(capability === 'none' ? {} : { [STATE]: {} })
    const outcome = await t.callTool(REQUEST, { meta: callerMeta!, trace: true })
    const meta = metaOf(t)
    for (const [key, word] of Object.entries(result)) {
      if (word === 'passed on') expect(meta[key]).toEqual(callerMeta![key])
      else if (word === 'removed') expect(Object.hasOwn(meta, key)).toBe(false)
      else expect([key, meta[key]]).not.toEqual([key, callerMeta![key]])
    }
    expect(JSON.stringify(meta)).not.toMatch(/forged":true|\/forged/)
    expect(outcome.trace!.metaKeys.filter(({ by }) => by === 'dropped').map(({ key }) => key)).toEqual(trace)
  })

  test('what a caller sends as __proto__ stays data', async () => {
    await using t = await local({ [STATE]: {} })
    expect(
      await t.callTool(REQUEST, { meta: JSON.parse('{"__proto__":{"codex/sandbox-launcher":"/forged"},"constructor":1}') as JsonObject }),
    ).toMatchObject({ outcome: 'completed' })
    const meta = metaOf(t)
    expect(Object.getOwnPropertyDescriptor(meta, '__proto__')?.value).toEqual({ 'codex/sandbox-launcher': '/forged' })
    expect(meta[LAUNCHER]).toEqual({ codexExecutable: launcher })
  })
})

describe('bad-input', () => {
  test.each(rowsOf('bad-input'))('$id', async ({ callerMeta, arguments: args, ours }) => {
    const { outcome, sent } = ours as { outcome: string; sent: string }
    await using t = await local({ [STATE]: {} })
    const ended = await t.callTool(
      args === undefined ? REQUEST : { ...REQUEST, arguments: args },
      callerMeta === undefined ? {} : { meta: callerMeta },
    )
    expect(ended).toMatchObject({ outcome, sent, code: 'CALL_INVALID_REQUEST' })
    expect(toolCalls(t)).toEqual([])
  })

  test.each<[unknown]>([
    [[]],
    [7],
    [null],
    [{ a: 1n }],
    [{ toJSON: () => 'x' }],
    [
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('boom')
          },
        },
      ),
    ],
  ])('meta that is no JSON object: %#', async (meta) => {
    await using t = await local({})
    expect(await t.callTool(REQUEST, { meta: meta as never })).toMatchObject({ outcome: 'invalid_request', sent: 'no' })
  })
})

describe('stale-state', () => {
  const PROFILES: readonly PermissionProfile[] = [
    'read-only',
    'workspace-write',
    { type: 'workspace-write', networkAccess: true },
    { type: 'workspace-write', writableRoots: ['/work-area'] },
    { type: 'read-only', networkAccess: true },
    'full-access',
    'external',
    { type: 'opaque', sandboxState: '{"type":"managed","more":{"unknown":[1,2]}}' },
  ]

  test('200 changes, called at once: the state that is sent is always the new one, loosened or tightened', async () => {
    await using t = await local({ [STATE]: {} }, 'read-only')
    await t.session.listTools()
    const environment = t.environments.get('local')!
    const calls: Promise<unknown>[] = []
    const wanted: unknown[] = []
    for (let trial = 0; trial < 200; trial++) {
      const permissions = PROFILES[(trial * 3 + (trial >> 3)) % PROFILES.length]!
      environment.update({ permissions })
      wanted.push(sandboxState({ permissions, cwd: folder, codexExecutable: launcher }))
      calls.push(t.callTool(REQUEST))
      await calls.at(-1)
    }
    expect((await Promise.all(calls)).every((outcome) => (outcome as { outcome: string }).outcome === 'completed')).toBe(true)
    expect(toolCalls(t).map(({ params }) => params._meta![STATE])).toEqual(wanted)
    expect(toolCalls(t).map(({ params }) => params._meta![ALIAS])).toEqual(wanted)
  })

  test.each(cases.filter(({ kind }) => kind === 'stale-state') as unknown as { id: string; start: string; override: string }[])(
    '$id',
    async ({ start, override }) => {
      const NAMES: Readonly<Record<string, PermissionProfile>> = {
        'read-only': 'read-only',
        'workspace-write': 'workspace-write',
        'danger-full-access': 'full-access',
        workspaceWrite: 'workspace-write',
        'workspaceWrite + network': { type: 'workspace-write', networkAccess: true },
        'workspaceWrite + extra root': { type: 'workspace-write', writableRoots: ['/work-area'] },
        readOnly: 'read-only',
        'readOnly + network': { type: 'read-only', networkAccess: true },
      }
      await using t = await local({ [STATE]: {} }, NAMES[start])
      for (let trial = 0; trial < 6; trial++) {
        for (const name of [start, override]) {
          t.environments.get('local')!.update({ permissions: NAMES[name]! })
          expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
          expect(metaOf(t)[STATE]).toEqual(sandboxState({ permissions: NAMES[name]!, cwd: folder, codexExecutable: launcher }))
        }
      }
    },
  )

  test('a change between two tries of a retry never sends the old state', async () => {
    const p = plugin(({ hooks }) =>
      hooks.dispatch.tapPromise('retry', async (_call: unknown, next: () => Promise<unknown>) => {
        await next()
        t.environments.get('local')!.update({ permissions: 'read-only' })
        return next()
      }),
    )
    await using t = await local({ [STATE]: {} }, 'workspace-write', [p])
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'permissions', sent: 'yes' })
    expect(toolCalls(t)).toHaveLength(1)
  })
})

test('a policy that cannot be sent unchanged is a refusal, also of an explanation', async () => {
  for (const sandboxState of ['{"a":1,"a":2}', '{"a":9007199254740993}', 'text', '[]']) {
    await using t = await local({ [STATE]: {} }, { type: 'opaque', sandboxState })
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', by: 'policy', code: 'SANDBOX_POLICY_UNREADABLE', sent: 'no' })
    expect(await t.session.explain(REQUEST)).toMatchObject({
      wouldEnd: 'refused',
      outcome: { code: 'SANDBOX_POLICY_UNREADABLE' },
      wouldSend: null,
    })
    expect(toolCalls(t)).toEqual([])
  }
})

describe('a policy object that JSON would change is refused where it is given', () => {
  const LOSSY: readonly (readonly [string, unknown])[] = [
    ['NaN', NaN],
    ['a function', () => 1],
    ['a Date', new Date(0)],
    ['a Map', new Map([['a', 1]])],
    ['half of a surrogate pair', '\ud800'],
    ['undefined in a list', [undefined]],
    ['minus zero', -0],
    ['bigint', 1n],
  ]
  test.each(LOSSY)('by update: %s', async (_what, value) => {
    await using t = await local({ [STATE]: {} }, 'read-only')
    const environment = t.environments.get('local')!
    const change = (): void => environment.update({ permissions: { type: 'opaque', sandboxState: { deep: [{ value }] } as never } })
    expect(change).toThrow(expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE' }))
    expect(environment.permissions).toBe('read-only')
  })
  test.each(LOSSY)('when the runtime is opened: %s', async (_what, value) => {
    const opened = local({ [STATE]: {} }, { type: 'opaque', sandboxState: { deep: [{ value }] } as never })
    await expect(opened.then((t) => t[Symbol.asyncDispose]())).rejects.toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(?:CONFIG_INVALID|SANDBOX_POLICY_UNREADABLE)$/) }),
    )
  })
})

describe('elsewhere than on this machine', () => {
  /** A server that opts in and gives its `_meta` back. */
  const server: MemoryServer = async ({ lines, send }) => {
    for await (const line of lines) {
      const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: JsonObject }
      if (id === undefined) continue
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: params?.['protocolVersion'],
          capabilities: { tools: {}, experimental: { [STATE]: {} } },
          serverInfo: { name: 'x', version: '1' },
        },
        'tools/list': { tools: [{ name: 'run', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [], structuredContent: (params?.['_meta'] ?? {}) as object },
      }
      send({ jsonrpc: '2.0', id, result: results[method] })
    }
  }
  const executors: ExecutorDefinition[] = [{ ...memoryExecutor({ x: server }), kind: 'remote' }]

  test.each([
    ['moved-by-config', { environment: 'env-a' }, false],
    ['plugin-on-env-a', {}, true],
  ])('%s: the state of the owner, no launcher', async (_id, more, isScoped) => {
    const definition = { x: { command: 'x', defaultToolsApprovalMode: 'approve' as const, ...more } }
    await using runtime = await openRuntime({
      executors,
      features: { multi_environment_mcp: true },
      environments: {
        local: { permissions: 'full-access' },
        'env-a': {
          executor: 'remote',
          cwd: '/work-area',
          permissions: 'workspace-write',
          codexExecutable: launcher,
          ...(isScoped && { mcpServers: definition }),
        },
      },
      selectedEnvironments: ['local', 'env-a'],
      ...(isScoped ? {} : { mcpServers: definition }),
    })
    const session = await runtime.openSession()
    const outcome = await session.callTool({ server: 'x', tool: 'run', arguments: {} })
    const meta = (outcome as { result: { structuredContent: JsonObject } }).result.structuredContent
    expect(codexKeys(meta)).toEqual([STATE, ALIAS])
    expect(meta[STATE]).toMatchObject({ sandboxCwd: pathToFileURL('/work-area').href })
    expect(JSON.stringify(meta[STATE])).toContain('"/work-area"')
    // an environment that the session did not select gets none
    const other = await runtime.openSession({ environments: ['local'] })
    const elsewhere = await other.callTool({ server: 'x', tool: 'run', arguments: {} })
    if (isScoped) expect(elsewhere).toMatchObject({ outcome: 'invalid_request', code: 'UNKNOWN_SERVER' })
    else
      expect(codexKeys((elsewhere as typeof outcome & { result: { structuredContent: JsonObject } }).result.structuredContent)).toEqual([])
  })
})
