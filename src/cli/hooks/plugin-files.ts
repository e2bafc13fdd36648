/** The files of a new package with a hook plugin: JavaScript with types in its comments, so that Node 20 runs it without a build. */
import { VERSION } from '../../version.ts'
import { notesServer } from './notes-server-file.ts'

const SOURCE_FILE = 'src/plugin.js'
const SOURCE_FROM_TESTS = `../${SOURCE_FILE}`
/** a configuration takes the default export of a module */
const EXPORT = 'export default'

/** Path → text. `name`: of the package and of its plugin. */
export function pluginFiles(name: string): Readonly<Record<string, string>> {
  return {
    'package.json': manifest(name),
    [SOURCE_FILE]: source(name),
    'test/plugin.test.js': tests(name),
    'try/tapline.json': configuration(),
    'try/server.js': notesServer(),
    'README.md': readme(name),
    '.gitignore': 'node_modules\n',
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const manifest = (name: string): string =>
  json({
    name,
    version: '0.1.0',
    description: 'A hook plugin for tapline.',
    type: 'module',
    engines: { node: '>=20.19' },
    exports: `./${SOURCE_FILE}`,
    files: ['src'],
    scripts: { test: 'node --test', check: `tapline hooks check ./${SOURCE_FILE}` },
    peerDependencies: { tapline: `^${VERSION}` },
    devDependencies: { tapline: `^${VERSION}` },
  })

const configuration = (): string =>
  json({
    mcpServers: { notes: { command: 'node', args: ['./server.js'], defaultToolsApprovalMode: 'approve' } },
    hooks: [{ module: `../${SOURCE_FILE}`, options: { tools: ['clear'] } }],
  })

const source = (name: string): string => `// @ts-check
import { ALL_METHODS, deny, STAGE_GUARD } from 'tapline/plugin'

/**
 * Options as a configuration gives them.
 * @typedef {{ readonly tools?: readonly string[] }} Options
 */

/**
 * Refuses the tools that it is told, by the names that their servers give them, and says how calls ended.
 * @param {Options} options
 * @returns {import('tapline/plugin').HookPlugin}
 */
${EXPORT} function plugin({ tools = [] } = {}) {
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === 'string')) throw new TypeError('tools must be a list of names')
  const refused = new Set(tools)
  return {
    name: '${name}',
    // once for each session: what it closes over belongs to that session
    apply({ hooks }) {
      hooks.approve.tap({ name: 'refuse', stage: STAGE_GUARD, methods: ALL_METHODS }, (call, { log }) => {
        if (call.method !== 'tools/call' || !refused.has(call.tool)) return undefined
        log(\`refused \${call.tool} of \${String(call.owner)}\`)
        return deny(\`\${call.tool} is off on \${String(call.owner)}\`)
      })
    },
  }
}
`

const tests = (name: string): string => `// @ts-check
import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPlugin, openTestRuntime, scriptedServer } from 'tapline/testing'
import plugin from '${SOURCE_FROM_TESTS}'

const notes = scriptedServer({ tools: { list: { run: () => 'a note' }, clear: { run: () => 'cleared' } } })

await test('refuses the tools of its list, and no other', async () => {
  const runtime = await openTestRuntime({ threadWide: { notes }, hooks: [plugin({ tools: ['clear'] })] })
  try {
    const listed = await runtime.callTool({ server: 'notes', tool: 'list' })
    assert.equal(listed.outcome, 'completed')

    const refused = await runtime.callTool({ server: 'notes', tool: 'clear' })
    assert.equal(refused.code, 'CALL_REFUSED')
    assert.equal(refused.forModel.text, 'The call was refused: clear is off on notes')

    // what never reached the server
    const sent = runtime.sent.filter(({ method }) => method === 'tools/call')
    assert.deepEqual(
      sent.map(({ params }) => params['name']),
      ['list'],
    )
  } finally {
    await runtime.close()
  }
})

await test('does not accept other options', () => {
  assert.throws(() => plugin({ tools: /** @type {any} */ ('clear') }), TypeError)
})

await test('keeps the rules for hook plugins', async () => {
  const { findings } = await checkPlugin(plugin({ tools: ['write'] }))
  assert.deepEqual(findings, [], '${name} breaks a rule; each finding says what to do')
})
`

const readme = (name: string): string => `# ${name}

A hook plugin for [tapline](https://www.npmjs.com/package/tapline). It refuses the tools of a list.

\`\`\`jsonc
// tapline.json
{
  "hooks": [{ "package": "${name}", "options": { "tools": ["clear"] } }]
}
\`\`\`

## Working on it

\`\`\`sh
npm install
npm test          # its tests, and the check of what no plugin should do
npm run check     # that check alone, in a process of its own
\`\`\`

\`try\` has a small MCP server and a configuration that uses the plugin:

\`\`\`sh
npx tapline --config try/tapline.json call --server notes add '{"text":"milk"}' --trace
npx tapline --config try/tapline.json call --server notes clear --trace
\`\`\`

The second call is refused, and its trace has a line for the tap \`refuse\` of \`${name}\`.

The source is JavaScript whose types stand in comments; an editor checks them (\`// @ts-check\`). Hooks, options and errors: docs/reference/hooks.md and
docs/guides/testing-plugins.md of the package tapline.
`
