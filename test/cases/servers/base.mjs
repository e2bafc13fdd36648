// The ordinary part of the servers of the cases: lines in, lines out, and a ledger of what reached the server.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Appends an entry to the ledger; `who` is the first argument of the server. */
export function note(ev, more = {}) {
  const { CASE_LEDGER } = process.env
  if (CASE_LEDGER)
    appendFileSync(CASE_LEDGER, `${JSON.stringify({ ev, pid: process.pid, who: process.argv[2] ?? '', t: Date.now(), ...more })}\n`)
}

export const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
export const text = (value, more = {}) => ({ content: [{ type: 'text', text: value }], ...more })
export const tool = (name, more = {}) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more })

/**
 * Answers requests until the input ends. `on` maps methods to functions of `(params, message)`: what they give is the result,
 * `undefined` stands for "no answer", and an exception is an error answer.
 */
export function serve(on, { capabilities = { tools: {} }, name = 'case', stay = false } = {}) {
  const handlers = {
    initialize: (params) => ({ protocolVersion: params.protocolVersion, capabilities, serverInfo: { name, version: '1.0.0' } }),
    ping: () => ({}),
    ...on,
  }
  note('start', { argv: process.argv.slice(2), cwd: process.cwd() })
  const lines = createInterface({ input: process.stdin })
  const receive = async (line) => {
    const message = JSON.parse(line)
    const { id, method, params } = message
    if (method === undefined) return
    note('in', { method, id, params })
    if (id === undefined) return
    const handler = handlers[method]
    if (!handler) return send({ id, error: { code: -32601, message: 'Method not found' } })
    try {
      const result = await handler(params, message)
      if (result !== undefined) send({ id, result })
    } catch (error) {
      send({ id, error: { code: error.code ?? -32603, message: error.message } })
    }
  }
  lines.on('line', (line) => void receive(line))
  lines.on('close', () => {
    note('eof')
    if (!stay) process.exit(0)
  })
}
