import { createWriteStream } from 'node:fs'
import type { HookPlugin, HookPorts } from 'tapline/plugin'

/** Writes one line of JSON for every call that ended. */
export default class AuditPlugin implements HookPlugin {
  readonly name = 'audit'
  readonly #file: string

  constructor(options: { readonly file: string }) {
    this.#file = options.file
  }

  apply({ hooks, session }: HookPorts): AsyncDisposable {
    const log = createWriteStream(this.#file, { flags: 'a', mode: 0o600 })
    log.on('error', (error) => console.error(`audit: ${error.message}`))
    hooks.settled.tap('write-line', ({ request, call, owner, outcome, trace }) => {
      const tool = call?.method === 'tools/call' ? call.tool : null
      const taps = trace.taps.map(({ plugin, tap, decision }) => `${plugin}/${tap}: ${decision}`)
      const { code, sent } = outcome
      log.write(`${JSON.stringify({ session: session.id, method: request.method, owner, tool, code, sent, taps })}\n`)
    })
    // the session waits for this when it is closed
    return { [Symbol.asyncDispose]: () => new Promise((done) => log.end(done)) }
  }
}
