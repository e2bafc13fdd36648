// The host of the chaos test: 5 sessions call 40 servers 5,000 times; `node --expose-gc host.mjs FOLDER`. Prints one JSON document.
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const CALLS = 5000
const IN_FLIGHT = 60
const SAMPLES = 5
const KINDS = ['crashes', 'hangs', 'floods', 'partial', 'changes', 'leaves']
const folder = process.argv[2]
const { openRuntime } = await import(pathToFileURL(path.join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href)

const kinds = [...Array.from({ length: 16 }, () => 'quiet'), ...Array.from({ length: 24 }, (_, n) => KINDS[n % KINDS.length])]
const servers = kinds.map((kind, n) => ({ kind, name: `${kind}-${n}`, ledger: path.join(folder, `${kind}-${n}.txt`) }))
const mcpServers = Object.fromEntries(
  servers.map(({ kind, name, ledger }) => [
    name,
    {
      command: process.execPath,
      args: [path.join(import.meta.dirname, 'server.mjs'), kind, ledger],
      env_vars: ['CASE_MARK'],
      defaultToolsApprovalMode: 'approve',
      startupTimeoutSec: 60,
      // quiet ones may be slow on a busy machine; those that hang must not hold us up
      toolTimeoutSec: kind === 'quiet' ? 60 : 3,
    },
  ]),
)
const runtime = await openRuntime({ mcpServers })
const sessions = await Promise.all(Array.from({ length: 5 }, () => runtime.openSession()))
/** callId → how often its end was told */
const settled = new Map()
for (const session of sessions)
  session.subscribe((event) => {
    if (event.type === 'settled') settled.set(event.callId, (settled.get(event.callId) ?? 0) + 1)
  })

// the same dice in every run
let state = 20_261_130
function dice() {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % 100
}

const heap = []
const calls = []
let next = 0
let done = 0

async function one(n) {
  const { kind, name } = servers[(n * 7) % servers.length]
  const call = `call-${n}`
  const how = { call, dice: dice() }
  // some callers lose their patience
  const patience = kind !== 'quiet' && dice() < 4 ? AbortSignal.timeout(dice()) : undefined
  const request = { server: name, tool: 'work', arguments: how }
  const outcome = await sessions[n % sessions.length].callTool(request, patience === undefined ? {} : { signal: patience })
  const text = outcome.outcome === 'completed' ? outcome.result.content[0].text : null
  calls.push({ call, kind, callId: outcome.callId, outcome: outcome.outcome, code: outcome.code, sent: outcome.sent, text })
  if (++done % (CALLS / SAMPLES) === 0) {
    globalThis.gc()
    heap.push(process.memoryUsage().heapUsed)
  }
}
async function lane() {
  while (next < CALLS) await one(next++)
}
await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
const ends = calls.map(({ callId }) => settled.get(callId) ?? 0)
await runtime.close()
process.stdout.write(JSON.stringify({ calls, heap, ends, told: settled.size, diagnostics: runtime.diagnostics.length }))
