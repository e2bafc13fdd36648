// A flag for 5 of 100 users, and a guard in shadow for 20 of them; then both are switched while sessions are open.
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { defineFlag, memoryStore, MULTI_ENVIRONMENT_MCP, openRuntime } from 'tapline'
import ReadOnlyPlugin from '../read-only.mjs'

const READ_ONLY_MODE = defineFlag({
  name: 'read_only_mode',
  variants: ['off', 'shadow', 'enforce'],
  default: 'enforce', // what counts when the flag file cannot be read
  description: 'whether tools that write are refused',
})
const notes = { command: process.execPath, args: [path.join(import.meta.dirname, '..', 'notes-server.mjs')] }
const folder = await mkdtemp(path.join(os.tmpdir(), 'rollout-'))
const flagd = path.join(folder, 'flags.json')
await copyFile(path.join(import.meta.dirname, 'flags.json'), flagd)

const runtime = await openRuntime({
  environments: { here: { mcpServers: { notes } }, there: { cwd: folder, mcpServers: { notes } } },
  hooks: [{ plugin: new ReadOnlyPlugin(), mode: READ_ONLY_MODE }],
  flags: { flagd },
  store: memoryStore(),
})
const open = (targetingKey) => runtime.openSession({ evaluationContext: { targetingKey } })

/** How many of 500 users get which value now, and the first of each. */
async function split(flag) {
  const users = new Map()
  for (let index = 0; index < 500; index++) {
    const session = await open(`user-${index}`)
    await session.close()
    const value = session.flags.get(flag)
    users.set(value, [...(users.get(value) ?? []), `user-${index}`])
  }
  return users
}
const shown = (users) => [...users].map(([value, { length }]) => `${value} ${length}`).join(', ')

/** Gives a variant to everybody: in practice a deployment does this. */
async function setForAll(name, variant) {
  const file = JSON.parse(await readFile(flagd, 'utf8'))
  file.flags[name] = { ...file.flags[name], defaultVariant: variant, targeting: {} }
  await writeFile(flagd, JSON.stringify(file))
}
/** Less than a second. */
async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}

try {
  const early = await split(MULTI_ENVIRONMENT_MCP)
  console.log(`multi_environment_mcp: ${shown(early)}`)
  const [user] = early.get(true)
  const session = await open(user)
  const { value, variant, reason, source } = session.flags.details(MULTI_ENVIRONMENT_MCP)
  console.log(`${user}: ${value} (${variant}, ${reason}, ${source})`)

  await setForAll('multi_environment_mcp', 'off')
  await until(async () => !(await open(user)).flags.get(MULTI_ENVIRONMENT_MCP))
  console.log(`off for everybody; the session that is open keeps ${session.flags.get(MULTI_ENVIRONMENT_MCP)}`)

  const modes = await split(READ_ONLY_MODE)
  console.log(`read_only_mode: ${shown(modes)}`)
  const add = { server: 'notes', tool: 'add', arguments: { text: 'buy milk' } }
  const watched = await open(modes.get('shadow')[0])
  const { outcome, trace } = await watched.callTool(add, { trace: true })
  console.log(`in shadow: ${outcome}, would have been ${trace.shadow[0].wouldHave.join(', ')}`)

  const guarded = await open(modes.get('enforce')[0])
  console.log(`in force: ${(await guarded.callTool(add)).outcome}`)
  await setForAll('read_only_mode', 'off')
  await until(() => guarded.hookPlugins[0].mode === 'off')
  console.log(`switched off while the session is open: ${(await guarded.callTool(add)).outcome}`)
} finally {
  await runtime.close()
  await rm(folder, { recursive: true, force: true })
}
