/** The executor that reaches a real `codex exec-server` over WebSocket. */
import { TaplineError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import type { Executor, ExecutorDefinition, LaunchRequest, PlaceInfo, StdioProcess } from '../../executor.ts'
import { onAbort, untilAborted } from '../../on-abort.ts'
import { ExecConnection, RpcError } from './exec-connection.ts'
import type { DirectoryEntry } from './exec-files.ts'
import { fileUri, listExecDirectory, pathOf, readExecFile, realExecPath } from './exec-files.ts'
import { ExecHttp } from './exec-http.ts'
import { discoverExecPackages } from './exec-packages.ts'
import type { SessionOptions } from './exec-session.ts'
import { ExecSession, unavailable } from './exec-session.ts'
import { readExecServerOptions } from './options.ts'

/** ms that the processes get to be ended when the executor is closed. */
const CLOSE_MS = 3000
/** `core`: HOME, PATH and the like of the executor's own machine, below the variables that are named. */
const OWN_VARIABLES = { inherit: 'core', ignoreDefaultExcludes: true, exclude: [], includeOnly: [] }

/** `url` is ws:// or wss://; `bearerTokenEnvVar` names the variable of this process that holds the token. */
export const execServerExecutor: ExecutorDefinition = {
  kind: 'exec-server',
  async connect({ environmentId, options, signal, log }) {
    const { url, bearerTokenEnvVar } = readExecServerOptions(options)
    const token = (): string | null => {
      if (bearerTokenEnvVar === null) return null
      const value = process.env[bearerTokenEnvVar]
      if (value !== undefined && value !== '') return value
      throw unavailable(environmentId, `the variable ${bearerTokenEnvVar}, which holds its token, is not set`)
    }
    const settings = { environmentId, url, token, log }
    return new ExecServer(settings, await ExecSession.open(settings, signal))
  },
}

class ExecServer implements Executor {
  readonly lost: Promise<{ readonly cause: string }>
  readonly #settings: SessionOptions
  readonly #session: ExecSession
  readonly #http: ExecHttp
  #count = 0

  constructor(settings: SessionOptions, session: ExecSession) {
    this.#settings = settings
    this.#session = session
    this.lost = session.lost
    this.#http = new ExecHttp((listener, signal) => {
      const { url, token } = settings
      return ExecConnection.open({
        url,
        token: token(),
        resume: null,
        signal,
        onNotice: (method, params) => listener()?.notice(method, params),
        onClose: (error) => listener()?.closed(error),
      })
    })
  }

  /** Rejects with SERVER_START_FAILED where the program or its folder is not there, ENVIRONMENT_UNAVAILABLE where the executor is gone. */
  async startStdio({ command, args, cwd, env, label }: LaunchRequest, { signal }: { readonly signal: AbortSignal }): Promise<StdioProcess> {
    signal.throwIfAborted()
    // known before it is asked for: its output may come before the answer
    const process = this.#session.newProcess(`tapline-${++this.#count}`)
    const started = this.#session.call('process/start', {
      processId: process.id,
      argv: [command, ...args],
      cwd: fileUri(cwd),
      envPolicy: { ...OWN_VARIABLES, set: env },
      env,
      tty: false,
      pipeStdin: true,
      arg0: null,
      sandbox: null,
      enforceManagedNetwork: false,
      managedNetwork: null,
    })
    // nobody waits for a process that comes too late
    const forget = onAbort(signal, () => void started.then(() => process.kill('kill')).catch(() => {}))
    try {
      await untilAborted(started, signal, () => signal.reason)
      return process
    } catch (error) {
      // a start that was cut off and sent again finds its own process
      if (error instanceof RpcError && /already exists/.test(error.message)) return process
      if (!signal.aborted) process.lose('it was not started')
      throw error instanceof RpcError ? notStarted(label, command, cwd, error) : error
    } finally {
      forget()
    }
  }

  async check({ signal }: { readonly signal: AbortSignal }): Promise<PlaceInfo> {
    await untilAborted(this.#call('environment/status', {}), signal, () => signal.reason)
    const { platformOs, executorVersion, userHomeDir } = this.#session.info
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
    return { platform: text(platformOs), version: text(executorVersion), home: pathOf(text(userHomeDir)) }
  }

  fetch(input: URL, init: RequestInit): Promise<Response> {
    return this.#http.fetch(input, init)
  }

  readFile(path: string, { signal }: { readonly signal: AbortSignal }): Promise<Uint8Array> {
    return untilAborted(readExecFile(this.#call, path), signal, () => signal.reason)
  }

  listDirectory(path: string, { signal }: { readonly signal: AbortSignal }): Promise<readonly DirectoryEntry[]> {
    return untilAborted(listExecDirectory(this.#call, path), signal, () => signal.reason)
  }

  realPath(path: string, { signal }: { readonly signal: AbortSignal }): Promise<string> {
    return untilAborted(realExecPath(this.#call, path), signal, () => signal.reason)
  }

  discoverPackages(folder: string, { signal }: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    const { userHomeDir } = this.#session.info
    return untilAborted(discoverExecPackages(this.#call, folder, userHomeDir), signal, () => signal.reason)
  }

  async dispose(): Promise<void> {
    this.#http.close()
    await this.#session.close(CLOSE_MS)
    this.#settings.log('closed')
  }

  readonly #call = (method: string, params: JsonObject): Promise<JsonObject> => this.#session.call(method, params)
}

function notStarted(label: string, command: string, cwd: string, error: RpcError): TaplineError {
  const why = error.kind === 'spawnNotFound' ? `command ${command} or cwd ${cwd} was not found there` : error.message
  return new TaplineError('SERVER_START_FAILED', `${label} was not started: ${why}`, {
    data: { stage: 'spawn' },
    remedy: 'Correct command, args or cwd of the server, or install what is missing on the machine of the environment.',
  })
}
