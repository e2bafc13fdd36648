/** The executor that reaches a place through a command which bridges stdin and stdout: docker, podman, kubectl, wsl, ssh. */
import type { Executor, ExecutorDefinition, LaunchRequest, PlaceInfo, ProcessWatch, StdioProcess } from '../../executor.ts'
import { bootstrapArgs, launchLine } from './bootstrap.ts'
import { openBridge } from './bridge.ts'
import { listFarDirectory, lookAround, readFarFile, realFarPath } from './far-files.ts'
import type { CommandOptions } from './options.ts'
import { readCommandOptions } from './options.ts'

/** Starts servers behind a prefix such as `docker exec -i NAME`; HTTP servers are refused, since nothing carries them. */
export const commandExecutor: ExecutorDefinition = {
  kind: 'command',
  connect: ({ environmentId, options, watch }) => Promise.resolve(new CommandExecutor(environmentId, readCommandOptions(options), watch)),
}

/** One environment behind one prefix. Every process has a bridge of its own, so nothing is lost as a whole. */
export class CommandExecutor implements Executor {
  readonly lost: Promise<never> = new Promise(() => {})
  readonly #environmentId: string
  readonly #options: CommandOptions
  readonly #watch: ProcessWatch
  readonly #bridges = new Set<Awaited<ReturnType<typeof openBridge>>>()

  constructor(environmentId: string, options: CommandOptions, watch: ProcessWatch) {
    this.#environmentId = environmentId
    this.#options = options
    this.#watch = watch
  }

  /** Rejects with ENVIRONMENT_UNAVAILABLE where the far side does not answer, SERVER_START_FAILED for variables that no shell can set. */
  async startStdio(request: LaunchRequest, { signal }: { readonly signal: AbortSignal }): Promise<StdioProcess> {
    const { prefix, shell, envVars } = this.#options
    const line = launchLine(request)
    const bridge = await openBridge(line, {
      environmentId: this.#environmentId,
      argv: [...prefix, ...bootstrapArgs(shell)],
      envVars,
      watch: this.#watch,
      signal,
    })
    this.#bridges.add(bridge)
    void bridge.swept.then(() => this.#bridges.delete(bridge))
    return new FarProcess(bridge)
  }

  /** A bridge of its own, as each server has one. */
  check(context: { readonly signal: AbortSignal }): Promise<PlaceInfo> {
    return lookAround(this, context)
  }

  readFile(path: string, context: { readonly signal: AbortSignal }): Promise<Uint8Array> {
    return readFarFile(this, path, context)
  }

  listDirectory(path: string, context: { readonly signal: AbortSignal }): ReturnType<NonNullable<Executor['listDirectory']>> {
    return listFarDirectory(this, path, context)
  }

  realPath(path: string, context: { readonly signal: AbortSignal }): Promise<string> {
    return realFarPath(this, path, context)
  }

  /** Ends every bridge; the far sides end with their input. */
  async dispose(): Promise<void> {
    const left = [...this.#bridges]
    for (const one of left) if (one.running) await one.kill('kill')
    await Promise.all(left.map((one) => one.swept))
  }
}

/** What a bridge carries: the server's pipes and its end, without the pid, which is the bridge's. */
class FarProcess implements StdioProcess {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  readonly exited: StdioProcess['exited']
  readonly #bridge: StdioProcess

  constructor(bridge: StdioProcess) {
    this.stdout = bridge.stdout
    this.stderr = bridge.stderr
    this.exited = bridge.exited
    this.#bridge = bridge
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#bridge.write(chunk)
  }

  endStdin(): Promise<boolean> {
    return this.#bridge.endStdin()
  }

  /** Ends the bridge; the far side ends the server's group once its input is over. */
  kill(how: 'terminate' | 'kill'): Promise<void> {
    return this.#bridge.kill(how)
  }
}
