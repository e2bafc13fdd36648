/** The floor of a call over exec-server: one process behind a bare WebSocket, without anything that could be left out. */
import { WebSocket } from 'ws'

type Settle = (result: unknown) => void

/** A client that trusts executor and server in everything, and has one call on its way at a time. */
export class ExecClient {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, Settle>()
  #said: Settle = () => {}
  #id = 0

  /** Starts the script with `node` there, and shakes hands with it. */
  static async open(url: string, script: string): Promise<ExecClient> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await new Promise((resolve) => socket.once('open', resolve))
    const client = new ExecClient(socket)
    await client.#ask('initialize', { clientName: 'floor', resumeSessionId: null })
    socket.send('{"method":"initialized","params":{}}')
    await client.#ask('process/start', {
      processId: 'floor',
      argv: [process.execPath, script],
      cwd: 'file:///',
      envPolicy: { inherit: 'core', ignoreDefaultExcludes: true, exclude: [], includeOnly: [], set: {} },
      env: {},
      tty: false,
      pipeStdin: true,
      arg0: null,
      sandbox: null,
      enforceManagedNetwork: false,
      managedNetwork: null,
    })
    await client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'floor', version: '1' } })
    return client
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.#read(data))
  }

  /** Sends it to the process; its answer has to fit into one chunk. */
  request(method: string, params: object): Promise<unknown> {
    const id = ++this.#id
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
    void this.#ask('process/write', { processId: 'floor', chunk: Buffer.from(line).toString('base64'), writeId: String(id) })
    return new Promise((resolve) => (this.#said = resolve))
  }

  /** Closes the socket; the executor ends the process with itself. */
  close(): void {
    this.#socket.terminate()
  }

  #ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  #read(data: Buffer): void {
    const { id, result, method, params } = JSON.parse(data.toString()) as {
      readonly id?: number
      readonly result?: unknown
      readonly method?: string
      readonly params: { readonly chunk: string }
    }
    if (method === 'process/output') this.#said((JSON.parse(Buffer.from(params.chunk, 'base64').toString()) as { result: unknown }).result)
    if (id === undefined) return
    // carries the acknowledgement that the next segment waits for
    this.#socket.pong()
    this.#waiting.get(id)?.(result)
    this.#waiting.delete(id)
  }
}
