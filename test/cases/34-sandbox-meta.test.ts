/** Sandbox metadata: odd announcements, launchers that change or hang, permissions that are not set or change, metadata of the caller. */
import { chmodSync, mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Case, end, library, server, SLOW, text } from './driver.ts'

const STATE = 'codex/sandbox-state'
const ALIAS = 'codex/sandbox-state-meta'
const LAUNCHER = 'codex/sandbox-launcher'
const ASKS = `{"${STATE}":{}}`

const place = (servers: Readonly<Record<string, string>>, more: object = {}): object => ({
  environments: {
    e: {
      cwd: '.',
      permissions: 'workspace-write',
      mcpServers: Object.fromEntries(Object.entries(servers).map(([name, announced]) => [name, server('meta.mjs', [announced])])),
      ...more,
    },
  },
  features: { multi_environment_mcp: true },
})
async function meta(at: Case, name: string): Promise<any> {
  const out = await at.run(['call', '--server', name, 'echo'])
  expect([name, ...end(out)]).toEqual([name, 0, 'completed', 'yes'])
  return JSON.parse(text(out)) ?? {}
}
/** The same place for the library: no variables of the host are passed on. */
const inCode = (at: Case, announced: string, more: object = {}): any => {
  const { command, args } = server('meta.mjs', [announced])
  const s = { command, args, env: at.servers }
  return {
    environments: { e: { cwd: at.dir, permissions: 'workspace-write', mcpServers: { s }, ...more } },
    features: { multi_environment_mcp: true },
  }
}
const metaOf = (outcome: any): any => JSON.parse(outcome.result.content[0].text) ?? {}

test(
  'only a key of `experimental` announces it, whatever its value; everything else is no announcement, and no failure',
  SLOW,
  async () => {
    const yes = {
      null: `{"${STATE}":null}`,
      false: `{"${STATE}":false}`,
      text: `{"${ALIAS}":"1"}`,
      list: `{"${STATE}":[]}`,
      both: `{"${STATE}":0,"${ALIAS}":0}`,
    }
    const no = {
      none: '-',
      isNull: 'null',
      isList: `["${STATE}"]`,
      isText: `"${STATE}"`,
      isTrue: 'true',
      isEmpty: '{}',
      inherited: `{"__proto__":{"${STATE}":{}}}`,
      deeper: `{"x":{"${STATE}":{}}}`,
      nearly: `{"Codex/Sandbox-State":{},"codex/sandbox-state ":{},"codex/sandbox-state-metadata":{}}`,
    }
    await using at = new Case(place({ ...yes, ...no }))
    for (const name of Object.keys(yes)) {
      const got = await meta(at, name)
      expect([name, got[STATE]]).toEqual([name, expect.objectContaining({ sandboxCwd: expect.any(String) })])
      expect(got[ALIAS]).toEqual(got[STATE])
    }
    for (const name of Object.keys(no))
      expect([name, Object.keys(await meta(at, name)).filter((key) => key.startsWith('codex/'))]).toEqual([name, []])
  },
)

test('no permissions, no state: none is made up, and no launcher is named', SLOW, async () => {
  await using at = new Case()
  const launcher = at.write('launcher.sh', '#!/bin/sh\necho probe >> "${0%/*}/probes.txt"\nexit 0\n')
  chmodSync(launcher, 0o755)
  at.write('tapline.json', place({ s: ASKS }, { permissions: undefined, codexExecutable: launcher }))
  expect(Object.keys(await meta(at, 's')).filter((key) => key.startsWith('codex/sandbox-state'))).toEqual([])
  at.write('tapline.json', place({ s: ASKS }, { codexExecutable: launcher }))
  const got = await meta(at, 's')
  expect(got[LAUNCHER]).toEqual({ codexExecutable: launcher })
  expect(JSON.stringify(got[STATE])).toContain(at.dir)
})

