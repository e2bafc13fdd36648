// The server of the attacks: notes every tool call that reaches it. Usage: node server.mjs WHERE, with the file in LEDGER.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [where] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const inputSchema = { type: 'object', properties: { path: { type: 'string' }, environment_id: { type: 'string' }, nested: {} } }
const tools = ['write', 'erase', 'asks'].map((name) => ({ name, inputSchema, annotations: { readOnlyHint: false, title: name } }))
const resources = [{ uri: 'x://one', name: 'one' }]

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || method === undefined) return
  if (method === 'initialize') {
    const capabilities = { tools: {}, resources: {}, experimental: { 'codex/sandbox-state': {} } }
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'files', version: '1.0.0' } } })
  }
  if (method === 'tools/list') return send({ id, result: { tools } })
  if (method === 'tools/call' || method === 'resources/read') {
    appendFileSync(
      process.env.LEDGER,
      `${JSON.stringify({ where, method, tool: params.name ?? params.uri, args: params.arguments, meta: params._meta })}\n`,
    )
  }
  if (method === 'tools/call' && params.arguments?.path === 'no answer') return
  if (method === 'tools/call') return send({ id, result: { content: [{ type: 'text', text: `${params.name} on ${where}` }], where } })
  if (method === 'resources/list') return send({ id, result: { resources } })
  if (method === 'resources/read') return send({ id, result: { contents: [{ uri: params.uri, text: `${params.uri} on ${where}` }] } })
  return send({ id, error: { code: -32601, message: 'Method not found' } })
})
