/** One attempt to start a server: one deadline over everything, and nothing left behind where it fails. */
import { TaplineError, asTaplineError, isTaplineError } from '../errors.ts'
import type { Environment } from '../servers/environment.ts'
import type { HttpLaunch, ServerRegistration, StdioLaunch } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ToolRecord } from './connection.ts'
import type { Executor, LaunchRequest } from './executor.ts'
import { readTools } from './lists.ts'
import type { MessageTransport } from './message-transport.ts'
import { untilAborted } from './on-abort.ts'
import { LONGEST_DELAY } from './pending-request.ts'
import { printable, seconds } from './printable.ts'
import type { RunOptions } from './server-run.ts'
import { ServerRun } from './server-run.ts'
import { StdioTransport } from './stdio-transport.ts'
import { within } from './stop-process.ts'
import { listSource } from './tool-list.ts'

/** ms that clearing up waits for an executor. */
const CLEAR_MS = 5000

export interface StartOptions extends Omit<RunOptions, 'label' | 'onLostFrame' | 'onEnd'> {
  readonly key: ServerKey
  readonly environment: Environment
  readonly registration: ServerRegistration
  /** connects the environment where it is not connected yet */
  readonly executor: () => Promise<Executor>
  /** resolves when the start may begin; the deadline begins then */
  readonly enter: () => Promise<() => void>
  /** how many notices of changed tools have come */
  readonly notices: () => number
  readonly onLostFrame: (run: ServerRun) => void
  readonly onEnd: (run: ServerRun, error: TaplineError) => void
}

export interface Started {
  readonly run: ServerRun
  readonly tools: ReadonlyMap<string, ToolRecord>
  readonly diagnostics: Diagnostic[]
  /** notices that had come when the tools were asked for */
  readonly notices: number
}

/** A start that is under way. */
export class ServerStart {
  /** Rejects with SERVER_START_FAILED, SERVER_START_TIMED_OUT, SERVER_PROTOCOL, ENVIRONMENT_…, or what `abort` was given. */
  readonly done: Promise<Started>
  /** settles when a failed start has left nothing behind; a start that succeeded has nothing to clear up */
  readonly cleared: Promise<void>
  readonly #options: StartOptions
  readonly #aborted = new AbortController()
  #stage: 'connect' | 'spawn' | 'initialize' | 'tools/list' = 'connect'
  #run: ServerRun | null = null
  #reject: (error: TaplineError) => void = () => {}

  constructor(options: StartOptions) {
    this.#options = options
    const failed = new Promise<never>((_, reject) => {
      this.#reject = reject
    })
    const work = this.#work()
    this.done = Promise.race([work, failed]).catch((error: unknown) => {
      throw this.#failure(error)
    })
    this.cleared = this.done.then(
      () => {},
      async (error: TaplineError) => {
        this.#aborted.abort()
        await this.#run?.stop(error)
        // a process that comes late is ended by the work itself; an executor that never comes back cannot be waited for
        await within(
          work.then(
            () => {},
            () => {},
          ),
          CLEAR_MS,
          undefined,
        )
      },
    )
  }

  /** Ends the start with this error; without effect on one that is done. */
  abort(error: TaplineError): void {
    this.#reject(error)
    this.#aborted.abort()
  }

