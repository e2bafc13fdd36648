/** Ctrl-C and its relatives: the first one cancels, the second one ends the process at once. */

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** The interruption of one command line. */
export class Interrupt {
  readonly #controller = new AbortController()
  #status: number | null = null
  #take: ((name: keyof typeof STATUS) => void) | null = null

  /** aborted by the first signal */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** exit status that the signal asks for (130, 143, 129), or null while there was none */
  get status(): number | null {
    return this.#status
  }

  /** Listens until disposed. `onFirst` is called once, with the name of the signal. */
  listen(onFirst: (name: string) => void): Disposable {
    const names = Object.keys(STATUS) as (keyof typeof STATUS)[]
    const take = (name: keyof typeof STATUS): void => {
      // what is still running then is ended by the watchdog of the runtime
      if (this.#status !== null) process.exit(this.#status)
      this.#status = STATUS[name]
      onFirst(name)
      this.#controller.abort(new Error(`interrupted by ${name}`))
    }
    this.#take = take
    for (const name of names) process.on(name, take)
    return {
      [Symbol.dispose]: () => {
        for (const name of names) process.off(name, take)
        this.#take = null
      },
    }
  }

  /** Ctrl-C that a prompt has read itself, as a terminal in raw mode sends no signal. */
  pressed(): void {
    this.#take?.('SIGINT')
  }
}
