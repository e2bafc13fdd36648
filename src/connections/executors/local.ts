/** The executor of this machine. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { TaplineError } from '../../errors.ts'
import type { Executor, ExecutorDefinition, LaunchRequest, PlaceInfo, ProcessWatch, StdioProcess } from '../executor.ts'
import { localEnv } from './local-env.ts'
import { listLocalDirectory, readLocalFile, realLocalPath } from './local-files.ts'
import { LocalProcess } from './local-process.ts'

/** Starts servers as children of this process, each in its own process group, without a shell. */
export const localExecutor: ExecutorDefinition = {
  kind: 'local',
  connect: ({ watch }) => Promise.resolve(new LocalExecutor(watch)),
}

class LocalExecutor implements Executor {
  readonly lost: Promise<never> = new Promise(() => {})
  readonly #watch: ProcessWatch
  readonly #processes = new Set<LocalProcess>()

  constructor(watch: ProcessWatch) {
    this.#watch = watch
  }

  async startStdio(request: LaunchRequest, { signal }: { readonly signal: AbortSignal }): Promise<StdioProcess> {
    const { command, args, cwd, env, label } = request
    const folder = await stat(cwd).catch((error: unknown) => error as NodeJS.ErrnoException)
    if (folder instanceof Error)
      throw failed(
        label,
        folder.code === 'ENOENT' ? `cwd ${cwd} does not exist` : `cwd ${cwd} cannot be used (${folder.code ?? folder.message})`,
      )
    if (!folder.isDirectory()) throw failed(label, `cwd ${cwd} is not a folder`)
    const { default: spawn } = await import('cross-spawn')
    signal.throwIfAborted()
    const windows = process.platform === 'win32'
    let child
    try {
      child = spawn(command, [...args], {
        cwd,
        env: localEnv(env),
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: !windows,
        windowsHide: true,
        shell: false,
      })
    } catch (error) {
      // the text of the error holds the value, which may be a secret
      throw failed(
        label,
        `its command, arguments or variables cannot be passed to a process (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      )
    }
    if (child.pid !== undefined) this.#watch.add(child.pid)
    const broken = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
      child.once('error', resolve).once('spawn', () => resolve(null)),
    )
    child.on('error', () => {})
    if (broken && child.pid !== undefined) this.#watch.delete(child.pid)
    if (broken) throw failed(label, await whyNotStarted(command, broken), broken)
    const started = new LocalProcess(child, this.#watch)
    this.#processes.add(started)
    void started.swept.then(() => this.#processes.delete(started))
    return started
  }

  check(): Promise<PlaceInfo> {
    return Promise.resolve({ platform: process.platform, version: null, home: homedir() })
  }

  readFile(path: string): Promise<Uint8Array> {
    return readLocalFile(path)
  }

  listDirectory(path: string): ReturnType<NonNullable<Executor['listDirectory']>> {
    return listLocalDirectory(path)
  }

  realPath(path: string): Promise<string> {
    return realLocalPath(path)
  }

  /** Ends what still runs and waits until nothing is left. */
  async dispose(): Promise<void> {
    const left = [...this.#processes]
    for (const one of left) if (one.running) await one.kill('kill')
    await Promise.all(left.map((one) => one.swept))
  }
}

function failed(label: string, why: string, cause?: unknown): TaplineError {
  return new TaplineError('SERVER_START_FAILED', `${label} was not started: ${why}`, {
    cause,
    data: { stage: 'spawn' },
    remedy: 'Correct command, args or cwd of the server, or install what is missing.',
  })
}

async function whyNotStarted(command: string, { code, message }: NodeJS.ErrnoException): Promise<string> {
  if (code === 'ENOENT') {
    const there =
      /[\\/]/.test(command) &&
      (await stat(command).then(
        () => true,
        () => false,
      ))
    return there
      ? `the program that the first line of ${command} names was not found`
      : `command ${command} was not found${/\s/.test(command) ? ' (words after the first belong into args)' : ''}`
  }
  if (code === 'EACCES') return `command ${command} may not be executed`
  return `command ${command} failed (${code ?? message})`
}
