/** Answers to initialize that are older than asked, of the wrong kind, or lack what they should have. */
import { expect, test } from 'vitest'
import { Case, end, said, server, SLOW, text } from './driver.ts'

const REST = { capabilities: { tools: {} }, serverInfo: { name: 'v', version: '1' } }
const all = (answers: Readonly<Record<string, object>>): object => ({
  mcpServers: Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, server('versions.mjs', [JSON.stringify(answer)])])),
})
const call = (at: Case, name: string): ReturnType<Case['run']> => at.run(['call', '--server', name, 't'])

test('every older revision that we speak is taken as it is, and the status tells which', SLOW, async () => {
  const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
  await using at = new Case(all(Object.fromEntries(versions.map((version) => [version, { protocolVersion: version, ...REST }]))))
  for (const version of versions) expect(text(await call(at, version))).toBe('t')
  const { json } = await at.run(['status'])
  expect(json.data.map((row: any) => row.protocolVersion)).toEqual([...versions].sort())
})

test(
  'a version that is a number, null, a list, empty, nearly right or missing: refused at once, with what was said and what we speak',
  SLOW,
  async () => {
    const wrong = {
      number: 20241105,
      isNull: null,
      list: ['2025-11-25'],
      object: { v: '2025-11-25' },
      empty: '',
      space: '2025-11-25 ',
      short: '2025-11',
      slash: '2025/11/25',
      newer: '2099-01-01',
      draft: 'DRAFT-2026-v1',
    }
    const answers = {
      ...Object.fromEntries(Object.entries(wrong).map(([name, protocolVersion]) => [name, { protocolVersion, ...REST }])),
      missing: REST,
      ok: { protocolVersion: 'ASKED', ...REST },
    }
    await using at = new Case(all(answers))
    const out = await at.run(['tools'])
    expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
    expect(out.json.errors.map((entry: any) => [entry.owner.name, entry.code]).sort()).toEqual(
      [...Object.keys(wrong), 'missing'].sort().map((name) => [name, 'SERVER_PROTOCOL']),
    )
    for (const { message } of out.json.errors) expect(message).toContain('2025-11-25')
    for (const [name, word] of [
      ['newer', '2099-01-01'],
      ['draft', 'DRAFT-2026-v1'],
      ['short', '2025-11'],
    ] as const)
      expect(out.json.errors.find((entry: any) => entry.owner.name === name).message).toContain(`"${word}"`)
    expect(said(out)).not.toMatch(/ZodError|invalid_type|\n\s+at /)
    expect(out.ms).toBeLessThan(20_000)
    expect(end(await call(at, 'number'))).toEqual([4, 'server_failed', 'no'])
    expect(at.seen('notifications/initialized', { who: JSON.stringify(answers['number' as keyof typeof answers]) })).toEqual([])
  },
)

test('an answer without serverInfo, or with one of the wrong kind, is good enough', SLOW, async () => {
  const capabilities = { tools: {} }
  const answers = {
    none: { protocolVersion: 'ASKED', capabilities },
    isNull: { protocolVersion: 'ASKED', capabilities, serverInfo: null },
    text: { protocolVersion: 'ASKED', capabilities, serverInfo: 'server 1.0' },
    empty: { protocolVersion: 'ASKED', capabilities, serverInfo: {} },
    numbers: { protocolVersion: 'ASKED', capabilities, serverInfo: { name: 1, version: 2 }, instructions: ['a'] },
  }
  await using at = new Case(all(answers))
  const tools = await at.run(['tools'])
  expect([tools.status, tools.json.errors]).toEqual([0, []])
  for (const name of Object.keys(answers)) expect(tools.json.tools.map((row: any) => row.owner.name)).toContain(name)
  expect(text(await call(at, 'none'))).toBe('t')
  const { status, json } = await at.run(['status'])
  expect([status, json.data.map((row: any) => row.runtimeStatus)]).toEqual([0, Array.from({ length: 5 }, () => 'connected')])
})

test('capabilities that are missing or of the wrong kind: no tools, no failure, and nothing is asked for', SLOW, async () => {
  const serverInfo = { name: 'v', version: '1' }
  const answers = {
    none: { protocolVersion: 'ASKED', serverInfo },
    isNull: { protocolVersion: 'ASKED', serverInfo, capabilities: null },
    list: { protocolVersion: 'ASKED', serverInfo, capabilities: ['tools'] },
    text: { protocolVersion: 'ASKED', serverInfo, capabilities: 'tools' },
    empty: { protocolVersion: 'ASKED', serverInfo, capabilities: {} },
    odd: { protocolVersion: 'ASKED', serverInfo, capabilities: { tools: true, resources: null, prompts: 'yes', experimental: 7 } },
  }
  await using at = new Case(all(answers))
  const { status, json } = await at.run(['tools'])
  expect([status, json.errors]).toEqual([0, []])
  expect(json.tools.map((row: any) => row.owner.name)).toEqual(['odd'])
  expect(at.seen('tools/list')).toHaveLength(1)
  const out = await call(at, 'empty')
  expect([...end(out), out.json.code]).toEqual([2, 'invalid_request', 'no', 'UNKNOWN_TOOL'])
  const full = await at.run(['status', '--detail', 'full'])
  expect(full.json.data.map((row: any) => [row.runtimeStatus, row.error])).toEqual(Array.from({ length: 6 }, () => ['connected', null]))
})

test('initialize answered twice: the first answer counts', SLOW, async () => {
  await using at = new Case(all({ twice: { protocolVersion: 'ASKED', ...REST, twice: true } }))
  expect(text(await call(at, 'twice'))).toBe('t')
  expect(at.seen('initialize')).toHaveLength(1)
})
