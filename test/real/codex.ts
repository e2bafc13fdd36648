/** The real `codex exec-server`, with a home of its own, and a proxy in front of it whose connections can be cut. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Executor } from '../../src/connections/executor.ts'
import { execServerExecutor } from '../../src/connections/executors/exec-server/exec-server.ts'

/** The program itself: the script of the package starts it, and would outlive nothing. */
export function codexBinary(): string {
  const { codex } = JSON.parse(process.env['TAPLINE_REAL_SERVERS'] ?? '{}') as { codex?: string }
  if (codex === undefined) throw new Error('run these tests with `npm run test:real`, which installs the servers')
  const packages = path.resolve(path.dirname(codex), '..', '..')
  for (const name of readdirSync(packages)) {
    const vendor = path.join(packages, name, 'vendor')
    for (const target of existsSync(vendor) ? readdirSync(vendor) : []) {
      const file = path.join(vendor, target, 'bin', 'codex')
      if (existsSync(file)) return file
    }
  }
  throw new Error(`no program of codex below ${packages}`)
}

/** One running executor. */
export class CodexExecutor implements AsyncDisposable {
  readonly url: string
  readonly home: string
  readonly port: number
  readonly #child: ChildProcess

  static async start({
    port = 0,
    args = [],
    mark = '',
    prepare = () => {},
  }: {
    port?: number
    args?: readonly string[]
    mark?: string
    /** gets its folder before it runs: what is installed later is not always discovered */
    prepare?: (home: string) => void
  } = {}): Promise<CodexExecutor> {
    const home = mkdtempSync(path.join(tmpdir(), 'tapline-codex-'))
    for (const name of ['home', 'codex']) mkdirSync(path.join(home, name))
    prepare(home)
    const child = spawn(codexBinary(), ['exec-server', '--listen', `ws://127.0.0.1:${port}`, ...args], {
      cwd: home,
      env: {
        PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        HOME: path.join(home, 'home'),
        CODEX_HOME: path.join(home, 'codex'),
        TAPLINE_TEST_MARK: mark,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const url = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /^ws:\/\/\S+/m.exec(text)
        if (found && text.includes('\n')) resolve(found[0])
      })
      child.once('exit', (code) => reject(new Error(`codex exec-server ended with ${code ?? 'a signal'}: ${said}`)))
    })
    return new CodexExecutor(child, url, home)
  }

  private constructor(child: ChildProcess, url: string, home: string) {
    this.#child = child
    this.url = url
    this.home = home
    this.port = Number(new URL(url).port)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Bytes of memory that it has at the moment. */
  memory(): number {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) * 1024
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The executor of the product, connected to one of these. */
export function connectTo(url: string): Promise<Executor> {
  return execServerExecutor.connect({
    signal: new AbortController().signal,
    environmentId: 'vm',
    options: { url },
    log: () => {},
    watch: { add() {}, delete() {} },
  })
}

/** A TCP proxy on loopback: `cut` breaks what is open, at whatever byte that is. */
export class Proxy implements AsyncDisposable {
  readonly #server: net.Server
  readonly #sockets = new Set<net.Socket>()
  /** connections that were made */
  connections = 0
  /** false: new connections are taken and answered by nothing */
  forwards = true

  static async start(port: number): Promise<Proxy> {
    const proxy = new Proxy(port)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(port: number) {
    this.#server = net.createServer((client) => {
      this.connections++
      this.#sockets.add(client)
      client.on('error', () => {}).on('close', () => this.#sockets.delete(client))
      if (!this.forwards) return
      const far = net.connect(port, '127.0.0.1')
      this.#sockets.add(far)
      far.on('error', () => client.destroy()).on('close', () => this.#sockets.delete(far))
      for (const socket of [client, far]) socket.setNoDelay()
      client.pipe(far).on('close', () => client.destroy())
      far.pipe(client).on('close', () => far.destroy())
    })
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`
  }

  /** true where there is something to cut */
  get isOpen(): boolean {
    return this.#sockets.size > 0
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
