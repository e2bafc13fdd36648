/** The rows of the vectors about servers over HTTP: state, but never a launcher, and no probe. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/json.ts'
import { sandboxState } from '../../src/pipeline/sandbox-state.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'

interface Row {
  readonly kind: string
  readonly id: string
  readonly transport?: string
  readonly experimental?: JsonObject
  readonly capability?: string
  readonly keys?: readonly string[]
  readonly callerMeta?: JsonObject
  readonly ours: 'same' | { readonly result?: Readonly<Record<string, string>>; readonly trace?: readonly string[] }
}
const { cases } = JSON.parse(readFileSync(new URL('../vectors/sandbox-meta.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
const rowsOf = (kind: string): readonly Row[] =>
  cases.filter((row) => row.kind === kind && ['http', 'streamable HTTP on loopback'].includes(row.transport ?? ''))

let folder: string
let launcher: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapline-'))
  launcher = join(folder, 'codex')
  writeFileSync(launcher, '#!/bin/sh\necho probed >> "${0%/*}/probes"\nexit 0\n', { mode: 0o755 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Calls a server over HTTP that announces this; gives the `_meta` that came to it, and the keys that were dropped. */
async function called(experimental: JsonObject, meta: JsonObject = {}): Promise<{ readonly meta: JsonObject; readonly dropped: string[] }> {
  let seen: JsonObject | undefined
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = (await json(request)) as { id?: number; method: string; params: JsonObject }
    if (message.id === undefined) return void response.writeHead(202).end()
    if (message.method === 'tools/call') seen = message.params['_meta'] as JsonObject
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: message.params?.['protocolVersion'],
        capabilities: { tools: {}, experimental },
        serverInfo: { name: 'h', version: '1' },
      },
      'tools/list': { tools: [{ name: 'run', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [] },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: results[message.method] ?? {} }))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await using runtime = await openRuntime({
      environments: { local: { cwd: folder, permissions: 'workspace-write', codexExecutable: launcher } },
      mcpServers: {
        web: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, defaultToolsApprovalMode: 'approve' },
      },
    })
    const session = await runtime.openSession()
    const outcome = await session.callTool({ server: 'web', tool: 'run', arguments: {} }, { meta, trace: true })
    expect(outcome).toMatchObject({ outcome: 'completed' })
    return { meta: seen ?? {}, dropped: outcome.trace!.metaKeys.filter(({ by }) => by === 'dropped').map(({ key }) => key) }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('the rows are these', () => {
  expect([...rowsOf('keys'), ...rowsOf('spoof')].map(({ id }) => id)).toEqual([
    'none-http',
    'new-http',
    'old-http',
    'both-http',
    'version-http',
    'opted-in-http',
    'not-opted-in-http',
  ])
})

test.each(rowsOf('keys'))('$id', async ({ experimental, keys }) => {
  const { meta } = await called(experimental as JsonObject)
  expect(Object.keys(meta).filter((key) => key.startsWith('codex/'))).toEqual(keys)
  const state = sandboxState({ permissions: 'workspace-write', cwd: folder, codexExecutable: null })
  for (const key of keys as string[]) expect(meta[key]).toEqual(state)
  // row http-server of launcher-probe.json
  expect(existsSync(join(folder, 'probes'))).toBe(false)
})

test.each(rowsOf('spoof'))('$id', async ({ callerMeta, capability, ours }) => {
  const { result, trace } = ours as { readonly result: Readonly<Record<string, string>>; readonly trace: readonly string[] }
  const { meta, dropped } = await called(capability === 'none' ? {} : { 'codex/sandbox-state': {} }, callerMeta)
  const became = (key: string): string =>
    !Object.hasOwn(meta, key) ? 'removed' : JSON.stringify(meta[key]) === JSON.stringify(callerMeta?.[key]) ? 'passed on' : 'replaced'
  expect(Object.keys(result).map((key) => [key, became(key)])).toEqual(
    Object.entries(result).map(([key, word]) => [key, word.startsWith('replaced') ? 'replaced' : word]),
  )
  expect(dropped).toEqual(trace)
})
