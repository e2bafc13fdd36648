// Two and a half thousand processes: too many for every run of the unit tests.
import { expect, test } from 'vitest'
import { CALL, left, newFolder, openHooked, writeHooks } from '../plugins/command-hooks/kit.ts'

test('500 calls with five command hooks leave no process', { timeout: 120_000 }, async () => {
  const folder = newFolder()
  const hook = { command: ':' }
  const file = writeHooks(folder, { PreToolUse: [hook, hook], PermissionRequest: [hook], PostToolUse: [hook, hook] })
  const t = await openHooked({ file }, { policies: { db: { defaultToolsApprovalMode: 'prompt' } } })
  let completed = 0
  const lane = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) if ((await t.callTool(CALL)).outcome === 'completed') completed++
  }
  await Promise.all(Array.from({ length: 10 }, lane))
  expect(completed).toBe(500)
  expect(left(folder)).toEqual([])
  await t.close()
  expect(left(folder)).toEqual([])
})
