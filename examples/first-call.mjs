// Lists the tools of every server and calls one of them.
import { openSession } from 'tapline'

const session = await openSession({ config: '.mcp.json' })
try {
  const { tools, errors } = await session.listTools()
  for (const { name, owner } of tools) console.log(`${name}  of ${owner}`)
  for (const { owner, error } of errors) console.error(`${owner}: ${error.message}`)

  const outcome = await session.callTool({ server: 'everything', tool: 'echo', arguments: { message: 'hello' } })
  console.log(outcome.outcome, '-', outcome.forModel.text)
} finally {
  await session.close()
}
