// A server that says where it runs: the same answer by tool, resource and prompt. The argument is a label of its copy.
import { createInterface } from 'node:readline'

const where = JSON.stringify({ label: process.argv[2], home: process.env.HOME, pid: process.pid })
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'where', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [{ name: 'where', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: where }] }),
  'resources/list': () => ({ resources: [{ uri: 'x://where', name: 'where' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: where }] }),
  'prompts/list': () => ({ prompts: [{ name: 'where' }] }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: where } }] }),
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const result = answers[method]?.(params ?? {})
    const end = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...end })}\n`)
  })
  .on('close', () => process.exit(0))
