// A server that answers every call after 200 notices that nobody asked for, about 100 kB.
const notice = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(400) } })}\n`
const noise = notice.repeat(200)

let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const result =
      method === 'initialize'
        ? { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'noisy', version: '1' } }
        : method === 'tools/list'
          ? { tools: [{ name: 'noise', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] }
          : { content: [] }
    process.stdout.write(`${method === 'tools/call' ? noise : ''}${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  }
})
