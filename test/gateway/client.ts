// A client of the gateway in this process, over streams, and real servers behind it.
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ClientStream } from '../../src/gateway/client-stream.ts'
import { serveClient } from '../../src/gateway/gateway.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Runtime, RuntimeOptions } from '../../src/runtime/types.ts'

const SERVER = fileURLToPath(new URL('fixtures/full-server.mjs', import.meta.url))

/** A definition of the server that has everything. */
export const full = (name: string, log = '', more: object = {}): NonNullable<RuntimeOptions['mcpServers']>[string] => ({
  command: process.execPath,
  args: [SERVER, name, log],
  ...more,
})

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: any
}
type OnRequest = (method: string, params: any) => unknown

/** One client. Every message that came is in `seen`. */
export class GatewayClient implements AsyncDisposable {
  readonly seen: any[] = []
  readonly notes: string[] = []
  readonly input: PassThrough = new PassThrough()
  readonly runtime: Runtime
  readonly served: Promise<void>
  readonly abort: AbortController = new AbortController()
  readonly #onRequest: OnRequest
  readonly #waiting = new Map<unknown, { resolve: (result: any) => void; reject: (error: RpcError) => void }>()
  readonly #watching = new Set<() => void>()
  #nextId = 1

  constructor(runtime: Runtime, onRequest: OnRequest) {
    this.runtime = runtime
    this.#onRequest = onRequest
    const output = new PassThrough()
    this.served = serveClient({
      transport: new ClientStream({ input: this.input, output, write: (text) => this.#take(text) }),
      openSession: (options) => runtime.openSession(options),
      note: (line) => this.notes.push(line),
      signal: this.abort.signal,
    })
    this.served.catch(() => {})
  }

  static async open(
    options: RuntimeOptions,
    {
      capabilities = {},
      onRequest = () => undefined,
      initialize = true,
    }: { capabilities?: object; onRequest?: OnRequest; initialize?: boolean } = {},
  ): Promise<GatewayClient> {
    const client = new GatewayClient(await openRuntime(options), onRequest)
    if (initialize) {
      await client.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '0' } })
      client.notify('notifications/initialized')
    }
    return client
  }

  write(text: string): void {
    this.input.write(text)
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  notify(method: string, params?: object): void {
    this.send({ method, ...(params && { params }) })
  }

  begin(method: string, params: object = {}): { readonly id: number; readonly done: Promise<any> } {
    const id = this.#nextId++
    const done = new Promise<any>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    done.catch(() => {})
    this.send({ id, method, params })
    return { id, done }
  }

  request(method: string, params: object = {}): Promise<any> {
    return this.begin(method, params).done
  }

  /** Result of a tool. */
  call(name: string, args: object = {}, meta?: object): Promise<any> {
    return this.request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) })
  }

  /** The error that a request ends with. */
  async error(method: string, params: object = {}): Promise<RpcError> {
    try {
      await this.request(method, params)
    } catch (error) {
      return error as RpcError
    }
    throw new Error(`${method} did not fail`)
  }

  notifications(method: string): any[] {
    return this.seen.filter((message) => message.method === method && message.id === undefined)
  }

  /** Resolves when the condition holds after some message. */
  async until(check: () => boolean, what: string): Promise<void> {
    if (check()) return
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`timed out: ${what}`)), 20_000)
      const look = (): void => {
        if (!check()) return
        clearTimeout(timer)
        this.#watching.delete(look)
        resolve()
      }
      this.#watching.add(look)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.input.end()
    await this.served.catch(() => {})
    await this.runtime.close()
  }

  #take(text: string): void {
    const message = JSON.parse(text)
    this.seen.push(message)
    for (const look of this.#watching) look()
    if (message.method !== undefined) {
      if (message.id !== undefined) void this.#answer(message)
      return
    }
    const entry = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.error) entry?.reject(message.error)
    else entry?.resolve(message.result)
  }

  async #answer({ id, method, params }: any): Promise<void> {
    try {
      const result = await this.#onRequest(method, params)
      this.send(result === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result })
    } catch (error) {
      this.send({ id, error: { code: -32000, message: String(error) } })
    }
  }
}

export const textOf = (result: any): string => result.content.map((block: any) => block.text ?? '').join('\n')
