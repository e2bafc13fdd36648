/** The executors of a runtime: one for each environment instance, connected when it is first needed and again after it was lost. */
import { TaplineError, messageOf } from '../errors.ts'
import type { Environment } from '../servers/environment.ts'
import { setStatus } from '../servers/environment.ts'
import type { Executor, ExecutorDefinition, ProcessWatch } from './executor.ts'

/** ms that an executor gets to dispose of itself. */
const DISPOSE_MS = 5000

export interface ExecutorPoolOptions {
  /** by kind */
  readonly executors: ReadonlyMap<string, ExecutorDefinition>
  readonly watch: ProcessWatch
  /** called before the first process of this machine */
  readonly onLocal: () => void
  readonly log: (environment: Environment, line: string) => void
  readonly redact: (text: string) => string
}

export class ExecutorPool {
  readonly #options: ExecutorPoolOptions
  /** by instance */
  readonly #connected = new Map<string, Promise<Executor>>()
  /** executors of their own, for environments that code made with one */
  readonly #own = new WeakMap<Environment, ExecutorDefinition>()
  readonly #ended = new AbortController()

  constructor(options: ExecutorPoolOptions) {
    this.#options = options
  }

  /** Says that this environment has an executor that no kind stands for. */
  own(environment: Environment, definition: ExecutorDefinition): void {
    this.#own.set(environment, definition)
  }

  /** Connected once for an instance; again after it was lost or could not be reached. Rejects with ENVIRONMENT_UNSUPPORTED, SESSION_CLOSED, or what the executor says. */
  get(environment: Environment): Promise<Executor> {
    const { id, instanceId, executor: kind } = environment
    const known = this.#connected.get(instanceId)
    if (known) return known
    const definition = this.#own.get(environment) ?? this.#options.executors.get(kind)
    if (!definition)
      return Promise.reject(
        new TaplineError('ENVIRONMENT_UNSUPPORTED', `environment ${id} has the executor ${kind}, which is not known here`, {
          data: { kind, environmentId: id },
          remedy: 'Correct the kind (local, command, ssh, exec-server), or give the runtime an executor of this kind.',
        }),
      )
    if (this.#ended.signal.aborted) return Promise.reject(new TaplineError('SESSION_CLOSED', `environment ${id} was closed`))
    if (definition.kind === 'local') this.#options.onLocal()
    setStatus(environment, { state: 'connecting' })
    const connected = Promise.resolve().then(() =>
      definition.connect({
        signal: this.#ended.signal,
        environmentId: id,
        options: environment.spec.executor.options,
        log: (line) => this.#options.log(environment, line),
        watch: this.#options.watch,
      }),
    )
    this.#connected.set(instanceId, connected)
    const lost = (cause: string): void => {
      if (this.#connected.get(instanceId) !== connected) return
      this.#connected.delete(instanceId)
      setStatus(environment, { state: 'lost', cause: this.#options.redact(cause) })
    }
    connected
      .then(
        async (executor) => {
          setStatus(environment, { state: 'ready' })
          lost((await executor.lost).cause)
          await executor.dispose()
        },
        (error: unknown) => lost(messageOf(error)),
      )
      .catch(() => {})
    return connected
  }

  /** Lets go of the executor of an instance that nobody will use again. Never rejects. */
  async retire(environment: Environment): Promise<void> {
    const connected = this.#connected.get(environment.instanceId)
    if (connected === undefined) return
    this.#connected.delete(environment.instanceId)
    setStatus(environment, { state: 'idle' })
    await disposeAll([connected])
  }

  /** Never rejects; takes 5 s at most. */
  async close(): Promise<void> {
    this.#ended.abort()
    const all = [...this.#connected.values()]
    // a session that ends meanwhile must not let go of its own once more
    this.#connected.clear()
    await disposeAll(all)
  }
}

async function disposeAll(executors: readonly Promise<Executor>[]): Promise<void> {
  const disposed = executors.map((executor) => executor.then((one) => one.dispose()).catch(() => {}))
  let timer: ReturnType<typeof setTimeout> | undefined
  await Promise.race([Promise.all(disposed), new Promise<void>((resolve) => (timer = setTimeout(resolve, DISPOSE_MS)))])
  clearTimeout(timer)
}