  async #work(): Promise<Started> {
    const { key, registration, enter, notices } = this.#options
    const { launch, policy } = registration
    const leave = await enter()
    const limitMs = policy.startupTimeoutMs
    const end = performance.now() + limitMs
    const timer = setTimeout(() => this.abort(this.#timedOut()), Math.min(limitMs, LONGEST_DELAY))
    try {
      this.#goOn()
      const transport = launch.type === 'http' ? await this.#reach(launch) : await this.#spawn(launch)
      const run = new ServerRun(transport, {
        ...this.#options,
        label: key.toString(),
        onLostFrame: () => {
          if (run.stage === null) this.#options.onLostFrame(run)
          else
            this.abort(
              new TaplineError(
                'SERVER_START_FAILED',
                `${key} wrote a line to stdout that is over the limit of a frame, ${run.frameLimit}, and is no answer`,
              ),
            )
        },
        onEnd: (error) => {
          if (run.stage === null) this.#options.onEnd(run, error)
          else this.abort(error)
        },
      })
      this.#run = run
      if (this.#aborted.signal.aborted) await run.stop(new TaplineError('SERVER_START_FAILED', `${key} came too late`))
      this.#goOn()
      this.#stage = 'initialize'
      const { capabilities } = await run.initialize()
      this.#stage = run.stage = 'tools/list'
      clearTimeout(timer)
      const before = notices()
      const { tools, diagnostics } =
        capabilities['tools'] === undefined
          ? { tools: new Map<string, ToolRecord>(), diagnostics: [] }
          : await readTools(listSource(key, run), end - performance.now())
      this.#goOn()
      if (run.end) throw run.end
      run.stage = null
      return { run, tools, diagnostics, notices: before }
    } finally {
      clearTimeout(timer)
      leave()
    }
  }

  async #spawn(launch: StdioLaunch): Promise<MessageTransport> {
    const { key, environment, executor, frameLimit } = this.#options
    const place = await this.#inTime(executor())
    this.#stage = 'spawn'
    this.#goOn()
    const request: LaunchRequest = {
      command: launch.command,
      args: launch.args,
      cwd: launch.cwd ?? environment.cwd,
      env: { ...passedOn(launch.envVars), ...launch.env },
      label: key.toString(),
    }
    return new StdioTransport(await place.startStdio(request, { signal: this.#aborted.signal }), frameLimit)
  }

  async #reach(launch: HttpLaunch): Promise<MessageTransport> {
    const { key, environment, executor, frameLimit, secrets } = this.#options
    // most hosts have no HTTP server: its fifteen files are loaded for those that do
    const { openHttp } = await this.#inTime(import('./http/open-http.ts'))
    return this.#inTime(
      openHttp({ launch, label: key.toString(), environment, executor, secrets, ...(frameLimit !== undefined && { frameLimit }) }),
    )
  }

  #inTime<T>(promise: Promise<T>): Promise<T> {
    return untilAborted(promise, this.#aborted.signal, () => this.#aborted.signal.reason)
  }

  #goOn(): void {
    this.#aborted.signal.throwIfAborted()
  }

  #timedOut(): TaplineError {
    const { key, registration } = this.#options
    const limitMs = registration.policy.startupTimeoutMs
    const noise = this.#run?.noise ?? ''
    const unreachable = this.#run?.unreachable
    if (unreachable) return unreachable
    if (this.#stage === 'connect')
      return new TaplineError(
        'ENVIRONMENT_UNAVAILABLE',
        `${key}: environment ${this.#options.environment.id} was not connected within the start limit of ${seconds(limitMs)}`,
        { data: { stage: 'connect', limitMs, environmentId: this.#options.environment.id } },
      )
    const what = {
      spawn: 'its process was not started',
      initialize: 'it did not answer initialize',
      'tools/list': 'it did not answer tools/list',
    }[this.#stage]
    return new TaplineError(
      'SERVER_START_TIMED_OUT',
      `${key} timed out: ${what} within its start limit of ${seconds(limitMs)}${this.#run?.lastWords ?? ''}${noise && `; ${noise}`}`,
      {
        data: { stage: this.#stage, limitMs, stderr: this.#run?.stderr ?? [] },
      },
    )
  }

  #failure(error: unknown): TaplineError {
    const { key, secrets } = this.#options
    if (this.#stage === 'tools/list' && isTaplineError(error)) {
      if (error.code === 'CALL_TIMED_OUT') return this.#timedOut()
      if (error.code === 'SERVER_FAILED' || error.code === 'SERVER_EXITED')
        return new TaplineError('SERVER_START_FAILED', error.message, { data: { ...error.data, stage: 'tools/list' } })
    }
    if (!isTaplineError(error)) {
      const text = printable(secrets.redact(error instanceof Error ? error.message : String(error)), 500)
      if (this.#stage === 'connect')
        return asTaplineError(
          error,
          'ENVIRONMENT_UNAVAILABLE',
          `${key}: environment ${this.#options.environment.id} cannot be reached: ${text}`,
        )
      return asTaplineError(error, 'SERVER_START_FAILED', `${key} was not started: ${text}`)
    }
    const message = secrets.redact(error.message)
    // a command or folder may hold a secret that was put in for a variable
    return message === error.message
      ? error
      : new TaplineError(error.code, message, { remedy: error.remedy, ...(error.data && { data: error.data }) })
  }
}

/** Variables of the host that the definition names, where they are set. */
function passedOn(names: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return env
}
