// An MCP server with a subprocess and a cache that outlive a call, each kept for the authority of the call that made it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createInterface } from 'node:readline'
import { AuthorityGuard, readSandbox, sandboxCapability } from 'tapline/sandbox'
import { z } from 'zod'

const server = new McpServer({ name: 'repl', version: '1.0.0' }, { capabilities: { experimental: { ...sandboxCapability } } })
const text = (text) => ({ content: [{ type: 'text', text }] })

/** One shell, what it prints line by line, and the guard of the call that started it. */
let shell
let turn = Promise.resolve()

function start(meta) {
  const guard = new AuthorityGuard(meta)
  const child = readSandbox(meta).spawn('sh', [], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {}) // it has ended; the next line starts another one
  return { child, guard, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

async function ask(line, meta) {
  if (shell !== undefined && (shell.child.exitCode !== null || !shell.guard.same(meta))) {
    shell.child.kill() // what it may do was decided for another call
    shell = undefined
  }
  shell ??= start(meta)
  shell.child.stdin.write(`${line}\necho "-- $?"\n`)
  const answer = []
  for (;;) {
    const { value, done } = await shell.lines.next()
    if (done) {
      shell.child.kill() // it has closed its output, and may not have ended yet
      shell = undefined
      return text([...answer, 'the shell has ended'].join('\n'))
    }
    answer.push(value)
    if (value.startsWith('-- ')) return text(answer.join('\n'))
  }
}

server.registerTool('line', { description: 'A line for the shell', inputSchema: { line: z.string() } }, ({ line }, { _meta }) => {
  turn = turn.catch(() => {}).then(() => ask(line, _meta)) // one line after the other
  return turn
})

/** What a command printed, for calls that could have run it themselves. */
let cached
server.registerTool('files', { description: 'Files of the working folder, listed once' }, async ({ _meta }) => {
  if (cached === undefined || !cached.guard.same(_meta)) {
    const guard = new AuthorityGuard(_meta)
    const { stdout } = await readSandbox(_meta).run('ls')
    cached = { guard, stdout, listed: (cached?.listed ?? 0) + 1 }
  }
  return text(`listed ${cached.listed} times: ${cached.stdout}`)
})

await server.connect(new StdioServerTransport())
