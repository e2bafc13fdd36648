// A guard for one of two environments. Run with `node --test`.
import assert from 'node:assert/strict'
import test from 'node:test'
import { deny, type HookPlugin } from 'tapline/plugin'
import { openTestRuntime, scriptedServer } from 'tapline/testing'

const guardStaging: HookPlugin = {
  name: 'guard-staging',
  apply({ hooks }) {
    hooks.approve.tap({ name: 'no-writes', environments: ['staging'], tools: ['write_*'] }, (call) =>
      deny(`${call.tool} is off on ${String(call.owner)}`),
    )
  },
}
// one specification may stand for several servers: each gets a connection of its own
const files = scriptedServer({ tools: { write_file: { run: () => 'written' } } })

await test('refuses in staging, lets laptop through', async () => {
  const runtime = await openTestRuntime({
    environments: { laptop: { files }, staging: { servers: { files }, permissions: 'read-only' } },
    // without it only `files` of laptop is there; `features: { multi_environment_mcp: true }` does the same
    flags: { override: { multi_environment_mcp: true } },
    hooks: [guardStaging],
  })
  try {
    const write = (environmentId: string) => runtime.callTool({ server: 'files', environmentId, tool: 'write_file' })

    assert.equal((await write('laptop')).outcome, 'completed')
    const refused = await write('staging')
    assert.equal(refused.forModel.text, 'The call was refused: write_file is off on files (environment staging)')
    assert.equal(refused.sent, 'no')

    const calls = runtime.sent.filter(({ method }) => method === 'tools/call')
    assert.deepEqual(
      calls.map(({ owner }) => String(owner)),
      ['files (environment laptop)'],
    )
    // a filter that fits nothing would be told here
    assert.deepEqual(runtime.session.diagnostics, [])
  } finally {
    await runtime.close()
  }
})
