/** The SDK's own server over Streamable HTTP: as events with and without a store, as JSON, with and without sessions. */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { StreamableHTTPServerTransportOptions } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import type { Progress } from '../../src/mcp.ts'
import { callTool, httpConnection, text } from './fixtures/http.ts'
import { cleanUp, failure, later, newPool } from './fixtures/http-kit.ts'
import { until } from './fixtures/pool.ts'

cleanUp()

/** Keeps every event; an id has the stream in front. */
class Store {
  readonly #events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = []

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}/${this.#events.length}`
    this.#events.push({ id, stream, message })
    return Promise.resolve(id)
  }

  async replayEventsAfter(last: string, { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> }): Promise<string> {
    const at = this.#events.findIndex(({ id }) => id === last)
    const stream = this.#events[at]?.stream ?? ''
    for (const event of this.#events.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message)
    return stream
  }
}

interface Running {
  readonly url: string
  readonly calls: string[]
  readonly aborted: string[]
  readonly sessions: Map<string, StreamableHTTPServerTransport>
}

/** `session: false`: a server and a transport for every request. */
async function sdkServer(options: Partial<StreamableHTTPServerTransportOptions> & { readonly session?: boolean } = {}): Promise<Running> {
  const { session = true, ...more } = options
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const calls: string[] = []
  const aborted: string[] = []
  const newTransport = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      ...(session && {
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id: string) => void sessions.set(id, transport),
        onsessionclosed: (id: string) => void sessions.delete(id),
      }),
      ...more,
    })
    const server = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['echo', 'steps', 'breaks', 'waits'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args, _meta } }, extra) => {
      calls.push(name)
      const step = (progress: number): Promise<void> =>
        extra.sendNotification({ method: 'notifications/progress', params: { progressToken: _meta!.progressToken!, progress } })
      if (name === 'waits')
        await new Promise<void>((resolve) =>
          extra.signal.addEventListener('abort', () => {
            aborted.push(String(extra.requestId))
            resolve()
          }),
        )
      if (name !== 'echo') await step(1)
      if (name === 'breaks') extra.closeSSEStream?.()
      if (name !== 'echo') await step(2)
      return text(JSON.stringify(args))
    })
    await server.connect(transport)
    return transport
  }
  const handle = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id'] as string | undefined
    const known = id === undefined ? undefined : sessions.get(id)
    if (id !== undefined && known === undefined) return void response.writeHead(404).end()
    await (known ?? (await newTransport())).handleRequest(request, response)
  }
  const made = http.createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  later(
    () =>
      new Promise((resolve) => {
        made.close(resolve)
        made.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}/mcp`, calls, aborted, sessions }
}

const forms: readonly (readonly [string, Parameters<typeof sdkServer>[0]])[] = [
  ['events', {}],
  ['events with ids', { eventStore: new Store(), retryInterval: 5 }],
  ['JSON', { enableJsonResponse: true }],
  ['no sessions', { session: false }],
]
for (const [name, options] of forms)
  test(`${name}: start, call, thirty calls at once`, async () => {
    const at = await sdkServer(options)
    const connection = httpConnection(newPool(), at.url)
    const { tools } = await connection.ready()
    expect([...tools.keys()]).toEqual(['echo', 'steps', 'breaks', 'waits'])
    expect(await callTool(connection, 'echo', { a: 1 })).toEqual(text('{"a":1}'))
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => callTool(connection, 'echo', { n })))
    expect(answers).toEqual(Array.from({ length: 30 }, (_, n) => text(`{"n":${n}}`)))
  })

test('progress arrives before the answer; a stream that the server closes in the middle is taken up, and nothing is lost or comes twice', async () => {
  const at = await sdkServer({ eventStore: new Store(), retryInterval: 5 })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  for (const name of ['steps', 'breaks']) {
    const seen: Progress[] = []
    expect(await callTool(connection, name, { name }, { onProgress: (progress) => seen.push(progress) })).toEqual(
      text(`{"name":"${name}"}`),
    )
    expect([name, seen.map(({ progress }) => progress)]).toEqual([name, [1, 2]])
  }
  expect(at.calls).toEqual(['steps', 'breaks'])
})

test('a cancelled call is cancelled there too; a session that is closed is gone there', async () => {
  const at = await sdkServer()
  const pool = newPool()
  const connection = httpConnection(pool, at.url)
  await connection.ready()
  const caller = new AbortController()
  const call = failure(callTool(connection, 'waits', {}, { signal: caller.signal }))
  await until(() => at.calls.includes('waits'), 'the call')
  caller.abort()
  expect(await call).toMatchObject({ code: 'CALL_CANCELLED' })
  await until(() => at.aborted.length === 1, 'the cancellation')
  expect(at.sessions.size).toBe(1)
  await pool.close()
  expect(at.sessions.size).toBe(0)
})
