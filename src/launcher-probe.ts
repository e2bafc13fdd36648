/** Leaf room. The capability probe of a sandbox launcher: is this file a Codex CLI that can sandbox a command? */
import { spawn } from 'node:child_process'
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, parse } from 'node:path'

/** Settings of a probe. */
export interface LauncherProbeOptions {
  /** ms; default 5,000 */
  readonly timeoutMs?: number
  /** Called with the pid of each probe that is started; what it gives back is called once that process group is gone. */
  readonly guard?: (pid: number) => () => void
}

interface Entry {
  /** size, mtime, device and inode */
  readonly fingerprint: string
  readonly running: Promise<boolean>
  passed: boolean | null
}

const PROBE_ARGUMENTS: readonly string[] = ['sandbox', '--sandbox-state-json', '{}', '--help']
const ENVIRONMENT_NAMES = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SystemRoot', 'USERPROFILE', 'TEMP', 'TMP']
/** Halves of surrogate pairs, the replacement character (a name that was not UTF-8 became one) and NUL. */
const NOT_A_PATH = /[\p{Surrogate}\uFFFD\0]/u

/** Probes launchers lazily, once for each (real path, size, mtime, inode); keep one in a runtime. */
export class LauncherProbe {
  readonly #timeoutMs: number
  readonly #guard: (pid: number) => () => void
  /** by real path */
  readonly #entries = new Map<string, Entry>()
  /** by real path */
  readonly #scripts = new Map<string, { readonly fingerprint: string; readonly isScript: boolean }>()
  readonly #stops = new Set<() => void>()

  constructor({ timeoutMs = 5000, guard = () => () => {} }: LauncherProbeOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#guard = guard
  }

  /** True where the file passes. Never rejects; waits for at most the time limit; callers at the same time share one run. */
  async check(executable: string): Promise<boolean> {
    const file = identify(executable)
    if (file === null) return false
    const entry = this.#entries.get(file.realPath)
    if (entry?.fingerprint === file.fingerprint) return entry.running
    const started = this.#start(file, executable)
    this.#entries.set(file.realPath, started)
    return started.running
  }

  /** The result for the file as it is now, or null where `check` has to find out first. */
  known(executable: string): boolean | null {
    const file = identify(executable)
    if (file === null) return false
    const entry = this.#entries.get(file.realPath)
    return entry?.fingerprint === file.fingerprint ? entry.passed : null
  }

  /** True for a file that begins with `#!`: it cannot be started under another name, as the helper of a sandbox is. */
  isScript(executable: string): boolean {
    const file = identify(executable)
    if (file === null) return false
    const known = this.#scripts.get(file.realPath)
    if (known?.fingerprint === file.fingerprint) return known.isScript
    const isScript = beginsWithInterpreter(file.realPath)
    this.#scripts.set(file.realPath, { fingerprint: file.fingerprint, isScript })
    return isScript
  }

  /** Kills the probes that are still running; they count as not passed. */
  dispose(): void {
    for (const stop of this.#stops) stop()
  }

  #start({ realPath, fingerprint }: FileIdentity, executable: string): Entry {
    const entry: Entry = {
      fingerprint,
      passed: null,
      running: this.#run(executable).then((passed) => {
        // A file that could not even be started is no result of a probe: it may only lack a permission bit, which no part of the fingerprint shows.
        if (passed === null && this.#entries.get(realPath) === entry) this.#entries.delete(realPath)
        entry.passed = passed ?? false
        return entry.passed
      }),
    }
    return entry
  }

  /** null where no process could be started. */
  #run(executable: string): Promise<boolean | null> {
    return new Promise((resolve) => {
      try {
        const child = spawn(executable, PROBE_ARGUMENTS, {
          stdio: 'ignore',
          detached: true,
          windowsHide: true,
          shell: false,
          cwd: parse(executable).root,
          env: environment(),
        })
        child.once('error', () => {
          if (child.pid === undefined) resolve(null)
        })
        const { pid } = child
        if (pid === undefined) return
        const release = this.#guard(pid)
        const stop = (): void => killGroup(pid)
        const end = (passed: boolean): void => {
          clearTimeout(timer)
          this.#stops.delete(stop)
          resolve(passed)
        }
        const timer = setTimeout(() => {
          stop()
          end(false)
        }, this.#timeoutMs)
        this.#stops.add(stop)
        child.once('exit', (code) => {
          // What the launcher left behind in its group goes with it.
          stop()
          release()
          end(code === 0)
        })
      } catch {
        resolve(null)
      }
    })
  }
}

interface FileIdentity {
  readonly realPath: string
  readonly fingerprint: string
}

/** null for what can be no launcher: not absolute, not UTF-8, not there, no file. */
function identify(executable: string): FileIdentity | null {
  if (typeof executable !== 'string' || !isAbsolute(executable) || NOT_A_PATH.test(executable)) return null
  try {
    const realPath = realpathSync.native(executable)
    const stats = statSync(realPath, { bigint: true })
    return stats.isFile() ? { realPath, fingerprint: `${stats.size} ${stats.mtimeNs} ${stats.dev} ${stats.ino}` } : null
  } catch {
    return null
  }
}

function beginsWithInterpreter(path: string): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      const begin = Buffer.alloc(2)
      return readSync(file, begin) === 2 && begin.toString('latin1') === '#!'
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}

function environment(): Record<string, string> {
  return Object.fromEntries(ENVIRONMENT_NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
}

function killGroup(pid: number): void {
  try {
    if (process.platform === 'win32')
      spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    else process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
}
