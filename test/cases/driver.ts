/** Runs the built command line in a folder, a home and an environment of its own, and looks afterwards whether a process is left. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const MAIN = path.resolve(process.env['TAPLINE_BIN'] ?? path.join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js'))
const SERVERS = path.join(import.meta.dirname, 'servers')
/** ms after which a command that has not ended is ended by force, which fails the test */
const LIMIT_MS = 40_000
const LEAVE_MS = 10_000

/** The limit of a test that starts commands. */
export const SLOW = { timeout: 120_000 } as const

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** stdout as JSON; undefined where it is none */
  readonly json: any
  readonly ms: number
}

export interface Running {
  readonly done: Promise<Ended>
  kill(signal: NodeJS.Signals): void
  /** closes our end of its stdout */
  closeStdout(): void
}

export interface RunOptions {
  /** names of files; null: none, so that files are found; default `tapline.json` */
  readonly config?: string | null
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly json?: boolean
  /** ms after which the command is ended by force; default 40,000 */
  readonly limitMs?: number
}

/** What a server wrote down. */
export interface Entry {
  readonly ev: string
  readonly pid: number
  readonly who: string
  readonly t: number
  readonly method?: string
  readonly params?: any
  readonly [more: string]: any
}

/** The place of one test. */
export class Case implements AsyncDisposable {
  readonly dir: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** the part of `env` that servers need, for configurations that do not pass it on by name */
  readonly servers: Readonly<Record<string, string>>
  readonly #root: string
  readonly #leaveMs: number
  readonly #mark = `tapline-case-${randomUUID()}`
  readonly #running = new Set<number>()

  /** `leaveMs`: how long processes have to go once the test is over */
  constructor(config?: unknown, leaveMs: number = LEAVE_MS) {
    this.#leaveMs = leaveMs
    this.#root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-cases-')))
    this.dir = path.join(this.#root, 'work')
    this.home = path.join(this.#root, 'home')
    for (const folder of [this.dir, this.home]) fs.mkdirSync(folder)
    this.servers = { CASE_LEDGER: path.join(this.#root, 'ledger.jsonl'), CASE_MARK: this.#mark }
    this.env = {
      PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
      HOME: this.home,
      XDG_CONFIG_HOME: path.join(this.home, '.config'),
      XDG_STATE_HOME: path.join(this.home, '.state'),
      XDG_CACHE_HOME: path.join(this.home, '.cache'),
      ...this.servers,
    }
    if (config !== undefined) this.write('tapline.json', config)
  }

  path(...names: string[]): string {
    return path.join(this.dir, ...names)
  }

  read(name: string): string {
    return fs.readFileSync(this.path(name), 'utf8')
  }

  exists(name: string): boolean {
    return fs.existsSync(this.path(name))
  }

  /** Writes a file below the working folder; gives its path. */
  write(name: string, content: unknown): string {
    const file = path.resolve(this.dir, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content, null, 2))
    return file
  }

  start(
    args: readonly string[],
    { config = 'tapline.json', cwd = this.dir, env, json = true, limitMs = LIMIT_MS }: RunOptions = {},
  ): Running {
    const named = config === null ? [] : ['--config', config]
    const began = performance.now()
    const child = spawn(process.execPath, [MAIN, ...named, ...(json ? ['--json'] : []), ...args], {
      cwd,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const pid = child.pid as number
    this.#running.add(pid)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
    const done = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject)
      // not `close`: a process that was left behind may hold the pipes
      child.on('exit', (status, signal) => {
        clearTimeout(timer)
        this.#running.delete(pid)
        setTimeout(() => {
          resolve({ status, signal, stdout, stderr, json: parse(stdout), ms: performance.now() - began })
        }, 50)
      })
    })
    return { done, kill: (signal) => void process.kill(pid, signal), closeStdout: () => void child.stdout.destroy() }
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.start(args, options).done
  }

  /** What the servers wrote down, in order. */
  ledger(filter: Readonly<Record<string, unknown>> = {}): Entry[] {
    const file = this.env['CASE_LEDGER'] as string
    if (!fs.existsSync(file)) return []
    const entries = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(parse) as Entry[]
    return entries.filter((entry) => entry !== undefined && Object.entries(filter).every(([name, value]) => entry[name] === value))
  }

  /** Requests and notices of a method that reached the servers. */
  seen(method: string, filter: Readonly<Record<string, unknown>> = {}): Entry[] {
    return this.ledger({ ev: 'in', method, ...filter })
  }

  /** Calls that reached the servers, as `who tool`. */
  calls(): string[] {
    return this.seen('tools/call').map(({ who, params }) => `${who} ${params.name}`)
  }

  /** Processes of this test that are alive, beside ours. */
  left(): { readonly pid: number; readonly command: string }[] {
    const found: { pid: number; command: string }[] = []
    for (const name of fs.readdirSync('/proc')) {
      const pid = Number(name)
      if (!Number.isInteger(pid) || pid === process.pid) continue
      try {
        if (!fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(this.#mark) || !isAlive(pid)) continue
        found.push({ pid, command: fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() })
      } catch {
        // it ended while we were looking
      }
    }
    return found
  }

  /** Ends by force what the test has left, removes the folder, and throws where something was left. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#running) kill(pid)
    if (process.platform === 'linux') {
      await until(() => this.left().length === 0, this.#leaveMs).catch(() => {})
    }
    const left = process.platform === 'linux' ? this.left() : []
    for (const { pid } of left) kill(pid)
    fs.rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 })
    if (left.length > 0) throw new Error(`left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`)
  }
}

/** A server of test/cases/servers as a configuration names it; what needs no approval unless `more` says otherwise. */
export function server(script: string, args: readonly string[] = [], more: object = {}): Record<string, any> {
  return {
    command: process.execPath,
    args: [path.join(SERVERS, script), ...args],
    env_vars: ['CASE_LEDGER', 'CASE_MARK'],
    defaultToolsApprovalMode: 'approve',
    ...more,
  }
}

/** The built library. */
export function library(): Promise<typeof import('../../src/index.ts')> {
  return import(pathToFileURL(path.join(path.dirname(MAIN), '..', 'index.js')).href)
}

/** Everything that a command has said. */
export const said = ({ stdout, stderr }: Ended): string => `${stdout}\n${stderr}`

/** A call, in the parts that most tests look at: exit status, outcome and `sent`. */
export const end = ({ status, json }: Ended): [number | null, string, string] => [status, json?.outcome, json?.sent]

/** Text of the first block of a result. */
export const text = ({ json }: Ended): string => json?.result?.content?.[0]?.text

/** True while the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Waits until the test holds. */
export async function until(test: () => boolean, ms = 15_000): Promise<void> {
  const last = performance.now() + ms
  while (!test()) {
    if (performance.now() > last) throw new Error(`not within ${ms} ms: ${String(test)}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // gone already
  }
}

function parse(line: string): any {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
