/** A process of this machine that carries stdin, stdout and stderr of a process somewhere else. */
import type { ChildProcess } from 'node:child_process'
import { TaplineError } from '../../../errors.ts'
import type { ProcessWatch, StdioProcess } from '../../executor.ts'
import { onAbort } from '../../on-abort.ts'
import { printable } from '../../printable.ts'
import { localEnv } from '../local-env.ts'
import { LocalProcess } from '../local-process.ts'
import { READY } from './bootstrap.ts'

/** Variables that the usual bridges need to find their daemon, their agent or their configuration. */
const BRIDGE_VARIABLES: readonly string[] = [
  'SSH_AUTH_SOCK',
  'DOCKER_HOST',
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'CONTAINER_HOST',
  'KUBECONFIG',
  'XDG_RUNTIME_DIR',
]
/** Bytes that a login shell may print before the server has stdout for itself. */
const NOISE_BYTES = 64 * 1024
/** ms that the last words of a bridge may take after its exit. */
const LAST_WORDS_MS = 300

export interface BridgeOptions {
  readonly environmentId: string
  readonly argv: readonly [string, ...string[]]
  /** variables of this process that the bridge gets beside the usual ones */
  readonly envVars: readonly string[]
  readonly watch: ProcessWatch
  readonly signal: AbortSignal
}

/** Starts the bridge, sends the line and waits until the far side answers it. Rejects with ENVIRONMENT_UNAVAILABLE; leaves nothing behind then. */
export async function openBridge(line: string, options: BridgeOptions): Promise<LocalProcess> {
  const { signal } = options
  const bridge = await spawnBridge(options)
  try {
    // whether this is taken shows in what comes next
    bridge.write(Buffer.from(line)).catch(() => {})
    await untilReady(bridge, options)
    return bridge
  } catch (error) {
    await bridge.kill('kill')
    await bridge.swept
    signal.throwIfAborted()
    throw error
  }
}

async function spawnBridge({ environmentId, argv, envVars, watch, signal }: BridgeOptions): Promise<LocalProcess> {
  const { default: spawn } = await import('cross-spawn')
  signal.throwIfAborted()
  const [program, ...args] = argv
  const named: Record<string, string> = {}
  for (const name of [...BRIDGE_VARIABLES, ...envVars]) {
    const value = process.env[name]
    if (value !== undefined) named[name] = value
  }
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      env: localEnv(named),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
    })
  } catch (error) {
    throw unavailable(environmentId, `${program} cannot be started (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
  }
  if (child.pid !== undefined) watch.add(child.pid)
  const broken = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
    child.once('error', resolve).once('spawn', () => resolve(null)),
  )
  child.on('error', () => {})
  if (broken) {
    if (child.pid !== undefined) watch.delete(child.pid)
    throw unavailable(
      environmentId,
      `${program} ${broken.code === 'ENOENT' ? 'was not found' : `failed (${broken.code ?? broken.message})`}`,
    )
  }
  return new LocalProcess(child, watch)
}

/** Reads stdout up to the line of the far side and gives back what came after it. */
async function untilReady(bridge: StdioProcess, { environmentId, argv, signal }: BridgeOptions): Promise<void> {
  const stdout = bridge.stdout as unknown as NodeJS.ReadableStream & { unshift(chunk: Buffer): void }
  const stderr = bridge.stderr as unknown as NodeJS.ReadableStream & { unshift(chunk: Buffer): void }
  const words: Buffer[] = []
  const listen = (chunk: Buffer): void => void words.push(chunk)
  stderr.on('data', listen)
  const ended = bridge.exited.then(async ({ code, signal: by }) => {
    await new Promise<void>((resolve) => {
      stderr.once('end', resolve)
      setTimeout(resolve, LAST_WORDS_MS).unref()
    })
    const said = printable(Buffer.concat(words).toString('utf8').slice(-2000), 500)
    throw unavailable(
      environmentId,
      `${argv[0]} ended ${by === null ? `with exit code ${code ?? 'unknown'}` : `by signal ${by}`} before the far side answered${said && `: ${said}`}`,
    )
  })
  ended.catch(() => {})
  let read: Buffer = Buffer.alloc(0)
  let forget: () => void = () => {}
  const ready = new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk])
      const at = read.indexOf(`${READY}\n`)
      if (at < 0 && read.length < NOISE_BYTES) return
      stdout.off('data', look)
      stdout.pause()
      if (at < 0) {
        reject(
          unavailable(
            environmentId,
            `${argv[0]} prints other things than what the far side says: ${printable(read.toString('utf8', 0, 400), 200)}`,
          ),
        )
        return
      }
      const rest = read.subarray(at + READY.length + 1)
      if (rest.length > 0) stdout.unshift(rest)
      resolve()
    }
    stdout.on('data', look)
    forget = onAbort(signal, () => reject(signal.reason as Error))
  })
  await Promise.race([ready, ended]).finally(forget)
  stderr.off('data', listen)
  stderr.pause()
  if (words.length > 0) stderr.unshift(Buffer.concat(words))
}

function unavailable(environmentId: string, why: string): TaplineError {
  return new TaplineError('ENVIRONMENT_UNAVAILABLE', `environment ${environmentId} cannot be reached: ${why}`, {
    data: { environmentId },
    remedy: 'Run the command of the environment by hand with `sh -c true` after it, and look at what it says.',
  })
}
