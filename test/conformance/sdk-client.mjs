// The same scenarios with the SDK's own client, for `scripts/conformance.mjs --sdk`: what it fails, ours may fail.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const TOOLS = {
  initialize: null,
  tools_call: ['add_numbers', { a: 5, b: 3 }],
  'elicitation-sep1034-client-defaults': ['test_client_elicitation_defaults', {}],
  'sse-retry': ['test_reconnection', {}],
}
const tool = TOOLS[process.env.MCP_CONFORMANCE_SCENARIO]
assert.notEqual(tool, undefined)
const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: { form: { applyDefaults: true } } } })
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: {} }))
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv.at(-1))))
await client.listTools()
if (tool !== null) await client.callTool({ name: tool[0], arguments: tool[1] })
await client.close()
