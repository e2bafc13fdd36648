// Three hook plugins around one server: a guard, a rewriter and an observer.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openSession } from 'tapline'
import AuditPlugin from './audit.ts'
import DenyToolsPlugin from './deny-tools.ts'
import redactArguments from './redact-arguments.ts'

const folder = await mkdtemp(path.join(os.tmpdir(), 'tapline-audit-'))
const file = path.join(folder, 'audit.jsonl')
const session = await openSession({
  config: 'examples/tapline.json',
  hooks: [
    new AuditPlugin({ file }),
    new DenyToolsPlugin({ tools: ['clear'] }),
    // a plugin can be limited to some servers, tools or environments
    { plugin: redactArguments({ pattern: '\\d{4}' }), servers: ['notes'], tools: ['add'] },
  ],
})
try {
  const added = await session.callTool({ server: 'notes', tool: 'add', arguments: { text: 'the code is 4711' } })
  console.log(added.outcome, '-', added.forModel.text)
  const cleared = await session.callTool({ server: 'notes', tool: 'clear' })
  console.log(cleared.outcome, '-', cleared.forModel.text)
} finally {
  await session.close()
}
console.log(await readFile(file, 'utf8'))
await rm(folder, { recursive: true })
