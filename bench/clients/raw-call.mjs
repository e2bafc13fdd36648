// One call of a stdio server and nothing else: the floor of a command that makes one call. Argument: the script of the server.
import { spawn } from 'node:child_process'

const child = spawn(process.execPath, [process.argv[2]])
const waiting = []
let rest = ''
child.stdout.setEncoding('utf8')
child.stdout.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) waiting.shift()(JSON.parse(line).result)
})
let id = 0
const request = (method, params) => {
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
  return new Promise((resolve) => waiting.push(resolve))
}

await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'floor', version: '1' } })
child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
const { content } = await request('tools/call', { name: 'echo', arguments: { text: 'hello' } })
console.log(content[0].text)
child.stdin.end()
