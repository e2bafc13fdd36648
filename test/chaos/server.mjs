// A server that misbehaves in one way: `node server.mjs KIND LEDGER`. Each call of `work` carries an id and a dice from 0 to 99; what is
// done is written down before anything is answered, so that the ledger knows of every call that was delivered.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const [kind, ledger] = process.argv.slice(2)
const write = (text) => process.stdout.write(text)
const frame = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const send = (message) => write(frame(message))
const work = { name: 'work', inputSchema: { type: 'object' } }
let calls = 0
let lists = 0

function tools() {
  if (kind !== 'changes') return [work]
  lists++
  const more = Array.from({ length: lists % 5 }, (_, n) => ({ name: `extra_${lists}_${n}`, inputSchema: { type: 'object' } }))
  if (lists % 7 !== 3) return [work, ...more]
  // one of seven lists has no `work` at all, for a moment
  setTimeout(() => send({ method: 'notifications/tools/list_changed' }), 50)
  return more
}

const answer = (id, text) => ({ id, result: { content: [{ type: 'text', text }] } })

/** What each kind does with a call. */
const ways = {
  quiet: (id, call) => send(answer(id, call)),
  // ends at once, or with an answer that nobody gets
  crashes: (id, call, dice) => {
    if (dice >= 6) return send(answer(id, call))
    if (dice < 3) process.exit(3)
    process.kill(process.pid, 'SIGKILL')
  },
  hangs: (id, call, dice) => {
    if (dice >= 8) send(answer(id, call))
  },
  // junk, notices and answers that nobody asked for, and every answer twice
  floods: (id, call, dice) => {
    for (let n = 0; n < 20; n++) {
      write(`${'junk '.repeat(400)}\n`)
      send({ method: 'notifications/progress', params: { progressToken: `nobody-${n}`, progress: n } })
      send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(500) } })
    }
    send(answer(`never-asked-${dice}`, 'nobody'))
    send(answer(id, call))
    send(answer(id, `${call} again`))
  },
  // a frame in pieces, and at times only the half of one
  partial: async (id, call, dice) => {
    const text = frame(answer(id, call))
    const cut = 1 + (dice % (text.length - 2))
    write(text.slice(0, cut))
    await sleep(dice % 20)
    if (dice < 5) process.exit(0)
    write(text.slice(cut))
  },
  changes: (id, call) => {
    send({ method: 'notifications/tools/list_changed' })
    send(answer(id, call))
    send({ method: 'notifications/tools/list_changed' })
  },
  // goes away in an orderly fashion after every few calls
  leaves: (id, call) => {
    write(frame(answer(id, call)), () => {
      if (calls % 15 === 0) process.exit(0)
    })
  },
}

// two frames in pieces must not get mixed up
let turn = Promise.resolve()
const inTurn = (job) => (turn = turn.then(job))

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    if (method === 'initialize')
      return void inTurn(() =>
        send({
          id,
          result: {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: { listChanged: true }, logging: {} },
            serverInfo: { name: kind, version: '1' },
          },
        }),
      )
    if (method === 'tools/list') return void inTurn(() => send({ id, result: { tools: tools() } }))
    if (method !== 'tools/call') return void inTurn(() => send({ id, result: {} }))
    calls++
    const { call, dice } = params.arguments
    appendFileSync(ledger, `${call}\n`)
    void inTurn(() => ways[kind](id, call, dice))
  })
  .on('close', () => process.exit(0))
