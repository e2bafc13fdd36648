/** Runs the built command line in a folder of its own, as a user would. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built command; the tests of this file need `npm run build` first. */
export const MAIN: string = process.env['TAPLINE_BIN'] ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const SERVER: string = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url))
const LIMIT_MS = 30_000

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** stdout as JSON; undefined where it is none */
  readonly json: any
}
export interface Running {
  readonly child: ChildProcess
  readonly done: Promise<Ended>
}
export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** A home and a working folder that nobody else uses. */
export class Place implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async make(): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), 'tapline-cli-')))
    for (const name of ['work', 'home']) await mkdir(join(place.folder, name))
    return place
  }

  path(name: string): string {
    return join(this.folder, 'work', name)
  }

  /** Writes a file below the working folder; gives its path. */
  async write(name: string, content: unknown): Promise<string> {
    const file = this.path(name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }

  start(args: readonly string[], { cwd, env, input }: RunOptions = {}): Running {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: cwd ?? this.path('.'),
      env: { PATH: process.env['PATH'] ?? '', HOME: join(this.folder, 'home'), LEDGER: this.ledgerFile, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
    const done = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status, signal) => {
        clearTimeout(timer)
        resolve({ status, signal, stdout, stderr, json: parse(stdout) })
      })
    })
    return { child, done }
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.start(args, options).done
  }

  get ledgerFile(): string {
    return join(this.folder, 'ledger.jsonl')
  }

  /** What the servers noted. */
  ledger(): { name: string; pid: number; ev: string; method?: string; tool?: string }[] {
    if (!existsSync(this.ledgerFile)) return []
    return readFileSync(this.ledgerFile, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** A server of the fixture as a configuration names it. */
export function server(name: string, mode = 'plain'): Readonly<Record<string, unknown>> {
  return { command: process.execPath, args: [SERVER, name, mode], env_vars: ['LEDGER'] }
}

/** True while the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Waits until the test holds. */
export async function until(test: () => boolean, ms = 15_000): Promise<void> {
  const end = Date.now() + ms
  while (!test()) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${String(test)}`)
    await new Promise((done) => setTimeout(done, 25))
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
