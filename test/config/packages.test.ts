import path from 'node:path'
import { expect, test } from 'vitest'
import { failure, loadText, placeOf } from './files.ts'

const SSH = { executor: 'ssh', host: 'box', cwd: '/srv/work' }

test('paths of this machine are those of the file, paths of others those of their environment; nothing is read', async () => {
  const loaded = await loadText({
    environments: { box: { ...SSH, pluginRoots: ['plugins/*', '/opt/*/x'] }, here: { pluginRoots: ['./plugins/*'] } },
    plugins: [
      { path: './absent' },
      { path: 'p', environment: 'box', installation: 'staging', mcpServers: { a: { enabled: false, enabled_tools: ['x'] } } },
      { path: '/opt/p', environment: 'box' },
    ],
  })
  expect(loaded.diagnostics).toEqual([])
  expect(
    loaded.packages.map(({ path: folder, environmentId, installationId, byUser }) => [folder, environmentId, installationId, byUser]),
  ).toEqual([
    [path.join(loaded.folder, 'absent'), 'local', null, true],
    ['/srv/work/p', 'box', 'staging', true],
    ['/opt/p', 'box', null, true],
  ])
  expect(loaded.environments.map(({ id, pluginRoots }) => [id, pluginRoots])).toEqual([
    ['box', ['plugins/*', '/opt/*/x']],
    ['here', [path.join(loaded.folder, 'plugins', '*')]],
    ['local', undefined],
  ])
})

const WRONG: readonly (readonly [string, string, string])[] = [
  ['{ "plugins": {} }', '{}', 'plugins must be a list of plugin packages, not an object'],
  ['{ "plugins": ["./p"] }', '"./p"', 'plugins[0] must be an object, not text'],
  ['{ "plugins": [{ "environment": "local" }] }', '{ "environment"', 'plugins[0] needs "path"'],
  ['{ "plugins": [{ "path": "p", "environment": "locl" }] }', '"locl"', 'there is no environment "locl" (did you mean "local"?)'],
  ['{ "plugins": [{ "path": "p", "installation": "default" }] }', '"default"', 'and not "default"'],
  ['{ "plugins": [{ "path": "p", "install": "x" }] }', '"install"', 'unknown key "install"'],
  ['{ "plugins": [{ "path": "p", "mcpServers": { "a": { "command": "sh" } } }] }', '"command"', 'the host sets policy alone'],
  ['{ "plugins": [{ "path": "p", "mcpServers": { "a": { "toolTimeoutSec": 0 } } }] }', '0', 'must be a number of seconds'],
  ['{ "environments": { "e": { "pluginRoots": ["/a/**/b"] } } }', '["/a', '"**" is not known'],
  ['{ "environments": { "e": { "discover": true } } }', 'true', 'needs an executor that knows its packages'],
  ['{ "environments": { "e": { "plugins": [] } } }', '"plugins"', 'write them into "plugins" at the top'],
]
test.each(WRONG)('%s', async (text, piece, said) => {
  const error = await failure(loadText(text))
  expect(error.code).toBe('CONFIG_INVALID')
  expect(error.message).toContain(said)
  expect(error.message).toContain(`tapline.json:${placeOf(text, piece)}`)
})
