// Plugins that come with the package, around one server: lists, redaction, an audit log, and nothing that writes is sent.
import { openSession } from 'tapline'
import { auditLog, dryRun, redact, toolList } from 'tapline/builtin'

const audit: string[] = []
const session = await openSession({
  config: 'examples/tapline.json',
  hooks: [
    toolList({ deny: ['clear'] }),
    redact({ patterns: ['sk-[A-Za-z0-9]{20,}'] }),
    dryRun({ calls: 'writes', send: ['list'] }),
    auditLog({ write: (line) => audit.push(line), arguments: 'full' }),
  ],
})
try {
  for (const [tool, args] of [
    ['add', { text: `my key is sk-${'a'.repeat(20)}` }],
    ['list', {}],
    ['clear', {}],
  ] as const) {
    const { outcome, sent, forModel } = await session.callTool({ server: 'notes', tool, arguments: args })
    console.log(`${tool}: ${outcome}, sent: ${sent} - ${forModel.text}`)
  }
} finally {
  await session.close()
}
for (const line of audit) {
  const { tool, code, arguments: args } = JSON.parse(line) as { tool: string; code: string; arguments: object }
  console.log(tool, code, JSON.stringify(args))
}
