// The smallest MCP server over Streamable HTTP: answers as JSON, without sessions, without dependencies. Prints its port, ends with its stdin.
import http from 'node:http'

const tools = [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }]

function resultOf({ method, params }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'plain', version: '1.0.0' } }
    case 'tools/list':
      return { tools }
    case 'tools/call':
      return { content: [{ type: 'text', text: params.arguments?.text ?? '' }] }
    default:
      return {}
  }
}

const server = http.createServer((request, response) => {
  if (request.method !== 'POST') return response.writeHead(request.method === 'GET' ? 405 : 200).end()
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (text) => (body += text))
  request.on('end', () => {
    const message = JSON.parse(body)
    if (message.id === undefined) return response.writeHead(202).end()
    const answer = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) }).end(answer)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
process.stdin.on('end', () => process.exit()).resume()
