/** One server name in two environments, one read-only under `never`, one with full access, through the command line: each by its own, whichever is primary. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { MAIN } from '../cli/tapline.ts'
import { asking } from '../runtime/asking.ts'
import { Case, end, server, SLOW } from './driver.ts'

const ids = ['tight', 'wide']
const orders = [ids, ids.toReversed()]
/** `wide` is under `never` too unless `policy` says otherwise: full access runs all the same. */
const config = (order: readonly string[], mcpServers: (id: string) => object, policy = 'never'): object => ({
  environments: {
    tight: { cwd: '.', permissions: 'read-only', approvalPolicy: 'never', mcpServers: mcpServers('tight') },
    wide: { cwd: '.', permissions: 'full-access', approvalPolicy: policy, mcpServers: mcpServers('wide') },
  },
  selectedEnvironments: order,
  features: { multi_environment_mcp: true },
  store: { file: './store' },
})

describe.each(orders)('primary: %s', (...order) => {
  test('calls and approvals', SLOW, async () => {
    const db = (id: string): object => ({ db: server('echo.mjs', [id], { defaultToolsApprovalMode: 'auto' }) })
    await using at = new Case(config(order, db))
    const call = async (id: string, ...more: string[]): Promise<unknown[]> => {
      const out = await at.run(['call', '--server', 'db', '--environment', id, 'whoami', ...more])
      return [...end(out), out.json.code]
    }
    const refused = [3, 'refused', 'no', 'APPROVAL_POLICY_NEVER']
    const ran = [0, 'completed', 'yes', 'OK']
    expect([await call('tight'), await call('tight', '--approve', 'always'), await call('wide')]).toEqual([refused, refused, ran])
    at.write('tapline.json', config(order, db, 'on-request'))
    expect((await call('wide'))[1]).toBe('no_approver')
    // a yes for always of the one is none for the other
    expect([await call('wide', '--approve', 'always'), await call('wide'), await call('tight')]).toEqual([ran, ran, refused])
    expect(at.calls()).toEqual(['wide whoami', 'wide whoami', 'wide whoami'])
  })

  test('questions of the servers, behind serve', SLOW, async () => {
    const asks = { ...asking({ env_vars: ['CASE_MARK'], defaultToolsApprovalMode: 'approve' }) }
    await using at = new Case(config(order, () => ({ asks }), 'on-request'))
    const client = new Client({ name: 'test', version: '0' }, { capabilities: { elicitation: {} } })
    const asked: string[] = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { ok: true } }
    })
    const args = [MAIN, '--config', 'tapline.json', 'serve', '--stdio']
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...at.env }, cwd: at.dir, stderr: 'ignore' }))
    try {
      const { tools } = await client.listTools()
      const answers: string[] = []
      for (const { name } of tools.filter((tool) => tool.name.includes('asks') && /__ask(?:_[0-9a-f]{12})?$/.test(tool.name))) {
        const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } }
        const question = { method: 'elicitation/create', params: { message: name, requestedSchema } }
        const { content } = (await client.callTool({ name, arguments: question })) as { content: { text: string }[] }
        answers.push(`${name} ${JSON.parse(content[0]!.text).action}`)
      }
      const ended = (word: string): string[] => answers.filter((answer) => answer.endsWith(` ${word}`))
      expect([answers.length, ended('accept').length, ended('decline').length]).toEqual([2, 1, 1])
      const [accepted] = ended('accept')[0]!.split(' ')
      expect(asked).toEqual([`asks (environment wide): ${accepted}`])
    } finally {
      await client.close()
    }
  })
})
