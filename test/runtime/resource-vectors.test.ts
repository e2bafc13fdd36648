import { describe, expect, test } from 'vitest'
import type { TaplineError } from '../../src/errors.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import vectors from '../vectors/resource-tools.json' with { type: 'json' }

type Row = {
  readonly tool?: string
  readonly arguments?: Readonly<Record<string, string>>
  readonly environmentId?: string | null
  readonly server?: string
  readonly environment_id?: string
  readonly items?: readonly (readonly [string, string | null])[]
  readonly readIn?: string
  readonly ranIn?: string
  readonly error?: string
  readonly code?: string
}
type Vector = Omit<Row, 'code'> & { readonly ours: 'same' | Row }

const server = (place: string) => ({
  resources: { 'x://one': place },
  resourceTemplates: ['x://{id}'],
  tools: { where: { run: () => place, annotations: { readOnlyHint: true } } },
})

/**
 * What must be seen: the row with what we do otherwise, where Codex's own error code says nothing. Null and the empty text count as left
 * out, so those rows of `ab-ba-off` go the way of the row without them, which is corrected there.
 */
function wanted(id: string, vector: Vector): Row {
  const { ours, ...row } = vector
  if (id === 'ab-ba-off' && (vector.environmentId === null || vector.arguments?.['environment_id'] === ''))
    return { ...row, ...(row.readIn && { readIn: 'env-a' }), ...(row.ranIn && { ranIn: 'env-a' }) }
  return { ...row, code: undefined, ...(ours !== 'same' && { error: undefined, ...ours }) } as Row
}

describe.each(vectors.cases)('$id', ({ id, flag, selected, pluginRoots, threadWide, calls, rpc, rows, ours }) => {
  const open = () =>
    openTestRuntime({
      resourceTools: true,
      features: { multi_environment_mcp: flag },
      environments: Object.fromEntries(
        [...new Set([...selected, ...pluginRoots])].map((at) => [at, pluginRoots.includes(at) ? { probe: server(at) } : {}]),
      ),
      threadWide: Object.fromEntries(threadWide.map((name) => [name, server('host')])),
      session: { environments: selected },
    })

  test('lists and reads', async () => {
    await using t = await open()
    for (const vector of calls as readonly Vector[]) {
      const row = wanted(id, vector)
      const { server: name, environment_id: environmentId, cursor } = row.arguments ?? {}
      const ask = { ...vector.arguments, ...row.arguments, server: vector.arguments?.['server'] ?? name }
      const query = {
        ...(ask.server !== undefined && { server: ask.server }),
        ...('environment_id' in (vector.arguments ?? {}) && { environmentId: vector.arguments!['environment_id'] ?? environmentId }),
        ...(cursor !== undefined && { cursor }),
      }
      const seen = async (): Promise<unknown> => {
        if (vector.tool === 'read_mcp_resource') {
          const { contents } = await t.session.readResource({ ...query, uri: 'x://one' })
          return contents[0]?.text
        }
        const { items } = await t.session[vector.tool === 'list_mcp_resources' ? 'listResources' : 'listResourceTemplates'](query)
        return items.map(({ owner }) => [owner.name, flag ? owner.environmentId : null])
      }
      const what = `${vector.tool} ${JSON.stringify(vector.arguments)}`
      expect(
        await seen().catch(({ code, message }: TaplineError) => (row.code === undefined ? message.slice(0, row.error?.length) : code)),
        what,
      ).toEqual(row.code ?? row.error ?? row.items ?? row.readIn)
    }
  })

  test('the tools of the model', async () => {
    await using t = await open()
    const { resourceTools } = await t.session.listTools()
    expect(
      Object.fromEntries(
        resourceTools.map(({ name, inputSchema }) => [
          name,
          Object.keys(inputSchema['properties'] as object)
            .filter((parameter) => parameter !== 'installation_id')
            .sort(),
        ]),
      ),
    ).toEqual(vectors.parameters[flag ? 'on' : 'off'])
    for (const vector of calls as readonly Vector[]) {
      const row = wanted(id, vector)
      const args = { ...vector.arguments, ...(vector.tool === 'read_mcp_resource' && { uri: 'x://one' }) }
      const outcome: any = await t.callTool({ name: vector.tool as string, arguments: args })
      const what = `${vector.tool} ${JSON.stringify(vector.arguments)}`
      const isError = row.code !== undefined || row.error !== undefined
      expect([outcome.outcome, outcome.sent === 'no'], what).toEqual(isError ? ['invalid_request', true] : ['completed', false])
      const answer = outcome.result?.structuredContent ?? {}
      expect(outcome.forModel.text, what).toBe(isError ? outcome.message : JSON.stringify(answer))
      const items = answer.resources ?? answer.resourceTemplates
      const seen = isError
        ? row.code === undefined
          ? outcome.message.slice(0, row.error?.length)
          : outcome.code
        : (items?.map((item: any) => [item.server, item.environment_id ?? null]) ?? answer.contents[0].text)
      expect(seen, what).toEqual(row.code ?? row.error ?? row.items ?? row.readIn)
      const told = isError || row.server === undefined ? [undefined, undefined] : [row.server, row.environment_id]
      expect([answer.server, answer.environment_id], what).toEqual(told)
    }
  })

  test('tool calls by server and environment', async () => {
    await using t = await open()
    for (const vector of rpc as readonly Vector[]) {
      const row = wanted(id, vector)
      const outcome = await t.callTool({
        server: 'probe',
        tool: 'where',
        ...('environmentId' in vector && { environmentId: vector.environmentId ?? null }),
      })
      const seen = outcome.outcome === 'completed' ? (outcome.result.content[0] as { readonly text?: string }).text : outcome.code
      expect(seen, JSON.stringify(vector)).toBe(row.code ?? row.ranIn ?? 'UNKNOWN_SERVER')
    }
  })

  test('the servers of the session', async () => {
    await using t = await open()
    const { data } = await t.session.status({ discover: false })
    const wantedRows = ours === 'same' ? rows : (ours as { readonly rows: typeof rows }).rows
    const seen = data.map(({ owner }) => [owner.name, owner.environmentId])
    expect(seen.toSorted(byText)).toEqual([...wantedRows].toSorted(byText))
  })
})

const byText = (one: unknown, other: unknown): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)
