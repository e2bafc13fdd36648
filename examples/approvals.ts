// Who may run what: a reviewer that looks first, a person who is asked once, and a yes that is taken back.
import path from 'node:path'
import { memoryStore, openRuntime, type Approver, type Reviewer } from 'tapline'
import { ask, deny } from 'tapline/plugin'

// a policy service or another model in a real host; `allow()` would answer for the person
const reviewer: Reviewer = async ({ tool, owner }) =>
  String(owner).includes('prod') ? deny(`${tool} is not run in prod by an agent`) : ask()

const approver: Approver = async ({ tool, owner, canRemember, changes }) => {
  console.log(`? ${tool} of ${String(owner)}, ${changes.length} changes since the last yes: always`)
  return canRemember.includes('always') ? { action: 'accept', remember: 'always' } : { action: 'accept' }
}

const notes = { command: process.execPath, args: [path.resolve('examples/notes-server.mjs')] }
const runtime = await openRuntime({
  environments: {
    staging: { permissions: 'workspace-write', reviewer, mcpServers: { notes } },
    prod: { permissions: 'read-only', reviewer, mcpServers: { notes } },
  },
  features: { multi_environment_mcp: true },
  // what is remembered ends with this process; left out, it is kept in the folder of the user
  store: memoryStore(),
})
try {
  const clear = async (environmentId: string): Promise<void> => {
    const session = await runtime.openSession({ approver })
    const outcome = await session.callTool({ server: 'notes', environmentId, tool: 'clear' })
    console.log(`${environmentId}: ${outcome.outcome} - ${outcome.forModel.text}`)
    await session.close()
  }
  await clear('staging')
  // another session: the yes holds, for staging and for nothing else
  await clear('staging')
  await clear('prod')

  // tightened while everything runs: what was allowed under other permissions no longer counts
  runtime.environments.get('staging')?.update({ permissions: 'read-only' })
  await clear('staging')

  for (const { id, tool, owner, scope } of await runtime.approvals.list()) {
    console.log(`revoked ${scope} ${tool} of ${owner.display}: ${await runtime.approvals.revoke(id)}`)
  }
} finally {
  await runtime.close()
}
