// Lists the tools of every server and calls one of them.
import { openSession } from 'tapline'

const session = await openSession({ config: 'examples/tapline.json' })
try {
  const { tools, errors } = await session.listTools()
  for (const { name, owner } of tools) console.log(`${name}  of ${String(owner)}`)
  for (const { owner, error } of errors) console.error(`${String(owner)}: ${error.message}`)

  const outcome = await session.callTool({ server: 'notes', tool: 'add', arguments: { text: 'buy milk' } })
  console.log(outcome.outcome, '-', outcome.forModel.text)
} finally {
  await session.close()
}
