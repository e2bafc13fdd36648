/** One small `sh` process per runtime that outlives the host by a moment and ends what the host started. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { ProcessWatch } from './executor.ts'

/** Restarts of a watchdog that somebody ended. */
const RESTARTS = 3
/** ms to wait for its end at close. */
const CLOSE_MS = 3000

// Reads `add GROUP` and `del GROUP` until its input ends, which it does when the host is gone. On Linux it then looks for descendants that
// have left their group; it has to look before the first signal, since the children of a process that ends belong to nobody.
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r what group; do
  case $what in
    add) groups="$groups$group " ;;
    del) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
case $groups in *[0-9]*) ;; *) exit 0 ;; esac
kin=' '
strays=
list=
for folder in /proc/[0-9]*; do
  IFS= read -r line <"$folder/stat" || continue
  set -f; set -- \${line##*) }; set +f
  list="$list \${folder#/proc/}:$2:$3"
done
more=1
while [ "$more" = 1 ]; do
  more=0
  for entry in $list; do
    pid=\${entry%%:*}; rest=\${entry#*:}; parent=\${rest%%:*}
    case $kin in *" $pid "*) continue ;; esac
    case $groups in *" \${rest#*:} "*) kin="$kin$pid "; more=1; continue ;; esac
    case $kin in *" $parent "*) kin="$kin$pid "; strays="$strays $pid"; more=1 ;; esac
  done
done
for group in $groups; do kill -TERM "-$group"; done
for pid in $strays; do kill -TERM "$pid"; done
sleep 1
for group in $groups; do kill -KILL "-$group"; done
for pid in $strays; do kill -KILL "$pid"; done
exit 0
`

/** Ends the listed process groups about one second after this process died. Not available on Windows, where a crash of the host may leave processes. */
export class Watchdog implements ProcessWatch {
  readonly #groups = new Set<number>()
  readonly #log: (line: string) => void
  #child: ChildProcess | null = null
  #restarts = 0
  #closed = false

  constructor(log: (line: string) => void = () => {}) {
    this.#log = log
  }

  /** False on Windows. */
  get available(): boolean {
    return process.platform !== 'win32'
  }

  /** pid of the running watchdog, or null */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Starts it where it does not run yet: before the first process, so that no process is ever unwatched. */
  start(): void {
    if (!this.available || this.#closed || this.#child) return
    const child = spawn('sh', ['-c', SCRIPT], {
      cwd: '/',
      // a session of its own: Ctrl-C of the terminal is not for it
      detached: true,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#child = child
    const gone = (): void => this.#gone(child)
    child.on('error', gone).on('exit', gone)
    child.stdin?.on('error', () => {})
    child.unref()
    ;(child.stdin as unknown as { unref?(): void } | null)?.unref?.()
    for (const group of this.#groups) child.stdin?.write(`add ${group}\n`)
  }

  add(group: number): void {
    this.#groups.add(group)
    if (this.#child) this.#child.stdin?.write(`add ${group}\n`)
    else this.start()
  }

  delete(group: number): void {
    if (this.#groups.delete(group)) this.#child?.stdin?.write(`del ${group}\n`)
  }

  /** Ends it (and, through it, whatever is still listed); resolves when it is gone, after 3 s at the latest. */
  async close(): Promise<void> {
    this.#closed = true
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS)
      child.once('exit', () => {
        clearTimeout(timer)
        resolve()
      })
      child.ref()
      child.stdin?.end()
    })
  }

  #gone(child: ChildProcess): void {
    if (this.#child !== child) return
    this.#child = null
    if (this.#closed) return
    if (this.#restarts++ < RESTARTS) this.start()
    else this.#log('the watchdog does not stay alive: a crash of this process may leave server processes')
  }
}
