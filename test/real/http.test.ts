/** server-everything over Streamable HTTP and over HTTP with SSE, from the built command and from the library. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Ended } from '../cases/driver.ts'
import { Case, end, library, text } from '../cases/driver.ts'
import { realServer } from './installed.ts'

const running: ChildProcess[] = []
const folder = mkdtempSync(join(tmpdir(), 'tapline-http-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => stop(one)))
})

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

async function freePort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the server and resolves when it takes connections. */
async function everything(mode: 'streamableHttp' | 'sse', port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [realServer('everything', folder).args[0]!, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  running.push(child)
  for (;;) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(socket.destroy() !== null)).on('error', () => resolve(false))
    })
    if (open) return child
    if (child.exitCode !== null) throw new Error(`server-everything ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

for (const [mode, path] of [
  ['streamableHttp', 'mcp'],
  ['sse', 'sse'],
] as const)
  test(`${mode}: tools, resources and prompts, calls with progress, structured content`, async () => {
    const port = await freePort()
    await everything(mode, port)
    await using at = new Case({ mcpServers: { web: { url: `http://127.0.0.1:${port}/${path}` } } })
    const call = (tool: string, args: object): Promise<Ended> => at.run(['call', '--server', 'web', tool, JSON.stringify(args)])
    const { json } = await at.run(['status'])
    const [row] = json.data
    expect(row).toMatchObject({
      runtimeStatus: 'connected',
      authStatus: 'unsupported',
      httpOrigin: `http://127.0.0.1:${port}`,
      serverInfo: { name: 'mcp-servers/everything' },
      error: null,
      pid: null,
    })
    expect([row.tools.length >= 12, row.resources.length, row.resourceTemplates.length, row.prompts.length]).toEqual([true, 7, 2, 4])
    expect(text(await call('echo', { message: 'grüße 😀' }))).toContain('grüße 😀')
    const weather = await call('get-structured-content', { location: 'Chicago' })
    expect([...end(weather), typeof weather.json.result.structuredContent.temperature]).toEqual([0, 'completed', 'yes', 'number'])
    const long = await at.run(['call', '--server', 'web', 'trigger-long-running-operation', '{"duration":1,"steps":2}'])
    expect(end(long)).toEqual([0, 'completed', 'yes'])
  })

test('the server is started again: its answer for an unknown session, 400, opens a new one', async () => {
  const port = await freePort()
  const first = await everything('streamableHttp', port)
  const { openSession } = await library()
  await using session = await openSession({ mcpServers: { web: { url: `http://127.0.0.1:${port}/mcp` } } })
  const read = (): Promise<any> => session.readResource({ server: 'web', uri: 'demo://resource/static/document/features.md' })
  const { items } = await session.listResources({ server: 'web' })
  expect(items).toHaveLength(7)
  await stop(first)
  await everything('streamableHttp', port)
  const { contents } = await read().catch(read)
  expect(contents).toHaveLength(1)
  const outcome = await session.callTool({ server: 'web', tool: 'echo', arguments: { message: 'again' } })
  expect(outcome.outcome).toBe('completed')
})
