// The same server in two environments, each with a process of its own.
import os from 'node:os'
import path from 'node:path'
import { openSession, type EnvironmentDefinition } from 'tapline'

const place = (cwd: string): EnvironmentDefinition => ({
  cwd,
  mcpServers: { notes: { command: process.execPath, args: [path.resolve('examples/notes-server.mjs')] } },
})
const session = await openSession({
  environments: { here: place(process.cwd()), there: place(os.tmpdir()) },
  features: { multi_environment_mcp: true },
})
try {
  const { tools } = await session.listTools()
  for (const { name, owner } of tools) console.log(`${name}  of ${String(owner)}`)

  await session.callTool({ server: 'notes', environmentId: 'here', tool: 'add', arguments: { text: 'buy milk' } })
  for (const environmentId of ['here', 'there']) {
    const outcome = await session.callTool({ server: 'notes', environmentId, tool: 'list' })
    console.log(`${environmentId}: ${outcome.forModel.text}`)
  }

  // a name that fits two servers is never decided by chance
  const outcome = await session.callTool({ server: 'notes', tool: 'list' })
  console.log(outcome.code, outcome.outcome === 'invalid_request' ? outcome.candidates.map(String) : '')
} finally {
  await session.close()
}
