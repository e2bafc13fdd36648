// Random set-ups of environments, servers and plugin packages that come and go while sessions are opened and kept: whatever happens, a key is
// answered by what it stands for, a name by that or by nobody, and nothing is ever renamed.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Executor, ExecutorDefinition } from '../../src/connections/executor.ts'
import { fileFailed } from '../../src/connections/executors/file-failed.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { RuntimeEnvironment, ServerKey, Session } from '../../src/index.ts'
import { memoryStore, openRuntime } from '../../src/index.ts'

const NAMES = ['db', 'files', 'Files', 'a-b', 'a_b']
const IDS = ['one', 'two']
/** The folder that the configuration selects, under an installation id; others are found below /roots. */
const SELECTED = '/opt/second'
const TOOLS = ['who', 'odd name!']

/** Says which definition it was started from. */
const labelled: MemoryServer = async ({ lines, send, request }) => {
  const answers: Record<string, (params: any) => object> = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'l', version: '1' } }),
    'tools/list': () => ({ tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': () => ({ content: [{ type: 'text', text: request.args[0] }] }),
  }
  for await (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id !== undefined) send({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} })
  }
}

/** What an environment has at one time; `version` tells its definitions from those before and after. */
interface Place {
  readonly own: readonly string[]
  /** folder below /roots → servers */
  readonly found: Readonly<Record<string, readonly string[]>>
  readonly selected: readonly string[] | null
}
const place: fc.Arbitrary<Place> = fc.record({
  own: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
  found: fc.dictionary(fc.constantFrom('p', 'q'), fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 })),
  selected: fc.option(fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 })),
})
type Step =
  | { readonly do: 'set'; readonly id: string; readonly place: Place }
  | { readonly do: 'drop'; readonly id: string }
  | { readonly do: 'open'; readonly ids: readonly string[]; readonly pick: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('set' as const), id: fc.constantFrom(...IDS), place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), id: fc.constantFrom(...IDS) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('open' as const), ids: fc.shuffledSubarray(IDS, { minLength: 1 }), pick: fc.nat(1000) }),
  },
)

/** A machine with these packages on its disk, and servers that are functions. */
function machine({ found, selected }: Place, version: number): ExecutorDefinition {
  const files = new Map<string, string>()
  const write = (folder: string, names: readonly string[]): void =>
    void files.set(
      `${folder}/.mcp.json`,
      JSON.stringify({
        mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'labelled', args: [`${version}${folder}`] }])),
      }),
    )
  for (const [name, names] of Object.entries(found)) write(`/roots/${name}`, names)
  if (selected !== null) write(SELECTED, selected)
  const below = (folder: string): string[] => [...files.keys()].filter((file) => file.startsWith(`${folder}/`))
  const there = (path: string): Promise<void> =>
    files.has(path) || below(path).length > 0 ? Promise.resolve() : Promise.reject(fileFailed(path, 'it is not there'))
  return {
    kind: 'box',
    connect: async (context): Promise<Executor> => ({
      ...(await memoryExecutor({ labelled }).connect(context)),
      readFile: (path) => there(path).then(() => Buffer.from(files.get(path) ?? '')),
      realPath: (path) => there(path).then(() => path),
      listDirectory: (path) =>
        there(path).then(() =>
          [...new Set(below(path).map((file) => file.slice(path.length + 1).split('/')[0] as string))].map((name) => ({
            name,
            kind: files.has(`${path}/${name}`) ? ('file' as const) : ('directory' as const),
          })),
        ),
    }),
  }
}
const definition = (one: Place, version: number): RuntimeEnvironment => ({
  executor: machine(one, version),
  cwd: '/',
  pluginRoots: ['/roots/*'],
  mcpServers: Object.fromEntries(one.own.map((name) => [name, { command: 'labelled', args: [`${version}own`] }])),
})
const textOf = (key: Pick<ServerKey, 'name' | 'environmentId' | 'installationId'>): string =>
  JSON.stringify([key.name, key.environmentId, key.installationId])

/** Every key of a place and the label of what it stands for: the host's own before a package, of packages the first folder. */
function keysOf(id: string, { own, found, selected }: Place, version: number): Map<string, string> {
  const keys = new Map<string, string>()
  const claim = (name: string, installationId: string | null, label: string): void => {
    const text = textOf({ name, environmentId: id, installationId })
    if (!keys.has(text)) keys.set(text, `${version}${label}`)
  }
  for (const name of own) claim(name, null, 'own')
  for (const folder of Object.keys(found).sort()) for (const name of found[folder]!) claim(name, null, `/roots/${folder}`)
  for (const name of selected ?? []) claim(name, 'second', SELECTED)
  return keys
}

const label = async (session: Session, request: object): Promise<unknown> => {
  const outcome: any = await session.callTool({ tool: 'who', arguments: {}, ...request } as never)
  return outcome.outcome === 'completed' ? outcome.result.content[0].text : outcome.code
}

/** A session that is kept open, and what it must have to its end. */
interface Held {
  readonly session: Session
  readonly owners: readonly string[]
  readonly ids: readonly string[]
  readonly labels: ReadonlyMap<string, string>
}