test('a launcher that turns bad between two calls of one session is no longer named, and one that turns good is', SLOW, async () => {
  await using at = new Case()
  const script = (status: number, size: number): string =>
    `#!/bin/sh\n${'#'.repeat(size)}\necho "$*" >> "\${0%/*}/probes.txt"\nexit ${status}\n`
  const launcher = at.write('launcher.sh', script(0, 1))
  chmodSync(launcher, 0o755)
  const { openRuntime } = await library()
  await using runtime = await openRuntime(inCode(at, ASKS, { codexExecutable: launcher }))
  const session = await runtime.openSession()
  const call = async (): Promise<any> => metaOf(await session.callTool({ server: 's', tool: 'echo' }))
  expect((await call())[LAUNCHER]).toEqual({ codexExecutable: launcher })
  expect((await call())[LAUNCHER]).toEqual({ codexExecutable: launcher })
  expect(at.read('probes.txt').trim().split('\n')).toHaveLength(1)
  at.write('launcher.sh', script(2, 20))
  const bad = await call()
  expect([LAUNCHER in bad, STATE in bad]).toEqual([false, true])
  at.write('launcher.sh', script(0, 300))
  expect((await call())[LAUNCHER]).toEqual({ codexExecutable: launcher })
  expect(at.read('probes.txt').trim().split('\n')).toHaveLength(3)
  await runtime.close()
})

test(
  'a launcher that hangs, is a folder, a link in a circle or no program: the call runs without it, and nothing of it is left',
  SLOW,
  async () => {
    await using at = new Case()
    const hangs = at.write('hangs.sh', '#!/bin/sh\ntrap "" TERM\nsleep 120 &\nsleep 120\n')
    chmodSync(hangs, 0o755)
    mkdirSync(at.path('folder'))
    const plain = at.write('plain.txt', 'no program')
    for (const codexExecutable of [hangs, at.path('folder'), plain, '/dev/null', at.path('absent')]) {
      at.write('tapline.json', place({ s: ASKS }, { codexExecutable }))
      const got = await meta(at, 's')
      expect([codexExecutable, LAUNCHER in got, STATE in got]).toEqual([codexExecutable, false, true])
    }
  },
)

test('what a caller puts under reserved keys is dropped, also for a server that asked for nothing; its own keys arrive', SLOW, async () => {
  await using at = new Case()
  const { openRuntime } = await library()
  const forged = {
    [STATE]: { forged: 1 },
    [ALIAS]: { forged: 2 },
    [LAUNCHER]: { codexExecutable: '/forged' },
    'codex/other': 'forged',
    progressToken: 'forged',
    'case.test/own': { a: [1, null] },
  }
  for (const announced of [ASKS, '-']) {
    await using runtime = await openRuntime(inCode(at, announced))
    const session = await runtime.openSession()
    const outcome: any = await session.callTool({ server: 's', tool: 'echo' }, { meta: forged, trace: true })
    const got = metaOf(outcome)
    expect(JSON.stringify(got)).not.toContain('forged')
    expect(got['case.test/own']).toEqual({ a: [1, null] })
    expect(STATE in got).toBe(announced === ASKS)
    await runtime.close()
  }
})

test('the state is that of the moment of the call: two hundred changes, each seen by the very next call', SLOW, async () => {
  await using at = new Case()
  const { openRuntime } = await library()
  await using runtime = await openRuntime(inCode(at, ASKS))
  const session = await runtime.openSession()
  const environment = runtime.environments.get('e')!
  const kinds = ['read-only', 'workspace-write', 'full-access', null] as const
  const seen = new Map<string, Set<string>>()
  for (let i = 0; i < 200; i++) {
    const permissions = kinds[i % kinds.length] as (typeof kinds)[number]
    environment.update({ permissions })
    const got = metaOf(await session.callTool({ server: 's', tool: 'echo' }))
    const states = seen.get(String(permissions)) ?? new Set()
    seen.set(String(permissions), states.add(JSON.stringify(got[STATE] ?? null)))
  }
  expect([...seen].map(([kind, states]) => [kind, states.size])).toEqual(kinds.map((kind) => [String(kind), 1]))
  expect(new Set([...seen.values()].flatMap((states) => [...states])).size).toBe(kinds.length)
  expect([...(seen.get('null') as Set<string>)]).toEqual(['null'])
  await runtime.close()
})
