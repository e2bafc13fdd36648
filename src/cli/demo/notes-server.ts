/** The MCP server of the demo's plugin package: one file without dependencies, copied into both environments and started there by node. */
import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } }
}

const place = path.basename(process.cwd())
const notes: string[] = []
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false }
const tools = [
  {
    name: 'add',
    title: 'Add a note',
    description: 'Writes a note down.',
    inputSchema: text,
    annotations: { destructiveHint: false, openWorldHint: false },
  },
  {
    name: 'where',
    title: 'Where am I',
    description: 'Says which process answers.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
]

function answer({ method, params }: Message): object | null {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } }
    case 'tools/list':
      return { tools }
    case 'tools/call': {
      // what reached this process, for the demo to count
      appendFileSync('ledger.txt', `${params?.name}\n`)
      if (params?.name === 'add') notes.push(params.arguments?.text ?? '')
      const says = params?.name === 'add' ? `note ${notes.length} kept in ${place}` : `process ${process.pid} in ${place}`
      return { content: [{ type: 'text', text: says }] }
    }
    case 'ping':
      return {}
    default:
      return null
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) continue
  const result = answer(message)
  const reply = result === null ? { error: { code: -32601, message: 'Method not found' } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply })}\n`)
}
