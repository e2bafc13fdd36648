// The smallest MCP server over stdio that every variant is measured against: no dependency, and as little time of its own as possible.
// Arguments: a file that gets one line for each start (or nothing), and how many tools it lists.
import { appendFileSync } from 'node:fs'

const [startsFile = '', toolCount = '1'] = process.argv.slice(2)
if (startsFile !== '') appendFileSync(startsFile, `${process.pid}\n`)

const tools = Array.from({ length: Number(toolCount) }, (_, index) => ({
  name: index === 0 ? 'echo' : `tool_${index}`,
  description: 'Gives the text back.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}))
const texts = new Map()

/** The answer to `big` as JSON, made once for each size. */
function big(bytes) {
  let text = texts.get(bytes)
  if (text === undefined) texts.set(bytes, (text = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] })))
  return text
}

function resultOf({ method, params }) {
  switch (method) {
    case 'initialize':
      return JSON.stringify({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'plain', version: '1.0.0' },
      })
    case 'tools/list':
      return JSON.stringify({ tools })
    case 'tools/call':
      if (typeof params.arguments?.bytes === 'number') return big(params.arguments.bytes)
      return JSON.stringify({ content: [{ type: 'text', text: params.arguments?.text ?? '' }] })
    default:
      return '{}'
  }
}

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  let out = ''
  for (const line of lines) {
    const message = JSON.parse(line)
    if (message.id !== undefined && message.method !== undefined)
      out += `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${resultOf(message)}}\n`
  }
  if (out !== '') process.stdout.write(out)
})
