/** Which calls a list of a built-in plugin means: by key and raw tool name, never by the visible name. */
import type { CallView } from '../../hooks/call-view.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import { matchesGlob } from '../../hooks/tap-filter.ts'
import type { Method } from '../../mcp.ts'
import { OptionReader } from './option-reader.ts'

/** Calls that agree in everything that is given. `*` and `?` are wildcards in tools, servers and environments. */
export interface CallRule {
  /** names as the server gives them; a rule with tools means tool calls only */
  readonly tools?: readonly string[]
  /** bare names */
  readonly servers?: readonly string[]
  /** ids; null = thread-wide servers */
  readonly environments?: readonly (string | null)[]
  /** default: tool calls where `tools` is given, else every method. Beside `tools` it must have `tools/call` */
  readonly methods?: readonly Method[]
}

/** True for a call that one of the rules means. */
export type CallTest = (call: CallView) => boolean

const KEYS = ['tools', 'servers', 'environments', 'methods'] as const satisfies readonly (keyof CallRule)[]

/** Reads a list of rules; a text is the name of a tool on any server. Null where the option is not given. A rule that means none of the methods `within` is a mistake. */
export function readCallRules(options: OptionReader, key: string, within: readonly Method[] = ALL_METHODS): CallTest | null {
  const items = options.list(key)
  if (items === null) return null
  const tests = items.map((item, index) => readRule(options, item, [key, index], within))
  return (call) => tests.some((test) => test(call))
}

function readRule(options: OptionReader, item: unknown, place: readonly [string, number], within: readonly Method[]): CallTest {
  const look = (methods: readonly Method[]): void => {
    if (!methods.some((method) => within.includes(method))) options.fail(place, `means ${methods.join(', ')}, which methods leaves out`)
  }
  if (typeof item === 'string') {
    if (item === '') options.fail(place, 'must be the name of a tool, or an object')
    look(['tools/call'])
    return testOf([item], null, null, ['tools/call'])
  }
  const rule = new OptionReader(item, KEYS, options.at(...place), options.issues)
  if (typeof item === 'object' && item !== null && !KEYS.some((name) => rule.has(name)))
    rule.fail('', `must name something: ${KEYS.join(', ')}`)
  const tools = rule.texts('tools')
  const methods = readMethods(rule, 'methods') ?? (tools === null ? null : (['tools/call'] as const))
  if (tools !== null && methods?.includes('tools/call') === false) rule.fail('methods', 'must have tools/call beside tools')
  else if (methods !== null) look(methods)
  return testOf(tools, rule.texts('servers'), readEnvironments(rule), methods)
}

function readEnvironments(rule: OptionReader): readonly (string | null)[] | null {
  const items = rule.list('environments')
  if (items === null) return null
  if (items.length === 0) rule.fail('environments', 'must not be empty')
  for (const [index, item] of items.entries())
    if (item !== null && (typeof item !== 'string' || item === '')) rule.fail(['environments', index], 'must be an id, or null')
  return items as readonly (string | null)[]
}

/** Reads a list of MCP methods; null where the option is not given. */
export function readMethods(options: OptionReader, key: string): readonly Method[] | null {
  const methods = options.texts(key)
  for (const [index, method] of (methods ?? []).entries())
    if (!ALL_METHODS.includes(method as Method)) options.fail([key, index], `must be one of ${ALL_METHODS.join(', ')}`)
  return methods as readonly Method[] | null
}

function testOf(
  tools: readonly string[] | null,
  servers: readonly string[] | null,
  environments: readonly (string | null)[] | null,
  methods: readonly Method[] | null,
): CallTest {
  return (call) =>
    (methods === null || methods.includes(call.method)) &&
    (tools === null || (call.method === 'tools/call' && fits(tools, call.tool))) &&
    (servers === null || fits(servers, call.owner.name)) &&
    (environments === null || fits(environments, call.owner.environmentId))
}

const fits = (patterns: readonly (string | null)[], text: string | null): boolean =>
  patterns.some((pattern) => (pattern === null || text === null ? pattern === text : matchesGlob(pattern, text)))
