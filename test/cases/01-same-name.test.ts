/** Servers of one name on several environments, and names that try to look like those of another scope. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Case, end, said, server, SLOW, text } from './driver.ts'

const sha = (value: string): string => createHash('sha1').update(value).digest('hex').slice(0, 12)
const on = (script: Record<string, any>): object => ({ cwd: '.', approvalPolicy: 'on-request', mcpServers: { files: script } })
const FLAG = { features: { multi_environment_mcp: true } }

test('three environments and the thread as a whole have a server of one name: four tools, each call reaches its own', SLOW, async () => {
  await using at = new Case({
    environments: {
      'env-a': on(server('echo.mjs', ['A'])),
      'env-b': on(server('echo.mjs', ['B'])),
      'env-c': on(server('echo.mjs', ['C'])),
    },
    mcpServers: { files: server('echo.mjs', ['T']) },
    ...FLAG,
  })
  const { json } = await at.run(['tools'])
  const names = new Map<string, string>(json.tools.map((row: any) => [row.owner.environmentId ?? 'thread-wide', row.name]))
  expect([...names].sort(([a], [b]) => a.localeCompare(b))).toEqual([
    ['env-a', `mcp__${sha('env-a')}__files__whoami`],
    ['env-b', `mcp__${sha('env-b')}__files__whoami`],
    ['env-c', `mcp__${sha('env-c')}__files__whoami`],
    ['thread-wide', 'mcp__files__whoami'],
  ])
  for (const [environment, who] of [
    ['env-a', 'A'],
    ['env-b', 'B'],
    ['env-c', 'C'],
    ['thread-wide', 'T'],
  ] as const) {
    expect(text(await at.run(['call', names.get(environment) as string]))).toBe(`${who} whoami`)
    expect(text(await at.run(['call', '--server', 'files', '--environment', environment, 'whoami']))).toBe(`${who} whoami`)
    const read = await at.run(['resources', 'read', '--server', 'files', '--environment', environment, 'case://one'])
    expect(read.json.contents[0].text).toBe(who)
  }
  const bare = await at.run(['call', '--server', 'files', 'whoami'])
  expect(end(bare)).toEqual([2, 'invalid_request', 'no'])
  expect(bare.json.code).toBe('AMBIGUOUS_SERVER')
  for (const candidate of ['env-a', 'env-b', 'env-c']) expect(said(bare)).toContain(`files (environment ${candidate})`)
  expect(at.calls()).toHaveLength(8)
})

test('a thread-wide server that is called like the scope of an environment cannot take the name of its tool', SLOW, async () => {
  const scope = sha('env-a')
  await using at = new Case({
    environments: { 'env-a': on(server('echo.mjs', ['A'])) },
    mcpServers: {
      [scope]: server('echo.mjs', ['spoof-1', '["files__whoami"]']),
      [`${scope}__files`]: server('echo.mjs', ['spoof-2']),
      [`mcp__${scope}__files`]: server('echo.mjs', ['spoof-3']),
    },
    ...FLAG,
  })
  const { json } = await at.run(['tools'])
  expect(json.tools).toHaveLength(4)
  expect(new Set(json.tools.map((row: any) => row.name)).size).toBe(4)
  expect(json.tools.filter((row: any) => row.name === `mcp__${scope}__files__whoami`)).toMatchObject([
    { owner: { environmentId: 'env-a' } },
  ])
  for (const row of json.tools) {
    const called = await at.run(['call', row.name])
    expect([called.json.owner, called.json.tool]).toEqual([row.owner, row.tool])
  }
  expect(at.calls().sort()).toEqual(['A whoami', 'spoof-1 files__whoami', 'spoof-2 whoami', 'spoof-3 whoami'])
})

test('where server and tool meet is not guessed from the separator', SLOW, async () => {
  await using at = new Case({
    mcpServers: {
      a: server('echo.mjs', ['a', '["b__c", "_b", "__c"]']),
      a__b: server('echo.mjs', ['a__b', '["c", "_c"]']),
      a_: server('echo.mjs', ['a_', '["b__c", "_b"]']),
    },
  })
  const { json } = await at.run(['tools'])
  expect(json.tools).toHaveLength(7)
  expect(new Set(json.tools.map((row: any) => row.name)).size).toBe(7)
  for (const row of json.tools) expect(text(await at.run(['call', row.name]))).toBe(`${row.owner.name} ${row.tool}`)
})

test('environments whose ids differ only in case are two, and a selection of one leaves the other unstarted', SLOW, async () => {
  const config = {
    environments: { Prod: on(server('echo.mjs', ['upper'])), prod: on(server('echo.mjs', ['lower'])) },
    selectedEnvironments: ['Prod', 'prod'],
    ...FLAG,
  }
  await using at = new Case(config)
  expect(text(await at.run(['call', '--server', 'files', '--environment', 'prod', 'whoami']))).toBe('lower whoami')
  expect(text(await at.run(['call', '--server', 'files', '--environment', 'Prod', 'whoami']))).toBe('upper whoami')
  at.write('tapline.json', { ...config, selectedEnvironments: ['prod'] })
  expect(text(await at.run(['call', '--server', 'files', 'whoami']))).toBe('lower whoami')
  const other = await at.run(['call', '--server', 'files', '--environment', 'Prod', 'whoami'])
  expect(end(other)).toEqual([2, 'invalid_request', 'no'])
  expect(at.ledger({ ev: 'start' }).map(({ who }) => who)).toEqual(['lower', 'upper', 'lower'])
})