/** Of each bare name the key from the strongest source, of equals the first: thread-wide ones come first, then environments as they were selected. */
function winners(labels: ReadonlyMap<string, string>): string[] {
  const strength = (said: string): number => (said.includes('/roots/') ? 0 : said.includes(SELECTED) ? 1 : 2)
  const best = new Map<string, [text: string, said: string]>()
  for (const [text, said] of labels) {
    const [name] = JSON.parse(text) as [string]
    const known = best.get(name)
    if (known === undefined || strength(said) > strength(known[1])) best.set(name, [text, said])
  }
  return [...best.values()].map(([text]) => text)
}

async function check({ session, labels }: Held, names: Map<string, string>, isOn: boolean, pick: number): Promise<void> {
  const owners = session.servers.map(({ owner }) => owner)
  // every key with the flag, one of each bare name without
  expect(owners.map(textOf).sort()).toEqual((isOn ? [...labels.keys()] : winners(labels)).sort())

  const { tools, errors } = await session.listTools()
  expect(errors).toEqual([])
  for (const { name, owner, tool } of tools) {
    const exactly = `${textOf(owner)} ${tool}`
    // without the flag a name says nothing of environments: it stands for whichever server of the bare name the session sees
    const meant = isOn ? exactly : `${owner.name} ${tool}`
    expect([names.get(`name ${name}`) ?? meant, names.get(`tool ${exactly}`) ?? name]).toEqual([meant, name])
    names.set(`name ${name}`, meant).set(`tool ${exactly}`, name)
  }
  expect(tools).toHaveLength(owners.length * TOOLS.length)

  const owner = owners[pick % Math.max(1, owners.length)]
  if (owner === undefined) return
  const wanted = labels.get(textOf(owner))
  const { name, environmentId, installationId } = owner
  const shown = tools.find((one) => one.owner === owner && one.tool === 'who')!
  const exact = isOn ? { server: name, environmentId, installationId } : { server: name }
  expect(await Promise.all([{ owner }, exact, { name: shown.name, tool: undefined }].map((request) => label(session, request)))).toEqual(
    Array(3).fill(wanted),
  )
  const same = owners.filter((other) => other.name === name)
  expect(await label(session, { server: name })).toBe(same.length === 1 ? wanted : 'AMBIGUOUS_SERVER')
  expect(await label(session, { server: 'nobody' })).toBe('UNKNOWN_SERVER')
}

test.each([true, false])('servers and plugin packages come and go (flag: %s)', { timeout: 60_000 }, async (isOn) => {
  // under one flag value, whatever else happens
  const names = new Map<string, string>()
  const wideNames = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(wideNames, fc.array(step, { minLength: 5, maxLength: 10 }), async (wide, steps) => {
      const nothing: Place = { own: [], found: {}, selected: null }
      await using runtime = await openRuntime({
        features: { multi_environment_mcp: isOn },
        store: memoryStore(),
        environments: Object.fromEntries(['host', ...IDS].map((id) => [id, definition(nothing, 0)])),
        plugins: IDS.map((environment) => ({ path: SELECTED, environment, installation: 'second' })),
        mcpServers: Object.fromEntries(wide.map((name) => [name, { command: 'labelled', args: ['wide'], environment: 'host' }])),
      })
      const present = new Map(IDS.map((id) => [id, { place: nothing, version: 0 }]))
      const handles = new Map<string, AsyncDisposable>()
      let held: Held[] = []
      let version = 0
      for (const one of steps) {
        if (one.do === 'set') {
          version++
          const how = present.has(one.id) ? 'replace' : 'add'
          handles.set(one.id, runtime.environments[how](one.id, definition(one.place, version)))
          present.set(one.id, { place: one.place, version })
        } else if (one.do === 'drop') {
          const handle = handles.get(one.id)
          if (handle === undefined) continue
          await handle[Symbol.asyncDispose]()
          handles.delete(one.id)
          present.delete(one.id)
          // their servers there have ended
          held = held.filter(({ ids }) => !ids.includes(one.id))
        } else {
          const ids = one.ids.filter((id) => present.has(id))
          const session = await runtime.openSession({ environments: ids, approver: async () => ({ action: 'accept' }) })
          const labels = new Map(wide.map((name) => [textOf({ name, environmentId: null, installationId: null }), 'wide']))
          for (const id of ids) {
            const { place: at, version: of } = present.get(id)!
            for (const [text, said] of keysOf(id, at, of)) labels.set(text, said)
          }
          const opened: Held = { session, ids, labels, owners: session.servers.map(({ owner }) => textOf(owner)) }
          await check(opened, names, isOn, one.pick)
          held.push(opened)
        }
        // what happened since changes nothing about those that are open
        for (const { session, owners } of held) expect(session.servers.map(({ owner }) => textOf(owner))).toEqual(owners)
      }
      // also where an environment has been replaced, and its packages with it
      for (const [index, one] of held.entries()) await check(one, names, isOn, index)
    }),
    { numRuns: 30 },
  )
})
