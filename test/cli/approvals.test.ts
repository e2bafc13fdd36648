/** `tapline approvals` and `--approve always`, as a person uses them. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Place, server } from './tapline.ts'

const SLOW = { timeout: 120_000 }
const CONFIG = {
  store: { file: './store' },
  mcpServers: { files: { ...server('A'), defaultToolsApprovalMode: 'auto' }, more: { ...server('B'), defaultToolsApprovalMode: 'auto' } },
}
const config = ['--config', 'c.json'] as const
const call = (name: string, ...more: string[]): string[] => [...config, '--json', 'call', '--server', name, 'write', '{}', ...more]

test('always is kept in the store of the configuration, listed, and revoked by the beginning of its id', SLOW, async () => {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  expect((await at.run([...config, 'approvals', 'list'])).stdout).toBe('No tool is allowed for always.\n')
  for (const name of ['files', 'more'])
    expect((await at.run(call(name, '--approve', 'always'))).json).toMatchObject({ outcome: 'completed' })
  expect(await readdir(at.path('store'))).toContain('approvals.json')
  expect([(await stat(at.path('store'))).mode & 0o777, (await stat(at.path('store/approvals.json'))).mode & 0o777]).toEqual([0o700, 0o600])

  const { json } = await at.run([...config, '--json', 'approvals', 'list'])
  expect(json.approvals).toMatchObject([
    {
      tool: 'write',
      scope: 'always',
      owner: { name: 'files', environmentId: null, installationId: null, display: 'files' },
      since: expect.stringMatching(/Z$/),
    },
    { tool: 'write', owner: { name: 'more' } },
  ])
  const table = (await at.run([...config, 'approvals', 'list'])).stdout
  expect(table).toMatch(/ID +TOOL +SERVER +SINCE\n[0-9a-f]{12} +write +files +\d{4}-\d\d-\d\d \d\d:\d\d\n/)

  const [{ id }] = json.approvals
  const revoked = await at.run([...config, 'approvals', 'revoke', id.slice(0, 12)])
  expect([revoked.status, revoked.stdout]).toEqual([0, `revoked ${id.slice(0, 12)} (write of files)\n`])
  expect((await at.run(call('files'))).json).toMatchObject({ outcome: 'no_approver', code: 'CALL_NO_APPROVER' })
  expect((await at.run(call('more', '--trace'))).json).toMatchObject({
    outcome: 'completed',
    trace: { approval: { source: 'remembered' } },
  })

  for (const [wrong, what] of [
    [id, 'there is no approval'],
    ['abc', 'at least 4 digits'],
    ['', 'at least 4 digits'],
    ['salt', 'there is no approval'],
  ] as const) {
    const refused = await at.run([...config, '--json', 'approvals', 'revoke', wrong])
    expect([refused.status, refused.json.error.code]).toEqual([2, 'CLI_USAGE'])
    expect(refused.json.error.message).toContain(what)
  }
})

test('without --config the store is that of the user, whatever a project file says, and however broken it is', SLOW, async () => {
  await using at = await Place.make()
  await at.write('tapline.json', '{ "store": { "file": "./planted" }, broken')
  const env = { XDG_STATE_HOME: at.path('state') }
  expect((await at.run(['--json', 'approvals', 'list'], { env })).json).toEqual({ approvals: [] })
  await at.write('c.json', { mcpServers: CONFIG.mcpServers })
  expect((await at.run(call('files', '--approve', 'always'), { env })).json).toMatchObject({ outcome: 'completed' })
  const { approvals } = (await at.run(['--json', 'approvals', 'list'], { env })).json
  expect(approvals).toMatchObject([{ tool: 'write', owner: { name: 'files' } }])
  expect((await at.run(['approvals', 'revoke', approvals[0].id], { env })).status).toBe(0)
  expect((await at.run(['--json', 'approvals', 'list'], { env })).json).toEqual({ approvals: [] })
})

test('a damaged store allows nothing, is set aside, and says so; a store of others is left alone', SLOW, async () => {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  await at.run(call('files', '--approve', 'always'))
  const file = at.path('store/approvals.json')
  const whole = await readFile(file, 'utf8')
  await writeFile(file, whole.slice(0, -40))
  const ended = await at.run(call('files'))
  expect(ended.json).toMatchObject({ outcome: 'no_approver', sent: 'no' })
  expect(ended.stderr).toMatch(/approvals_unusable|remembered approvals cannot be used/)
  expect(ended.stderr).toContain('was set aside as approvals.json.damaged-')
  const aside = (await readdir(at.path('store'))).find((name) => name.startsWith('approvals.json.damaged-'))
  expect(await readFile(join(at.path('store'), aside as string), 'utf8')).toBe(whole.slice(0, -40))
  // from now on it begins empty
  expect((await at.run([...config, '--json', 'approvals', 'list'])).json).toEqual({ approvals: [] })
  await writeFile(file, whole.replace('"version": 1', '"version": 99'))
  expect((await at.run(call('files', '--approve', 'once'))).json).toMatchObject({ outcome: 'completed' })
  expect((await at.run(call('files'))).json).toMatchObject({ outcome: 'no_approver' })
  const unreadable = await at.run([...config, '--json', 'approvals', 'list'])
  expect([unreadable.status, unreadable.json.error]).toMatchObject([
    2,
    { code: 'STORE_FAILED', message: expect.stringContaining('newer release') },
  ])
  expect(await readFile(file, 'utf8')).toContain('"version": 99')
})
