import path from 'node:path'
import { expect, test } from 'vitest'
import { load } from './files.ts'

const ROOT = path.join(import.meta.dirname, '..', '..', 'examples')

test.each([
  ['tapline.json', ['notes']],
  ['config/tapline.toml', ['files', 'memory']],
  ['config/claude_desktop_config.json', ['memory']],
  ['config/.vscode/mcp.json', ['files', 'tracker']],
  ['config/config.toml', ['files', 'docs']],
])('the example %s is a configuration', async (name, servers) => {
  const env = { HOME: '/home/u', DOCS_TOKEN: 't', DOCS_TEAM: 't', TAPLINE_INPUT_TRACKER_KEY: 'k' }
  const loaded = await load([{ path: path.join(ROOT, name), kind: 'named' }], { env })
  expect(loaded.registrations.map(({ problem }) => problem)).toEqual(servers.map(() => null))
  expect(loaded.registrations.map(({ key }) => key.name)).toEqual(servers)
  expect(loaded.diagnostics.filter((one) => one.severity !== 'info')).toEqual([])
})
