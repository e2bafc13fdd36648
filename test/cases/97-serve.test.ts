/** `tapline serve --stdio` as a process of its own, with the client of the MCP SDK in front of it. */
import { spawn } from 'node:child_process'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema, ResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { MAIN } from '../cli/tapline.ts'
import { full } from '../gateway/client.ts'
import { Case, SLOW, until } from './driver.ts'

const config = (more: object = {}, top: object = {}): object => ({
  mcpServers: { full: { ...full('full'), env_vars: ['CASE_LEDGER', 'CASE_MARK'], ...more } },
  ...top,
})
const command = (at: Case, ...args: string[]): { command: string; args: string[]; env: Record<string, string>; cwd: string } => ({
  command: process.execPath,
  args: [MAIN, ...args],
  env: { ...at.env },
  cwd: at.dir,
})
async function connect(at: Case, client: Client): Promise<{ transport: StdioClientTransport; stderr: () => string }> {
  const transport = new StdioClientTransport({ ...command(at, '--config', 'tapline.json', 'serve', '--stdio'), stderr: 'pipe' })
  let said = ''
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await client.connect(transport)
  return { transport, stderr: () => said }
}
const newClient = (capabilities = {}): Client => new Client({ name: 'test', version: '0' }, { capabilities })

/** The process alone, with what it wrote. */
function serve(at: Case, ...args: string[]) {
  const { command: program, args: all, ...options } = command(at, ...args)
  const child = spawn(program, all, { ...options, stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin.on('error', () => {})
  const done = new Promise<{ status: number | null; signal: string | null }>((resolve) =>
    child.on('close', (status, signal) => resolve({ status, signal })),
  )
  const send = (id: number, method: string, params: object = {}): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  return { child, done, send, stdout: () => stdout, stderr: () => stderr }
}
const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '0' } }

test('the client of the SDK lists, calls, is asked, and is told of changes; nothing is left when it closes', SLOW, async () => {
  await using at = new Case(config())
  const client = newClient({ elicitation: {} })
  const asked: string[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { decision: 'once' } }
  })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  await connect(at, client)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('mcp__full__echo')
  const steps: number[] = []
  await client.callTool({ name: 'mcp__full__steps', arguments: { ms: 100 } }, undefined, {
    onprogress: ({ progress }) => steps.push(progress),
  })
  expect(steps).toEqual([1, 2, 3])
  expect(await client.callTool({ name: 'mcp__full__write', arguments: { path: 'x' } })).toMatchObject({
    content: [{ text: 'full:write' }],
  })
  expect(asked).toHaveLength(1)
  await client.callTool({ name: 'mcp__full__swap' })
  await until(() => changes > 0)
  const { resources } = await client.listResources()
  const { contents } = await client.readResource({ uri: resources[0]!.uri })
  expect(contents[0]).toMatchObject({ uri: resources[0]!.uri, text: 'full has test://same' })
  const { prompts } = await client.listPrompts()
  expect((await client.getPrompt({ name: prompts[0]!.name, arguments: { who: 'me' } })).messages).toHaveLength(1)
  await client.close()
})

test('what a hook module prints does not reach the client as a message, and hooks judge its calls', SLOW, async () => {
  await using at = new Case(config({}, { hooks: ['./loud.mjs'] }))
  at.write(
    'loud.mjs',
    `console.log('printed while loading')
export default {
  name: 'loud',
  apply({ hooks }) {
    console.log('printed in apply')
    hooks.resolve.tap('loud', (call) => {
      console.log('printed in a tap')
      process.stdout.write('{"jsonrpc":"2.0","method":"notifications/forged"}\\n')
      return call.tool === 'echo' ? { arguments: { rewritten: true } } : undefined
    })
  },
}
`,
  )
  const client = newClient()
  const errors: unknown[] = []
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target
  client.onerror = (error) => errors.push(error)
  client.fallbackNotificationHandler = (notification) => Promise.resolve(void errors.push(notification))
  const { stderr } = await connect(at, client)
  // callTool of the SDK refuses blocks that it does not know
  const { structuredContent } = await client.request(
    { method: 'tools/call', params: { name: 'mcp__full__echo', arguments: { a: 1 } } },
    ResultSchema,
  )
  expect(structuredContent).toMatchObject({ args: { rewritten: true } })
  expect(errors).toEqual([])
  for (const line of ['printed while loading', 'printed in apply', 'printed in a tap']) expect(stderr()).toContain(line)
  await client.close()
})

test('it ends with its client: end of input is status 0, SIGTERM is 143, and so in the middle of a call or of a start', SLOW, async () => {
  await using at = new Case(config())
  const idle = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  idle.send(1, 'initialize', initialize)
  await until(() => idle.stdout().includes('"id":1'))
  idle.child.stdin.end()
  expect(await idle.done).toEqual({ status: 0, signal: null })

  const calling = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  calling.send(1, 'initialize', initialize)
  calling.send(2, 'tools/call', { name: 'mcp__full__hang' })
  calling.send(3, 'tools/call', { name: 'mcp__full__echo' })
  await until(() => calling.stdout().includes('"id":3'))
  calling.child.kill('SIGTERM')
  expect(await calling.done).toEqual({ status: 143, signal: null })

  const starting = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  starting.send(1, 'initialize', initialize)
  starting.send(2, 'tools/list')
  starting.child.stdin.end()
  expect((await starting.done).status).toBe(0)
  // a client that never says anything
  const silent = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  silent.child.stdin.end()
  expect(await silent.done).toEqual({ status: 0, signal: null })
})

test('killed, it leaves no server', SLOW, async () => {
  await using at = new Case(config())
  const killed = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  killed.send(1, 'initialize', initialize)
  killed.send(2, 'tools/list')
  await until(() => killed.stdout().includes('"id":2'))
  killed.child.kill('SIGKILL')
  await killed.done
  await until(() => at.left().length === 0)
  expect(at.left()).toEqual([])
})

test('files that were found have to be trusted; a mistake is told on stderr, and stdout stays empty', SLOW, async () => {
  await using at = new Case(config())
  const untrusted = serve(at, 'serve', '--stdio')
  expect([(await untrusted.done).status, untrusted.stdout()]).toEqual([2, ''])
  expect(untrusted.stderr()).toContain('tapline trust')
  expect((await at.run(['trust'], { config: null })).status).toBe(0)
  const trusted = serve(at, 'serve', '--stdio')
  trusted.send(1, 'initialize', initialize)
  await until(() => trusted.stdout().includes('"id":1'))
  trusted.child.stdin.end()
  expect((await trusted.done).status).toBe(0)
  const nothing = serve(at, '--config', 'tapline.json', 'serve')
  expect([(await nothing.done).status, nothing.stdout()]).toEqual([2, ''])
  expect(nothing.stderr()).toContain('--stdio')
  at.write('broken.json', '{')
  const broken = serve(at, '--config', 'broken.json', 'serve', '--stdio')
  expect([(await broken.done).status, broken.stdout()]).toEqual([2, ''])
})

test('a required server that does not start ends it with an error', SLOW, async () => {
  await using at = new Case(config({ command: process.execPath, args: ['-e', 'process.exit(3)'], required: true }))
  const ended = serve(at, '--config', 'tapline.json', 'serve', '--stdio')
  ended.send(1, 'initialize', initialize)
  expect((await ended.done).status).toBe(4)
  expect(ended.stderr()).toContain('SERVER_START_FAILED')
  for (const line of ended.stdout().split('\n').filter(Boolean)) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
})
