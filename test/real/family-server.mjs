// A server that has started another process, ignores what asks it to end, and outlives whoever called it if nobody ends it.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

spawn('sleep', ['600'], { stdio: 'ignore' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
setInterval(() => {}, 1000)
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'family', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'none', inputSchema: { type: 'object' } }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = answers[method]?.(params ?? {})
  if (id !== undefined)
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: method } }) })}\n`,
    )
})
