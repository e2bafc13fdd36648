// One server name in two environments, one read-only under `never`, one with full access: each is judged by its own, whichever is primary.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openRuntime } from '../../src/index.ts'
import type { Approver, ElicitationQuestion, RuntimeEnvironment } from '../../src/index.ts'
import { asking, form } from './asking.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-two-governances-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
// hints are not trusted, so that every call is a question, but for the tool that asks itself
const mcpServers = { asks: asking({ trustAnnotations: false, tools: { ask: { approvalMode: 'approve' } } }) }
const environments: Record<'tight' | 'wide', RuntimeEnvironment> = {
  tight: { cwd: folder, permissions: 'read-only', approvalPolicy: 'never', mcpServers },
  wide: { cwd: folder, permissions: 'full-access', approvalPolicy: 'on-request', mcpServers },
}
const ids = ['tight', 'wide'] as const

describe.each([ids, ids.toReversed()])('primary: %s', (...order) => {
  async function open(): Promise<any> {
    const asked: [string, unknown][] = []
    const approver: Approver = async ({ environmentId, permissions }) => {
      asked.push([environmentId, permissions])
      return { action: 'accept', remember: 'session' }
    }
    const elicited: ElicitationQuestion[] = []
    const runtime = await openRuntime({ features: { multi_environment_mcp: true }, environments })
    const session = await runtime.openSession({
      environments: order,
      approver,
      onElicitation: async (question) => {
        elicited.push(question)
        return { action: 'accept', content: { ok: true } }
      },
    })
    const call = (environmentId: string, tool = 'declared', args: object = {}): Promise<any> =>
      session.callTool({ server: 'asks', environmentId, tool, arguments: args })
    return { runtime, session, call, asked, elicited, [Symbol.asyncDispose]: () => runtime.close() }
  }

  test('calls and approvals', async () => {
    await using t = await open()
    expect(await t.call('tight')).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER', sent: 'no' })
    expect(await t.call('wide')).toMatchObject({ outcome: 'completed' })
    expect(t.asked).toEqual([['wide', 'full-access']])
    // what was approved for the one is no yes for the other
    expect(await t.call('tight')).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER' })
    t.runtime.environments.get('tight').update({ approvalPolicy: 'on-request' })
    t.runtime.environments.get('wide').update({ approvalPolicy: 'never' })
    expect([(await t.call('wide')).outcome, (await t.call('tight')).outcome]).toEqual(['completed', 'completed'])
    expect(t.asked).toEqual([
      ['wide', 'full-access'],
      ['tight', 'read-only'],
    ])
  })

  test('questions of the servers', async () => {
    await using t = await open()
    const question = { method: 'elicitation/create', params: form('Write?') }
    const answer = async (id: string): Promise<any> => JSON.parse((await t.call(id, 'ask', question)).forModel.text)
    expect([await answer('tight'), await answer('wide')]).toEqual([{ action: 'decline' }, { action: 'accept', content: { ok: true } }])
    expect(t.elicited.map(({ environmentId, permissions }: ElicitationQuestion) => [environmentId, permissions])).toEqual([
      ['wide', 'full-access'],
    ])
    // live, and the other way round
    t.runtime.environments.get('tight').update({ approvalPolicy: 'on-request' })
    t.runtime.environments.get('wide').update({ approvalPolicy: 'never' })
    expect([await answer('tight'), await answer('wide')]).toEqual([{ action: 'accept', content: { ok: true } }, { action: 'decline' }])
    expect(t.elicited[1]).toMatchObject({ environmentId: 'tight', permissions: 'read-only' })
    expect(t.asked).toEqual([])
  })
})

test('tightened between a try that ended with its process and the retry: the retry is not sent', async () => {
  const tries: string[] = []
  const tool = asking({ defaultToolsApprovalMode: 'approve' })
  await using runtime = await openRuntime({
    environments: { vm: { cwd: folder, permissions: 'full-access', mcpServers: { asks: tool } } },
    hooks: [
      {
        name: 'again',
        apply: ({ hooks }) =>
          hooks.dispatch.tapPromise('again', async (_call, next) => {
            try {
              return await next()
            } catch (error) {
              tries.push((error as { code: string }).code)
              runtime.environments.get('vm')!.update({ permissions: 'read-only' })
              return next()
            }
          }),
      },
    ],
  })
  await using session = await runtime.openSession()
  expect(await session.callTool({ server: 'asks', tool: 'exit' })).toMatchObject({ outcome: 'authority_changed', what: 'permissions' })
  expect(tries).toEqual(['SERVER_EXITED'])
})
