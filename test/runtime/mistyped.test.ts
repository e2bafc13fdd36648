import { expect, test } from 'vitest'
import { openRuntime, openSession } from '../../src/runtime/open-runtime.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

const files = scriptedServer({ tools: { list: { annotations: { readOnlyHint: true } } } })
const open = (): ReturnType<typeof openTestRuntime> => openTestRuntime({ environments: { laptop: { files }, staging: { files } } })

test.each(['environment', 'environment_id', 'environmentID', 'installation', 'args', 'input'])(
  'a call with the key %s is refused: it must not go to another environment',
  async (key) => {
    await using t = await open()
    const outcome = await t.callTool({ server: 'files', tool: 'list', [key]: 'staging' })
    expect(outcome).toMatchObject({ outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST', sent: 'no' })
    expect(outcome).toHaveProperty('message', expect.stringContaining(`"${key}"`))
    expect(t.sent.filter(({ method }) => method === 'tools/call')).toEqual([])
  },
)

test('a mistyped option of a call is named with the nearest one', async () => {
  await using t = await open()
  const outcome = await t.callTool({ server: 'files', tool: 'list' }, { timeout: 5 } as never)
  expect(outcome).toMatchObject({ outcome: 'invalid_request', message: expect.stringContaining('"timeout"') })
})

test('so are mistyped keys of the other requests', async () => {
  await using t = await open()
  const wrong = { environment: 'staging' } as never
  const refused = { code: 'CALL_INVALID_REQUEST', message: expect.stringContaining('"environment"') }
  await expect(t.session.readResource({ server: 'files', uri: 'x://1', ...(wrong as object) })).rejects.toMatchObject(refused)
  await expect(t.session.listResources(wrong)).rejects.toMatchObject(refused)
  await expect(t.session.listTools(wrong)).rejects.toMatchObject(refused)
  await expect(t.session.status(wrong)).rejects.toMatchObject(refused)
})

test.each([
  ['a runtime', () => openRuntime({ confg: '.mcp.json' } as never), 'did you mean "config"?'],
  ['flags', () => openRuntime({ flags: { multi_environment_mcp: true } } as never), 'multi_environment_mcp'],
  ['openSession', () => openSession({ approvr: () => {} } as never), 'did you mean "approver"?'],
  ['an approver', () => openSession({ approver: 'yes' } as never), 'approver must be a function'],
  ['the test kit', () => openTestRuntime({ threadwide: {} } as never), 'threadwide'],
])('mistyped options of %s are refused', async (_what, run, words) => {
  await expect(run()).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining(words) })
})

test('filters that fit nothing are told: a guard must not be missing without a word', async () => {
  await using t = await openTestRuntime({
    environments: { staging: { files } },
    hooks: [
      {
        plugin: { name: 'g', apply: ({ hooks }) => hooks.approve.tap({ name: 'guard', servers: ['file'] }, () => undefined) },
        environments: ['stagging'],
      },
      {
        name: 'fits',
        apply: ({ hooks }) => hooks.approve.tap({ name: 'fits', servers: ['fil*'], environments: [null, 'staging'] }, () => undefined),
      },
    ],
  })
  expect(t.session.diagnostics.filter(({ code }) => code === 'filter_fits_nothing').map(({ message }) => message)).toEqual([
    'tap "guard" of plugin "g" on approve is limited to the environment "stagging", which is not declared: did you mean "staging"?',
    'tap "guard" of plugin "g" on approve is limited to the server "file", which is not declared: did you mean "files"?',
  ])
})
