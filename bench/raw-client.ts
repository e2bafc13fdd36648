/** The floor: newline JSON-RPC over the pipes of a child, without anything that could be left out. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'

type Settle = (result: unknown) => void

/** A client that trusts its server in everything. */
export class RawClient {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pending = new Map<number, Settle>()
  #parts: Buffer[] = []
  #id = 0

  constructor(script: string, args: readonly string[] = []) {
    this.#child = spawn(process.execPath, [script, ...args])
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#child.stderr.resume()
  }

  request(method: string, params: object): Promise<unknown> {
    const id = ++this.#id
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#pending.set(id, resolve))
  }

  /** initialize and tools/list. */
  async open(): Promise<unknown> {
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'floor', version: '1' } })
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return this.request('tools/list', {})
  }

  /** Ends the child and waits for it. */
  close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdin.end()
    return ended
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const part = chunk.subarray(start, end)
      const line = this.#parts.length === 0 ? part : Buffer.concat([...this.#parts, part])
      this.#parts = []
      start = end + 1
      const { id, result } = JSON.parse(line.toString()) as { readonly id: number; readonly result: unknown }
      const settle = this.#pending.get(id)
      this.#pending.delete(id)
      settle?.(result)
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start))
  }
}
