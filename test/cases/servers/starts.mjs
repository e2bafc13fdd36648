// node starts.mjs MODE: servers that start badly.
import { spawn } from 'node:child_process'
import { note, send, serve, text, tool } from './base.mjs'

const mode = process.argv[2]
const GARBAGE = {
  word: 'hello',
  list: [],
  null: null,
  number: 42,
  true: true,
  empty: {},
  nested: { result: { protocolVersion: '2025-11-25' } },
}
const TOOLS = { 'tools/list': () => ({ tools: [tool('fast')] }), 'tools/call': ({ name }) => text(name) }
const silent = () => undefined

if (mode.startsWith('garbage-')) serve({ initialize: () => GARBAGE[mode.slice(8)], ...TOOLS })
else if (mode === 'wrong-id')
  serve({
    initialize: (params) => void send({ id: 4711, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: {} } }),
    ...TOOLS,
  })
else if (mode === 'text-id')
  serve({
    initialize: (params, { id }) =>
      void send({
        id: String(id),
        result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      }),
    ...TOOLS,
  })
else if (mode === 'quiet-exit') {
  note('start')
  process.exit(0)
} else if (mode === 'half-frame')
  serve({ initialize: () => void process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"20') })
else if (mode === 'half-frame-exit')
  serve({ initialize: () => void process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"proto', () => process.exit(0)) })
else if (mode === 'asks-a-person') {
  // as a package runner does that wants to install first
  note('start')
  process.stdout.write('Need to install the following packages:\n  some-server@1.0.0\nOk to proceed? (y) ')
  process.stdin.resume()
} else if (mode === 'noisy-stderr') {
  const line = `${'waiting for the database '.repeat(40)}\n`
  serve({ initialize: silent })
  const flood = () => process.stderr.write(line.repeat(100), () => setTimeout(flood, 1))
  flood()
} else if (mode === 'child-hangs') {
  // a wrapper in a shell: what it starts never speaks and outlives it
  const child = spawn('sh', ['-c', 'trap "" TERM; sleep 300 & sleep 300; wait'], { stdio: 'inherit' })
  note('start', { kid: child.pid })
  process.stdin.resume()
} else if (mode === 'crashes-late') {
  serve({ initialize: silent })
  setTimeout(() => {
    process.stderr.write('Error: connect ECONNREFUSED 127.0.0.1:5432\n', () => process.exit(9))
  }, 800)
} else if (mode === 'killed') {
  note('start')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)
  process.stdin.resume()
} else serve(TOOLS)
