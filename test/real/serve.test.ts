/** Clients and servers of other makes around `tapline serve --stdio`: the Codex CLI in front of it, the reference servers behind it. */
import { spawn } from 'node:child_process'
import { mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { Case, server } from '../cases/driver.ts'
import { MAIN } from '../cli/tapline.ts'
import { codexBinary } from './codex.ts'
import { realServer } from './installed.ts'

const script = (name: 'everything' | 'filesystem'): string => realServer(name, tmpdir()).args[0]!

/** Asks `codex app-server` one thing. */
async function askCodex(at: Case, config: string, method: string): Promise<any> {
  const home = at.path('codex')
  mkdirSync(home)
  at.write('codex/config.toml', config)
  const child = spawn(codexBinary(), ['app-server'], {
    cwd: at.dir,
    env: { ...at.env, CODEX_HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  try {
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'test', title: 'test', version: '0' } } })
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result, error } = JSON.parse(line)
      if (id === 1) {
        send({ method: 'initialized' })
        send({ id: 2, method, params: {} })
      }
      if (id === 2) return result ?? { error }
    }
    throw new Error('codex app-server ended without an answer')
  } finally {
    child.stdin.end()
    child.kill()
    await gone
  }
}

test('Codex as the client lists the tools of all servers, their resources and templates', async () => {
  await using at = new Case()
  at.write('tapline.json', {
    environments: { vm: { cwd: '.', mcpServers: { echo: server('echo.mjs', ['vm']) } } },
    mcpServers: { everything: { command: process.execPath, args: [script('everything')], env: { ...at.servers } } },
    features: { multi_environment_mcp: true },
  })
  const listed = await at.run(['tools'])
  const args = [MAIN, '--config', at.path('tapline.json'), 'serve', '--stdio']
  const variables = Object.entries(at.servers).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  const config = `[mcp_servers.tapline]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify(args)}
env = { ${variables.join(', ')} }
`
  const { data } = await askCodex(at, config, 'mcpServerStatus/list')
  const [row] = data
  expect(row).toMatchObject({ name: 'tapline', serverInfo: { name: 'tapline' } })
  const names: string[] = listed.json.tools.map(({ name }: { name: string }) => name)
  expect(names.length).toBeGreaterThan(12)
  // a server may list more to a client that can be asked
  expect(Object.keys(row.tools)).toEqual(expect.arrayContaining(names))
  expect(row.resources.length).toBeGreaterThan(0)
  for (const { uri } of row.resources) expect(uri).toMatch(/^tapline:\/\/\/(everything\/~|echo\/vm)\/~\//)
  expect(row.resourceTemplates.length).toBeGreaterThan(0)
})

/** A client of the SDK in front of the command line. */
async function connect(at: Case, client: Client): Promise<void> {
  const args = [MAIN, '--config', 'tapline.json', 'serve', '--stdio']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...at.env }, cwd: at.dir, stderr: 'ignore' }))
}
const textOf = (result: any): string => result.content[0].text

test('roots: the file server works in the folders of its environment; without them in those of the client; without these in its arguments', async () => {
  await using at = new Case()
  for (const folder of ['given', 'environment', 'extra', 'client']) mkdirSync(at.path(folder))
  const files = { command: process.execPath, args: [script('filesystem'), at.path('given')], env: { ...at.servers } }
  at.write('tapline.json', {
    environments: { vm: { cwd: './environment', extraRoots: ['./extra'], mcpServers: { files } } },
    mcpServers: { wide: files },
    features: { multi_environment_mcp: true },
  })
  const allowed = async (client: Client): Promise<string[][]> => {
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name).filter((name) => name.endsWith('list_allowed_directories'))
    expect(names).toHaveLength(2)
    // it asks for roots after it was initialised
    const folders = async (name: string): Promise<string[]> =>
      textOf(await client.callTool({ name }))
        .split('\n')
        .slice(1)
        .map((folder) => folder.slice(at.dir.length + 1))
    const scoped = names.find((name) => !name.includes('wide'))!
    const wide = names.find((name) => name.includes('wide'))!
    return [await folders(scoped), await folders(wide)]
  }
  const plain = new Client({ name: 'test', version: '0' })
  await connect(at, plain)
  expect(await allowed(plain)).toEqual([['environment', 'extra'], ['given']])
  await plain.close()
  const rooted = new Client({ name: 'test', version: '0' }, { capabilities: { roots: {} } })
  let asked = 0
  rooted.setRequestHandler(ListRootsRequestSchema, () => {
    asked++
    return { roots: [{ uri: `file://${realpathSync(at.path('client'))}` }] }
  })
  await connect(at, rooted)
  expect(await allowed(rooted)).toEqual([['environment', 'extra'], ['client']])
  expect(asked).toBe(1)
  await rooted.close()
})

test('the server of everything behind the gateway: structured content, images, a question to the client’s model', async () => {
  await using at = new Case()
  at.write('tapline.json', {
    mcpServers: {
      everything: { command: process.execPath, args: [script('everything')], env: { ...at.servers }, defaultToolsApprovalMode: 'approve' },
    },
  })
  const client = new Client({ name: 'test', version: '0' }, { capabilities: { sampling: {}, elicitation: {} } })
  const { CreateMessageRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'test-model',
    content: { type: 'text', text: 'the model says hello' },
  }))
  await connect(at, client)
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toContain('mcp__everything__echo')
  const weather = await client.callTool({ name: 'mcp__everything__get-structured-content', arguments: { location: 'Chicago' } })
  expect(weather.structuredContent).toMatchObject({ conditions: expect.any(String) })
  const image = await client.callTool({ name: 'mcp__everything__get-tiny-image', arguments: {} })
  expect((image.content as any[]).some((block) => block.type === 'image')).toBe(true)
  const sampling = names.find((name) => name.includes('sampling'))!
  const answer = await client.callTool({ name: sampling, arguments: { prompt: 'hello', maxTokens: 10 } })
  expect(JSON.stringify(answer)).toContain('the model says hello')
  await client.close()
})
