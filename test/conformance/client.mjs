// The client under test of the MCP conformance suite, on the built library: scripts/conformance.mjs runs it once for each scenario.
// It ends with 1 and says why as soon as anything is not as it should be, because a scenario passes where nothing was asked for.
import assert from 'node:assert/strict'
import { openSession } from 'tapline'

const scenario = process.env.MCP_CONFORMANCE_SCENARIO
const url = process.argv.at(-1)

async function call(session, tool, args = {}) {
  const outcome = await session.callTool({ server: 'server', tool, arguments: args })
  assert.equal(outcome.outcome, 'completed', outcome.message)
  assert.notEqual(outcome.result.isError, true, JSON.stringify(outcome.result))
  return outcome.result
}

const scenarios = {
  async initialize(session) {
    const { tools, errors } = await session.listTools()
    assert.deepEqual([tools, errors], [[], []])
    const { data } = await session.status()
    assert.equal(data[0].runtimeStatus, 'connected', data[0].error?.message)
  },
  async tools_call(session) {
    const { tools, errors } = await session.listTools()
    assert.deepEqual([tools.map(({ tool }) => tool), errors], [['add_numbers'], []])
    const { content } = await call(session, 'add_numbers', { a: 5, b: 3 })
    assert.match(content[0].text, /\b8\b/)
  },
  async 'elicitation-sep1034-client-defaults'(session, asked) {
    await call(session, 'test_client_elicitation_defaults')
    assert.deepEqual(asked, ['form'])
  },
  async 'sse-retry'(session) {
    const { content } = await call(session, 'test_reconnection')
    assert.ok(content[0].text.length > 0)
  },
}

assert.ok(Object.hasOwn(scenarios, scenario), `the client has nothing for the scenario ${scenario}`)
const asked = []
const session = await openSession({
  mcpServers: { server: { url, defaultToolsApprovalMode: 'approve' } },
  // accepts, and leaves every field to its default
  onElicitation: async ({ mode }) => {
    asked.push(mode)
    return { action: 'accept', content: {} }
  },
})
try {
  await scenarios[scenario](session, asked)
} finally {
  await session.close()
}
