/** The servers of a check: odd names, every kind of answer, and whatever the filters of the plugin want to see. */
import type { ToolAnnotations, ToolResult } from '../../mcp.ts'
import { ENVIRONMENT_ID, SERVER_NAME } from '../../servers/definition.ts'
import { scriptedServer } from '../scripted-server.ts'
import type { ScriptedServer, ScriptedTool, TestEnvironment, TestRuntimeOptions, TestServers } from '../types.ts'
import type { TapFacts } from './watched-tap.ts'

/** Names that a filter of the plugin asks for, and those that are always there. */
export interface ArenaNames {
  /** null: thread-wide */
  readonly environments: readonly (string | null)[]
  readonly servers: readonly string[]
  readonly tools: readonly string[]
}

const ENVIRONMENTS = ['alpha', 'beta', '__proto__']
/** Raw names that are hard to print, to compare or to look up. */
export const ODD_TOOLS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'a b',
  ' lead',
  'a/b',
  '..',
  '*',
  'mcp__notes__read',
  'environment_id',
  'ツール',
  '💥',
  'ſ',
  'x'.repeat(128),
]
/** Raw names of the tools with every kind of answer. */
export const ANSWERS: readonly string[] = ['error', 'structured', 'large', 'nothing', 'picture', 'embedded', 'meta', 'many']

/** A reserved key that the servers themselves put into results, so that a plugin may hand it on. */
export const SERVERS_KEY = 'codex/from-the-server'

/** What a filter with wildcards lets through. */
const example = (pattern: string): string => pattern.replaceAll('*', 'x').replaceAll('?', 'q')
const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)]

/** The names that a check needs for these taps. */
export function arenaNames(taps: readonly TapFacts[]): ArenaNames {
  const environments = taps.flatMap((tap) => tap.environments).filter((id) => id === null || ENVIRONMENT_ID.test(id))
  return {
    environments: distinct([...ENVIRONMENTS, null, ...environments.filter((id) => id !== 'thread-wide')]).slice(0, 12),
    servers: distinct(['notes', ...taps.flatMap((tap) => tap.servers).map(example)])
      .filter((name) => SERVER_NAME.test(name))
      .slice(0, 8),
    tools: distinct(['read', 'write', 'plain', ...taps.flatMap((tap) => tap.tools).map(example)])
      .filter((name) => name !== '')
      .slice(0, 20),
  }
}

/** Options of a test runtime with these servers. */
export function arenaOptions(names: ArenaNames): Pick<TestRuntimeOptions, 'environments' | 'threadWide'> {
  const shared = Object.fromEntries(names.servers.map((name) => [name, subject(names.tools)]))
  const environments = names.environments
    .filter((id) => id !== null)
    .map((id): [string, TestEnvironment] => {
      const servers: TestServers = id === 'alpha' ? { ...shared, ...single() } : shared
      const asked = { asked: { defaultToolsApprovalMode: 'prompt' as const } }
      return [id, { servers, permissions: id === 'beta' ? 'read-only' : 'workspace-write', ...(id === 'alpha' && { policies: asked }) }]
    })
  return { environments: Object.fromEntries(environments), threadWide: shared }
}

/** Servers that are in one environment only. */
function single(): TestServers {
  return {
    constructor: scriptedServer({ tools: Object.fromEntries(ODD_TOOLS.map((name) => [name, {}])) }),
    'odd:@na.me/-': scriptedServer({ tools: { plain: {} } }),
    answers: scriptedServer({ tools: answers() }),
    asked: subject(['read', 'write']),
    failing: failing(),
  }
}

function subject(tools: readonly string[]): ScriptedServer {
  const annotations: Readonly<Record<string, ToolAnnotations>> = {
    read: { readOnlyHint: true, title: 'Reads' },
    write: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  }
  return scriptedServer({
    tools: Object.fromEntries(
      tools.map((name): [string, ScriptedTool] => {
        const own = Object.hasOwn(annotations, name) ? annotations[name] : undefined
        return [name, { description: `Answers its arguments`, ...(own && { annotations: own }) }]
      }),
    ),
    resources: { 'notes://one': 'the first', 'file:///etc/shadow': 'x', 'odd:\u202e💥': 'odd' },
    resourceTemplates: ['notes://{id}'],
    prompts: { greet: ({ name }) => `Hello ${name}`, constructor: () => 'odd' },
    complete: () => ['one', 'two'],
  })
}

function answers(): Readonly<Record<string, ScriptedTool>> {
  const text = (value: string): ToolResult['content'] => [{ type: 'text', text: value }]
  const all: Readonly<Record<string, ToolResult>> = {
    error: { content: text('it did not work'), isError: true },
    structured: { content: text('{"n":1}'), structuredContent: { n: 1, list: [{ a: null }] } },
    large: { content: text('x'.repeat(300_000)) },
    nothing: { content: [] },
    picture: { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
    embedded: { content: [{ type: 'resource', resource: { uri: 'notes://one', text: 'the first' } }] },
    meta: { content: text('x'), _meta: { 'example.com/trace': 'a', [SERVERS_KEY]: { x: 1 } } },
    many: { content: Array.from({ length: 500 }, (_, at) => ({ type: 'text' as const, text: String(at) })) },
  }
  return Object.fromEntries(ANSWERS.map((name) => [name, { run: () => all[name] as ToolResult }]))
}

/** Tools whose calls end badly: `next()` rejects. */
function failing(): ScriptedServer {
  const server: ScriptedServer = scriptedServer({
    tools: {
      mismatch: { outputSchema: { type: 'object', required: ['n'] }, run: () => ({ content: [], structuredContent: { m: 1 } }) },
      crash: {
        run: () => {
          server.crash()
          return 'too late'
        },
      },
      wait: {
        run: (_args, { signal }) =>
          new Promise((resolve) => {
            if (signal.aborted) resolve('aborted')
            signal.addEventListener('abort', () => resolve('aborted'), { once: true })
          }),
      },
    },
  })
  return server
}
