/** The MCP server that a new package comes with, to try its plugin on. It needs no package. */
export const notesServer = (): string => `// A small MCP server over stdio: three tools around a list of notes.
import { createInterface } from 'node:readline'

/** @type {string[]} */
const notes = []
const text = (/** @type {string} */ value) => ({ content: [{ type: 'text', text: value }] })

/** @type {Record<string, { description: string, annotations: object, inputSchema: object, run: (args: any) => object }>} */
const tools = {
  add: {
    description: 'Keeps a note.',
    annotations: { readOnlyHint: false, destructiveHint: false },
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: (args) => text(\`note \${notes.push(args.text)}\`),
  },
  list: {
    description: 'Shows every note.',
    annotations: { readOnlyHint: true },
    inputSchema: { type: 'object' },
    run: () => text(notes.join('\\n')),
  },
  clear: {
    description: 'Deletes every note.',
    annotations: { readOnlyHint: false, destructiveHint: true },
    inputSchema: { type: 'object' },
    run: () => text(\`deleted \${notes.splice(0).length}\`),
  },
}

/** @param {any} request */
function answer({ method, params }) {
  if (method === 'initialize')
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } }
  if (method === 'ping') return {}
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run: _run, ...tool }]) => ({ name, ...tool })) }
  if (method === 'tools/call' && Object.hasOwn(tools, params.name)) return tools[params.name].run(params.arguments ?? {})
  return null
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  if (request.id === undefined) continue
  const result = answer(request)
  const end = result === null ? { error: { code: -32601, message: \`no \${request.method}\` } } : { result }
  process.stdout.write(\`\${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...end })}\\n\`)
}
`
