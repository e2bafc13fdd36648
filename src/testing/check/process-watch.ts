/** Watches what a plugin does to the process: standard output, chance, listeners. */
import type { FindingKind } from './finding.ts'
import { pluginScope } from './scope.ts'

const TO_STDOUT = ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'count', 'timeEnd', 'timeLog'] as const
/** growth of one kind of listeners that is no accident: a check opens five sessions, and makes hundreds of calls */
const LEAK = 3

type Undo = () => void
let installed = 0
let undo: readonly Undo[] = []

/** Puts watchers in the place of what writes to stdout and of the sources of chance; code outside of plugins does not notice. */
function install(): void {
  if (installed++ > 0) return
  const written = (text: unknown): boolean => {
    const scope = pluginScope.getStore()
    if (scope === undefined) return false
    scope.tell('writes_to_stdout', scope, `wrote ${JSON.stringify(String(text).slice(0, 60))} to stdout`)
    return true
  }
  const { write } = process.stdout
  const { random } = Math
  const { now } = Date
  process.stdout.write = function (this: NodeJS.WriteStream, ...args: never[]): boolean {
    const [text] = args as readonly unknown[]
    if (!written(text)) return Reflect.apply(write, this, args) as boolean
    // who waits for the write must not wait for ever
    const done = (args as readonly unknown[]).findLast((arg): arg is () => void => typeof arg === 'function')
    if (done !== undefined) process.nextTick(done)
    return true
  }
  Math.random = () => (pluginScope.getStore()?.random ?? random)()
  Date.now = () => (pluginScope.getStore()?.now ?? now)()
  undo = [
    () => (process.stdout.write = write),
    () => (Math.random = random),
    () => (Date.now = now),
    // a test runner has a console of its own, which does not come by process.stdout
    ...TO_STDOUT.map((name): Undo => {
      const real = console[name] as (...args: unknown[]) => void
      console[name] = (...args: unknown[]) => {
        if (!written(args[0])) real.apply(console, args)
      }
      return () => (console[name] = real)
    }),
  ]
}

function uninstall(): void {
  if (--installed > 0) return
  for (const one of undo) one()
  undo = []
}

/** One check's look at the process, from its start to `stop`. */
export class ProcessWatch {
  /** many calls at once may have many listeners: Node's warning means nothing then */
  isCrowded = false
  readonly #listeners = listenerCounts()
  readonly #warnings: string[] = []
  readonly #warned = (warning: Error): void => {
    if (!this.isCrowded && warning.name === 'MaxListenersExceededWarning') this.#warnings.push(warning.message)
  }

  constructor() {
    process.on('warning', this.#warned)
    install()
  }

  /** Takes the watchers away, and tells what the plugin has left behind. */
  stop(tell: (kind: FindingKind, message: string) => void): void {
    process.off('warning', this.#warned)
    uninstall()
    for (const [event, count] of listenerCounts()) {
      const before = this.#listeners.get(event) ?? 0
      if (count - before >= LEAK) tell('leaks_listeners', `left ${count - before} listeners for "${String(event)}" on process`)
    }
    for (const message of this.#warnings) tell('leaks_listeners', `Node warned: ${message}`)
  }
}

function listenerCounts(): Map<string | symbol, number> {
  return new Map(process.eventNames().map((event) => [event, process.listenerCount(event)]))
}
