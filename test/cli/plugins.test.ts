/** `tapline plugins list`, and installations on the command line. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { Case, said, SLOW, server } from '../cases/driver.ts'

test('packages, their servers and what is wrong with them; nothing is started', SLOW, async () => {
  await using at = new Case()
  at.write('p/.codex-plugin/plugin.json', { name: 'probe', version: '1.0.0', description: 'It probes' })
  at.write('p/.mcp.json', { echo: server('echo.mjs', ['p']), out: { command: 'node', cwd: '..' } })
  at.write('tapline.json', {
    environments: { here: { pluginRoots: ['./found/*'] }, other: {} },
    plugins: [
      { path: './p', environment: 'here' },
      { path: './p', environment: 'here', installation: 'staging' },
      { path: './absent', environment: 'here' },
    ],
  })
  const { status, json } = await at.run(['plugins', 'list'])
  const root = path.join(at.dir, 'p')
  expect([status, json.plugins]).toMatchObject([
    0,
    [
      {
        id: 'probe',
        version: '1.0.0',
        description: 'It probes',
        environmentId: 'here',
        installationId: null,
        root,
        manifest: path.join(root, '.codex-plugin', 'plugin.json'),
        source: 'selected',
        servers: [
          { owner: { name: 'echo', display: 'echo (environment here)' }, enabled: true, error: null },
          { owner: { name: 'out' }, error: { code: 'CONFIG_INVALID', message: expect.stringContaining('.mcp.json:') } },
        ],
      },
      { installationId: 'staging', servers: [{ owner: { display: 'echo (environment here, installation staging)' } }, {}] },
    ],
  ])
  expect(json.diagnostics).toContainEqual(expect.objectContaining({ code: 'no_package' }))
  expect(at.ledger()).toEqual([])
  const text = await at.run(['plugins', 'list', '--environment', 'here'], { json: false })
  expect(text.stdout).toMatch(/^PLUGIN .*\nprobe +1\.0\.0 +here +- +echo, out .*\nprobe +1\.0\.0 +here +staging /)
  expect(text.stderr).toContain('absent is no plugin package')
  expect(await at.run(['plugins', 'list', '--environment', 'other'])).toMatchObject({ status: 0, json: { plugins: [] } })
  const unknown = await at.run(['plugins', 'list', '--environment', 'nowhere'])
  expect([unknown.status, said(unknown)]).toEqual([2, expect.stringContaining('is not declared; there is here, other, local')])
})

test('--installation selects one of two', SLOW, async () => {
  await using at = new Case()
  for (const name of ['a', 'b']) at.write(`${name}/.mcp.json`, { echo: server('echo.mjs', [name]) })
  at.write('tapline.json', {
    features: { multi_environment_mcp: true },
    plugins: [{ path: './a' }, { path: './b', installation: 'b' }],
  })
  const called = async (...more: string[]): Promise<unknown> => {
    const { status, json } = await at.run(['call', '--server', 'echo', ...more, 'whoami', '{}', '--approve', 'once'])
    return [status, json.owner?.display ?? json.code]
  }
  expect(await called('--installation', 'b')).toEqual([0, 'echo (environment local, installation b)'])
  expect(await called('--installation', 'default')).toEqual([0, 'echo (environment local)'])
  expect(await called()).toEqual([2, 'AMBIGUOUS_SERVER'])
  const owners = async (command: string, key: string, name: string): Promise<unknown> =>
    (await at.run([command, '--installation', name])).json[key].map((one: any) => one.owner.installationId)
  for (const [command, key] of [
    ['tools', 'tools'],
    ['status', 'data'],
  ] as const)
    expect([await owners(command, key, 'b'), await owners(command, key, 'default')]).toEqual([['b'], [null]])
})
