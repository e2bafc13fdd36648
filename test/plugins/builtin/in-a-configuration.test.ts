// The built-in plugins as a configuration names them: through the built command, and by name.
import fs from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BUILTIN_HOOKS } from '../../../src/config/keys.ts'
import { BUILTIN_NAMES, factoryByName } from '../../../src/plugins/builtin/by-name.ts'
import { loadHookModule } from '../../../src/plugins/loader.ts'
import { Place, server } from '../../cli/tapline.ts'

let place: Place
beforeAll(async () => {
  place = await Place.make()
})
afterAll(() => place[Symbol.asyncDispose]())

test('a configuration can name exactly the plugins that there are', async () => {
  expect(BUILTIN_NAMES).toEqual(BUILTIN_HOOKS)
  await expect(factoryByName('constructor', '/')).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN' })
})

test('through the command: calls are redacted, refused and written down, beside the configuration', async () => {
  await place.write('sub/c.json', {
    mcpServers: { s: { ...server('s'), env: { TOKEN: 'a-secret-of-the-config' }, defaultToolsApprovalMode: 'approve' } },
    hooks: [
      { builtin: 'tool-list', options: { deny: ['write'] } },
      { builtin: 'redact', options: { patterns: ['tok-[a-z]{8}'] }, servers: ['s'] },
      { builtin: 'audit-log', options: { file: 'audit.jsonl', arguments: 'full' } },
      { builtin: 'retry' },
      { builtin: 'open-telemetry' },
    ],
  })
  const call = (tool: string, args: object): ReturnType<Place['run']> =>
    place.run(['--config', 'sub/c.json', '--json', 'call', '--server', 's', tool, JSON.stringify(args)])
  const echo = await call('echo', { a: 'tok-abcdefgh', b: 'a-secret-of-the-config' })
  expect([echo.status, echo.json]).toMatchObject([0, { outcome: 'completed' }])
  expect(JSON.parse(echo.json.result.content[0].text)).toMatchObject({ a: '[redacted]' })
  expect((await call('write', {})).json).toMatchObject({ outcome: 'refused', sent: 'no' })
  const text = fs.readFileSync(place.path('sub/audit.jsonl'), 'utf8')
  expect(text).not.toContain('tok-abcdefgh')
  expect(text).not.toContain('a-secret-of-the-config')
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { tool: 'echo', outcome: 'completed', sent: 'yes', arguments: { a: '[redacted]', b: '[redacted]' } },
    { tool: 'write', outcome: 'refused', code: 'CALL_REFUSED' },
  ])
}, 60_000)

test('a mistake in the options says where it is, and stops the opening', async () => {
  const file = await place.write('bad.json', {
    mcpServers: { s: server('s') },
    hooks: [{ builtin: 'redact', options: { patterns: ['(a'] } }],
  })
  const bad = await place.run(['--config', 'bad.json', '--json', 'tools'])
  expect(bad.json).toMatchObject({ error: { code: 'HOOK_BAD_PLUGIN' } })
  expect(bad.json.error.message).toContain('patterns.0: error parsing regexp')
  expect(JSON.stringify(bad.json)).toContain(file)
}, 60_000)

test('an option that only code can give is refused', async () => {
  const spec = { module: 'audit-log', kind: 'builtin', folder: place.folder, where: 'c.json:1:1' } as const
  await expect(loadHookModule({ ...spec, options: { write: 'x' } })).rejects.toMatchObject({
    code: 'HOOK_BAD_PLUGIN',
    where: 'c.json:1:1',
    message: expect.stringContaining('write: must be a function') as string,
  })
})
