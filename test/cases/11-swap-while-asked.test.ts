/** Tools that change while a person is being asked, and a session's yes for a tool that has another definition now. */
import { expect, test } from 'vitest'
import { Case, SLOW } from './driver.ts'
import { on, sessionOn } from './session.ts'

const ASKS = { defaultToolsApprovalMode: 'auto' }

test('a tool that changes while a person is asked about it is not called', SLOW, async () => {
  await using at = new Case()
  const modes = { ...ASKS, tools: { swap: { approvalMode: 'approve' } } }
  let swap: (() => Promise<unknown>) | null = null
  await using session = await sessionOn(at, 'answers.mjs', modes, {
    approver: async () => {
      await swap?.()
      return { action: 'accept' }
    },
  })
  await session.listTools()
  swap = async () => {
    expect(await session.callTool(on('swap'))).toMatchObject({ outcome: 'completed' })
    await expect.poll(async () => (await session.listTools()).tools.length, { timeout: 20_000 }).toBe(2)
  }
  expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'authority_changed', what: 'definition', sent: 'no' })
  expect(at.calls()).toEqual(['s swap'])
})

test('a yes for the session is not one for another definition of the same name', SLOW, async () => {
  await using at = new Case()
  const modes = { ...ASKS, tools: { swap: { approvalMode: 'approve' } } }
  const asked: string[] = []
  await using session = await sessionOn(at, 'answers.mjs', modes, {
    approver: async ({ tool }) => {
      asked.push(tool)
      return { action: 'accept', remember: 'session' }
    },
  })
  for (let i = 0; i < 2; i++) expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'completed' })
  expect(asked).toEqual(['quick'])
  await session.callTool(on('swap'))
  await expect.poll(async () => (await session.listTools()).tools.length, { timeout: 20_000 }).toBe(2)
  for (let i = 0; i < 2; i++) expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'completed' })
  expect(asked).toEqual(['quick', 'quick'])
})
