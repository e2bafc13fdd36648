/** How cost grows: 1,000 servers with 10,000 tools against 100 with 1,000. What is near-linear costs about the same for each item. */
import { CatalogBuilder } from '../src/servers/catalog-builder.ts'
import { KeyRegistry } from '../src/servers/key.ts'
import { NameTable } from '../src/servers/name-table.ts'
import { selectServer } from '../src/servers/selector.ts'
import { StableNaming } from '../src/servers/stable-naming.ts'
import type { LiveSession } from '../src/runtime/live-session.ts'
import { instantSession, registrations, type Servers, servers } from './instant-session.ts'
import { best, measure, times, type Variant, type Work } from './measure.ts'
import { report, row, tell } from './report.ts'

const SMALL = 100
const LARGE = 1000
const TOOLS = 10
/** sorting alone is 1.3, and what does not fit into the caches any more is slower */
const MOST = 2

interface Size {
  readonly count: number
  readonly all: Servers
  readonly raw: readonly string[]
  readonly naming: StableNaming
  readonly table: NameTable
  readonly visible: readonly string[]
}

function size(count: number): Size {
  const all = servers(count, TOOLS)
  const naming = new StableNaming({ maxLength: 64, scoped: false })
  const raw = [...all.listing.tools.keys()]
  const table = new NameTable(
    naming,
    all.catalog.entries.map(({ key }) => [key, raw]),
  )
  return { count, all, raw, naming, table, visible: [...table.names()] }
}

/** Work over a whole set-up of this size; gives how many items that were. */
type OfSize = (of: Size) => number | Promise<number>

const view = ({ all }: Size): ReturnType<Servers['catalog']['view']> => all.catalog.view('unscoped', ['local'])

const works: Readonly<Record<string, OfSize>> = {
  'catalog, per server': ({ count }) => {
    const builder = new CatalogBuilder()
    for (const registration of registrations(count)) builder.add(registration)
    return builder.build(new KeyRegistry(), 1).entries.length
  },
  'view, per server': (of) => view(of).servers.length,
  'names, per tool': ({ all, raw }) => {
    const naming = new StableNaming({ maxLength: 64, scoped: true })
    const table = new NameTable(
      naming,
      all.catalog.entries.map(({ key }) => [key, raw]),
    )
    return [...table.names()].length
  },
  'look-up of a name': ({ table, visible }) => {
    for (const name of visible) if (table.find(name) === undefined) throw new Error(name)
    return visible.length
  },
  'selection of a server': (of) => {
    const seen = view(of)
    for (const { key } of seen.servers) if (selectServer(seen, { server: key.name }).entry === undefined) throw new Error(key.name)
    return of.count
  },
  'first list of a session, per tool': async ({ all, visible }) => {
    const { tools } = await instantSession(all).listTools()
    if (tools.length !== visible.length) throw new Error(`${tools.length} tools`)
    return tools.length
  },
  'status of all, per server': async ({ all, count }) => {
    const { data } = await instantSession(all).status({ detail: 'tools_and_auth' })
    if (data.length !== count) throw new Error(`${data.length} rows`)
    return count
  },
}

const sizes = [size(SMALL), size(LARGE)] as const
/** The small size runs ten times as often, so that a round takes about the same. */
const repeated = (work: OfSize, of: Size) => async (): Promise<Work> => {
  let operations = 0
  for (let i = 0; i < times(LARGE, SMALL) / of.count; i++) operations += await work(of)
  return { operations: Math.max(1, operations) }
}

for (const [name, work] of Object.entries(works)) {
  tell(`growth: ${name}`)
  const [small, large] = sizes
  const measured = await measure(
    [
      { name: 'small', run: repeated(work, small) },
      { name: 'large', run: async () => ({ operations: await work(large) }) },
    ],
    { rounds: times(15, 2), warmUp: times(3, 1) },
  )
  const from = measured.get('small')!.wall
  const to = measured.get('large')!.wall
  row({ work: name, variant: `${SMALL} servers`, unit: 'µs', rounds: from, floor: from })
  row({
    work: name,
    variant: `${LARGE} servers`,
    unit: 'µs',
    rounds: to,
    floor: from,
    must: { text: `<= ${MOST} of small`, met: best(to) <= MOST * best(from) },
  })
}

tell('growth: a page of 5, and a call')
const CALLS = times(10_000, 500)
const calling =
  (session: LiveSession, name: string): Variant['run'] =>
  async () => {
    for (let i = 0; i < CALLS; i++) {
      const outcome = await session.callTool({ name, arguments: { text: 'hello' } })
      if (outcome.outcome !== 'completed') throw new Error(outcome.message)
    }
    return { operations: CALLS }
  }
const paging =
  ({ all }: Size): Variant['run'] =>
  async () => {
    const session = instantSession(all)
    for (let i = 0; i < times(20, 2); i++) if ((await session.status({ limit: 5 })).data.length !== 5) throw new Error('no page')
    return { operations: times(20, 2) }
  }
async function listed(of: Servers): Promise<LiveSession> {
  const session = instantSession(of)
  await session.listTools()
  return session
}
const few = await listed(servers(1, 1))
const many = await listed(sizes[1].all)
const wide = await listed(servers(1, LARGE * TOOLS))
const rest = await measure(
  [
    { name: 'page/small', run: paging(sizes[0]) },
    { name: 'page/large', run: paging(sizes[1]) },
    { name: 'call/1 tool', run: calling(few, 'mcp__server_0__tool_0') },
    { name: 'call/10,000 tools of 1,000 servers', run: calling(many, 'mcp__server_500__tool_5') },
    { name: 'call/10,000 tools of one server', run: calling(wide, 'mcp__server_0__tool_5000') },
  ],
  { rounds: times(15, 2), warmUp: times(3, 1) },
)
const pageFloor = rest.get('page/small')!.wall
const callFloor = rest.get('call/1 tool')!.wall
for (const [name, { wall }] of rest) {
  const [what, variant] = name.split('/') as [string, string]
  if (what === 'page')
    row({ work: 'status page of 5', variant: `${variant === 'small' ? SMALL : LARGE} servers`, unit: 'µs', rounds: wall, floor: pageFloor })
  else
    row({
      work: 'call, no I/O',
      variant,
      unit: 'µs',
      rounds: wall,
      floor: callFloor,
      ...(wall !== callFloor && { must: { text: '<= 1.3 of 1 tool', met: best(wall) <= 1.3 * best(callFloor) } }),
    })
}
report()
