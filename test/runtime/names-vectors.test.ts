// What names.json says beside its rows of names: calls by names that nobody offers, what hooks are told, and names that are refused.
import { expect, test } from 'vitest'
import { openRuntime } from '../../src/index.ts'
import { commandHooks } from '../../src/plugins/builtin/index.ts'
import { openTestRuntime, type TestRuntime } from '../../src/testing/index.ts'
import { kept, keeps, newFolder } from '../plugins/command-hooks/kit.ts'
import vectors from '../vectors/names.json' with { type: 'json' }

const server = { tools: { plain: {}, danger: {}, whoami: {} } }
const open = async (threadWide: readonly string[], folder = newFolder()): Promise<TestRuntime> =>
  openTestRuntime({
    features: { multi_environment_mcp: true },
    naming: { scheme: 'codex' },
    environments: { 'env-a': { probe: server }, 'env-b': { probe: server } },
    threadWide: Object.fromEntries(threadWide.map((name) => [name, server])),
    policies: { probe: { defaultToolsApprovalMode: 'approve' }, alpha: { defaultToolsApprovalMode: 'approve' } },
    hooks: [await commandHooks({ cwd: folder, hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: keeps('told') }] }] } })],
  })

test.each(vectors.unsupportedCall)('called.namespace $called.namespace, $called.name', async ({ called, ours }) => {
  await using t = await open(['alpha'])
  const name = called.namespace === null ? called.name : `${called.namespace}__${called.name}`
  const outcome = await t.callTool({ name })
  const { resolves } = ours as { readonly resolves?: { readonly server: string; readonly environment: string; readonly tool: string } }
  expect(outcome).toMatchObject(
    resolves === undefined
      ? { outcome: ours.outcome, sent: 'no' }
      : { outcome: 'completed', tool: resolves.tool, owner: { name: resolves.server, environmentId: resolves.environment } },
  )
  // what Codex joins without anything in between is no name either
  const joined = await t.callTool({ name: `${called.namespace ?? 'mcp'}${called.name}` })
  expect(joined).toMatchObject({ outcome: 'invalid_request', sent: 'no' })
  expect(t.sent.filter(({ method }) => method === 'tools/call')).toHaveLength(resolves === undefined ? 0 : 1)
})

test('hooks are told the flat names', async () => {
  const folder = newFolder()
  await using t = await open(['alpha'], folder)
  for (const { namespace, tool, hookToolName, ours } of vectors.hookToolNames) {
    expect(ours).toBe('same')
    expect(await t.callTool({ name: `${namespace}__${tool}` }), hookToolName).toMatchObject({ outcome: 'completed', tool })
  }
  const told = kept(folder, 'told').map(({ tool_name }) => tool_name)
  expect(new Set(told)).toEqual(new Set(vectors.hookToolNames.map(({ hookToolName }) => hookToolName)))
  expect(told).toHaveLength(vectors.hookToolNames.length)
})

const good = { command: 'true', cwd: '.' }
/** Makes a row happen; gives or throws what has the code. */
const REFUSED: Readonly<Record<string, () => Promise<unknown>>> = {
  'Sp ace': async () => {
    await using runtime = await openRuntime({ mcpServers: { 'Sp ace': good, other: good } })
    await using session = await runtime.openSession()
    // that one alone: the other server has its row
    const { data } = await session.status({ discover: false })
    expect(data.map(({ owner }) => owner.name)).toContain('other')
    return runtime.diagnostics.find(({ severity, message }) => severity === 'error' && message.includes('Sp ace'))
  },
  '': () => openRuntime({ environments: { '': { mcpServers: {} } } }),
  local: () => openRuntime({ environments: { local: { executor: { kind: 'exec-server', url: 'ws://127.0.0.1:1' } } } }),
  'env-a': () => openRuntime({ environments: { 'env-a': { cwd: '.' } }, selectedEnvironments: ['env-a', 'env-a'] }),
  zzz: async () => {
    await using runtime = await openRuntime({ environments: { 'env-a': { cwd: '.' } } })
    return await runtime.openSession({ environments: ['zzz'] })
  },
}
test.each(vectors.refused)('refused: $what $example', async ({ example, ours }) => {
  const refusal = await REFUSED[example]!().catch((thrown: unknown) => thrown)
  expect(refusal).toHaveProperty('code', ours.code)
})
