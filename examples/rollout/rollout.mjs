// Five of a hundred users get multi_environment_mcp; then, while sessions are open, everybody; then nobody.
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { memoryStore, MULTI_ENVIRONMENT_MCP, openRuntime } from 'tapline'

const notes = { command: process.execPath, args: [path.join(import.meta.dirname, '..', 'notes-server.mjs')] }
const folder = await mkdtemp(path.join(os.tmpdir(), 'rollout-'))
const flagd = path.join(folder, 'flags.json')
await copyFile(path.join(import.meta.dirname, 'flags.json'), flagd)

const runtime = await openRuntime({
  environments: { here: { mcpServers: { notes } }, there: { cwd: folder, mcpServers: { notes } } },
  flags: { flagd },
  store: memoryStore(),
})
const users = Array.from({ length: 500 }, (_, index) => `user-${index}`)

/** Whether a user gets the flag now. */
async function has(targetingKey) {
  const session = await runtime.openSession({ evaluationContext: { targetingKey } })
  await session.close()
  return session.flags.get(MULTI_ENVIRONMENT_MCP)
}

/** Those of the users who get it. */
async function chosen() {
  const got = []
  for (const user of users) if (await has(user)) got.push(user)
  return got
}

/** Replaces the rule of the file by one for everybody, and waits until new sessions see it: less than a second. */
async function setForAll(variant) {
  const file = JSON.parse(await readFile(flagd, 'utf8'))
  file.flags.multi_environment_mcp.targeting = {}
  file.flags.multi_environment_mcp.defaultVariant = variant
  await writeFile(flagd, JSON.stringify(file))
  while ((await has('probe')) !== (variant === 'on')) await new Promise((resolve) => setTimeout(resolve, 50))
}

try {
  const early = await chosen()
  console.log(`${early.length} of ${users.length} users have it`)

  const session = await runtime.openSession({ evaluationContext: { targetingKey: early[0] } })
  const { value, variant, reason, source } = session.flags.details(MULTI_ENVIRONMENT_MCP)
  console.log(`${early[0]}: ${value} (${variant}, ${reason}, ${source})`)
  const colleague = await runtime.openSession({ evaluationContext: { targetingKey: 'anyone', team: 'core' } })
  console.log(`of the team core: ${colleague.flags.get(MULTI_ENVIRONMENT_MCP)}`)

  await setForAll('on')
  console.log(`then ${(await chosen()).length}`)
  await setForAll('off')
  console.log(`then ${(await chosen()).length}; the session that is open keeps ${session.flags.get(MULTI_ENVIRONMENT_MCP)}`)
} finally {
  await runtime.close()
  await rm(folder, { recursive: true, force: true })
}
