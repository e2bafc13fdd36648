// The host of the attacks, run by plain node on the built package: opens one runtime over two servers of one name in two environments,
// gives every attack a session of its own, and prints how each ended. Usage: node host.mjs JOB.json
import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { openRuntime } = await import(pathToFileURL(`${job.dist}/index.js`).href)
const AsyncFunction = (async () => {}).constructor
const print = process.stdout.write.bind(process.stdout)
const stringify = JSON.stringify
const { hasOwn } = Object
const ledger = () => (existsSync(job.ledger) ? readFileSync(job.ledger, 'utf8').split('\n').slice(0, -1) : [])
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const limit = (ms) => new Promise((resolve) => setTimeout(() => resolve('hung'), ms).unref())

let stray = []
process.on('unhandledRejection', (error) => stray.push(`unhandled rejection: ${String(error?.message ?? error)}`))
process.on('uncaughtException', (error) => stray.push(`uncaught exception: ${error?.message ?? error}`))

/** What an outcome says, as plain data. */
const plain = (outcome) => {
  if (outcome === null || typeof outcome !== 'object') return { outcome: String(outcome) }
  const { code, message, hook, tap, plugin, key, sent, by, reason, tool, result } = outcome
  return {
    outcome: outcome.outcome,
    code,
    message,
    hook,
    tap,
    plugin,
    key,
    sent,
    by,
    reason,
    tool,
    owner: String(outcome.owner),
    text: outcome.forModel?.text,
    result: hasOwn(outcome, 'result') ? result : undefined,
  }
}

/** Notes what a tap that does nothing sees, before and after the culprit. */
const witness = (name, seen) => ({
  name,
  apply({ hooks }) {
    const look = (call) => seen.push(`${call.owner} ${call.tool ?? call.uri} ${call.authority.environmentId}`)
    for (const stage of [-1000, 1000]) {
      const options = { name: stage < 0 ? 'witness first' : 'witness last', stage, methods: ['tools/call', 'resources/read'] }
      for (const hook of ['resolve', 'approve', 'attachMetadata']) hooks[hook].tap(options, (call) => void look(call))
      hooks.dispatch.tapPromise(options, async (call, next) => (look(call), next()))
    }
  },
})

async function run(runtime, attack, kind) {
  const seen = []
  const before = ledger().length
  stray = []
  globalThis.attacked = { runtime }
  const uses = [runtime.use(witness('witness', seen))]
  if (attack.mate !== undefined) {
    const apply = ({ hooks }) => hooks.attachMetadata.tap('culprit', () => ({ [attack.mate]: 'ours' }))
    uses.push(runtime.use({ name: `evil ${attack.id}`, apply }))
  }
  if (kind === 'code' || kind === 'shadow') {
    const { default: plugin } = await import(pathToFileURL(attack.module).href)
    uses.push(runtime.use(kind === 'code' ? plugin : { plugin, mode: 'shadow' }))
  }
  const asked = []
  const approver = new AsyncFunction('question', 'asked', attack.approver ?? 'return { action: "accept" }')
  let ended
  let settled = 0
  let session
  try {
    session = await runtime.openSession({
      id: attack.id,
      approver: (question) => (asked.push(stringify(question.arguments)), approver(question, asked)),
      trace: attack.trace !== false,
    })
    session.subscribe((event) => void (event.type === 'settled' && settled++))
    const request = {
      server: 'files',
      environmentId: 'exec-a',
      tool: 'write',
      arguments: { path: 'p', nested: { deep: [1] } },
      ...attack.request,
    }
    globalThis.attacked.request = request
    const drive = new AsyncFunction('session', 'request', 'pause', attack.drive ?? 'return session.callTool(request)')
    ended = plain(await Promise.race([drive(session, request, pause), limit(8000)]))
  } catch (error) {
    ended = {
      outcome: 'threw',
      code: error?.code,
      message: String(error?.message),
      hook: error?.hook,
      tap: error?.tap,
      plugin: error?.plugin,
    }
  }
  await pause(attack.waitMs ?? 0)
  const late = (session?.diagnostics ?? []).map(({ code, message }) => `${code}: ${message}`)
  await session?.close()
  for (const use of uses) use[Symbol.dispose]()
  await new Promise((resolve) => setImmediate(resolve))
  return {
    id: attack.id,
    ended,
    settled,
    seen,
    asked,
    diagnostics: late,
    stray: [...stray],
    sent: ledger()
      .slice(before)
      .map((line) => JSON.parse(line)),
    saw: globalThis.saw,
  }
}

const runtime = await openRuntime({ config: job.config })
const results = []
const warm = await runtime.openSession({ id: 'warm' })
await warm.listTools()
for (const attack of job.attacks) {
  delete globalThis.saw
  results.push(await run(runtime, attack, job.kind))
}
print(`RESULT ${stringify(results)}\n`)
await warm.close()
await runtime.close()
