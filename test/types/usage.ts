// What must compile: no false alarms. Run by the type check, never by a test.
import { InMemoryProvider } from '@openfeature/server-sdk'
import type { Client, EvaluationContext, Provider } from '@openfeature/server-sdk'
import { z } from 'zod'
import { defineFlag, isContent, openRuntime, unwrap } from '../../src/index.ts'
import type { FlagOptions, HookEntry, Runtime, RuntimeOptions, Session } from '../../src/index.ts'
import {
  ALL_METHODS,
  allow,
  ask,
  definePlugin,
  deny,
  STAGE_DEFAULT,
  STAGE_FIRST,
  STAGE_GUARD,
  STAGE_LAST,
  STAGE_LATE,
} from '../../src/plugin.ts'
import type {
  ApproveTap,
  AttachMetadataTap,
  CallView,
  DispatchTap,
  HookPlugin,
  HookPorts,
  JsonObject,
  Method,
  MetadataPatch,
  ResolveTap,
  ServerKey,
  ToolCall,
  Verdict,
} from '../../src/plugin.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import type { ScriptedServerSpec, TestRuntime } from '../../src/testing/index.ts'

declare const count: () => void
declare const note: (...texts: string[]) => void
declare const look: (path: unknown) => Promise<boolean>
declare const some: boolean

const caution = defineFlag({ name: 'caution', variants: ['low', 'high'], default: 'low', description: 'how often to ask' })

export const resolving: HookPlugin = {
  name: 'resolving',
  apply({ hooks }) {
    hooks.resolve.tap('nothing', () => {})
    hooks.resolve.tap('undefined', () => undefined)
    hooks.resolve.tap('rewrite', (call) => ({ arguments: { ...call.arguments, path: '/tmp' } }))
    // an argument of the tool itself may have any name
    hooks.resolve.tap('own', (call) => ({ arguments: { ...call.arguments, environment_id: 'its own', server: 'its own' } }))
    hooks.resolve.tap('deny', (call) => (call.tool === 'drop' ? deny('no') : undefined))
    hooks.resolve.tap('either', (call) => {
      if (call.tool === 'drop') return deny('no')
      if (call.tool === 'read') return { arguments: {} }
      return
    })
    hooks.resolve.tapPromise('later', async (call) => {
      if (await look(call.arguments['path'])) return { arguments: { n: 1, list: [null, true, 'x'] } }
      if (some) return deny('no')
      return undefined
    })
    hooks.resolve.tapPromise('later, nothing', async () => {})
    hooks.resolve.tapPromise('chained', (call) => look(call.tool).then(() => ({ arguments: call.arguments })))
    hooks.resolve.tap({ name: 'all', methods: ALL_METHODS, before: ['own', 'deny'] }, (call) =>
      call.method === 'tools/call' ? { arguments: {} } : undefined,
    )
    const rewritten: JsonObject = { a: 1 }
    hooks.resolve.tap('declared', () => ({ arguments: rewritten }))
  },
}

export const approving: HookPlugin = {
  name: 'approving',
  apply({ hooks, session }: HookPorts) {
    hooks.approve.tap('nothing', () => {})
    hooks.approve.tap({ name: 'deny', stage: STAGE_GUARD }, (call) =>
      call.tool === 'drop' ? deny(`${call.tool} is off on ${call.owner}`) : undefined,
    )
    hooks.approve.tap({ name: 'vote', stage: STAGE_FIRST, timeoutMs: 100, onFailure: 'continue' }, (call): Verdict => {
      if (call.authority.permissions === 'full-access') return ask('no sandbox here')
      if (typeof call.authority.permissions === 'object' && call.authority.permissions?.type === 'opaque') return ask()
      return call.annotations.readOnlyHint ? allow('only reads') : deny('no')
    })
    hooks.approve.tap('flag', (_call, { flags }) => (flags.get(caution) === 'high' ? ask() : undefined))
    hooks.approve.tap('question', (call) => (call.question?.mode === 'writes' ? allow() : undefined))
    hooks.approve.tapPromise({ name: 'later', stage: STAGE_LATE }, async (call, { signal, log }) => {
      signal.throwIfAborted()
      log(`${call.id} in ${session.id}`)
      return (await look(call.arguments['path'])) ? allow() : undefined
    })
    hooks.approve.tapPromise({ name: 'nothing later', stage: STAGE_LAST }, async () => {})
    hooks.approve.tap({ name: 'filtered', environments: ['prod', null], servers: ['db*'], tools: ['drop', 'truncate_?'] }, () => deny('no'))
    hooks.approve.tap({ name: 'narrowed', methods: ['tools/call', 'resources/read', 'prompts/get'] }, (call) => {
      switch (call.method) {
        case 'tools/call':
          return call.tool === 'x' && call.title !== '' ? deny('no') : undefined
        case 'resources/read':
          return call.uri.endsWith('.env') ? deny('not this file') : undefined
        case 'prompts/get':
          return call.prompt === 'x' ? deny('no') : undefined
      }
    })
  },
}

export const metadata: HookPlugin = {
  name: 'metadata',
  apply({ hooks }) {
    hooks.attachMetadata.tap('one', () => ({ 'example.com/ticket': 'T-1' }))
    hooks.attachMetadata.tap('close', () => ({ 'com.mcptools/a': 1, 'example.com/mcp': 1, 'codex.example/a': 1 }))
    hooks.attachMetadata.tap('some', () => ({ 'example.com/a': 1, 'example.com/b': { c: [true, null] }, 'example.com/d': null }))
    hooks.attachMetadata.tap('computed', (call) => ({ 'example.com/a': 1, [`example.com/${call.sessionId}`]: null }))
    hooks.attachMetadata.tap('perhaps', (call) => (call.tool === 'x' ? { 'example.com/a': call.arguments } : undefined))
    hooks.attachMetadata.tap('other', (call) => (call.tool === 'x' ? { 'example.com/a': 1 } : { 'example.com/b': [1, 2] }))
    hooks.attachMetadata.tap('statements', (call) => {
      if (call.tool === 'x') return { 'example.com/a': 1 }
      return undefined
    })
    hooks.attachMetadata.tap({ name: 'all', methods: ALL_METHODS, stage: STAGE_DEFAULT }, (call) => ({ 'example.com/method': call.method }))
    hooks.attachMetadata.tapPromise('later', async (call) => {
      const found = await look(call.tool)
      if (!found) return undefined
      return { 'example.com/found': found }
    })
    hooks.attachMetadata.tapPromise('typed', async (): Promise<MetadataPatch> => ({ 'example.com/a': 1 }))
    hooks.attachMetadata.tap('trace', () => ({ traceparent: '00-a-b-01', 'example.com/a': 1 }))
    hooks.attachMetadata.tapPromise('typed-trace', async (): Promise<MetadataPatch> => ({ tracestate: 'a=1', baggage: 'b=2' }))
    hooks.attachMetadata.tap('nothing', () => {})
  },
}

export const dispatching: HookPlugin = {
  name: 'dispatching',
  apply({ hooks }) {
    const cache = new Map<string, { readonly content: [] }>()
    hooks.dispatch.tapPromise('through', (_call, next) => next())
    hooks.dispatch.tapPromise('retry', async (_call, next, { signal }) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await next()
        } catch (error) {
          if (attempt > 2 || signal.aborted) throw error
        }
      }
    })
    hooks.dispatch.tapPromise('cached', async (call, next) => cache.get(call.authority.definitionDigest) ?? next())
    hooks.dispatch.tapPromise('changed', async (_call, next) => {
      const result = await next()
      const texts = result.content.filter((block) => isContent(block, 'text')).map(({ text }) => text.length)
      return { ...result, structuredContent: { texts }, isError: false }
    })
    hooks.dispatch.tapPromise({ name: 'resources', methods: ['resources/read'] }, async (call, next) => ({
      contents: [...(await next()).contents, { uri: call.uri, text: '' }],
    }))
    hooks.dispatch.tapPromise({ name: 'all', methods: ALL_METHODS }, async (_call, next) => next())
    return { [Symbol.dispose]: () => cache.clear() }
  },
}

export const observing: HookPlugin = {
  name: 'observing',
  apply({ hooks }) {
    hooks.settled.tap('short', () => count())
    hooks.settled.tap({ name: 'filtered', environments: [null], servers: ['*'] }, ({ owner, call, request, outcome, trace }) => {
      const tool = call?.method === 'tools/call' ? call.tool : request.method
      if (outcome.outcome === 'completed') count()
      else note(`${tool} on ${owner ?? 'nobody'}: ${outcome.message} ${outcome.remedy} after ${outcome.durationMs} ms`)
      for (const { decision, plugin } of trace.taps) if (decision === 'deny') note(plugin)
    })
    hooks.settled.tapPromise('later', async ({ outcome }) => {
      if (outcome.sent !== 'no') await look(outcome.callId)
    })
    return { [Symbol.asyncDispose]: () => Promise.resolve() }
  },
}

/** Every method as the only filter of every port, with the view that belongs to it. */
export const everyMethod: HookPlugin = {
  name: 'every-method',
  apply({ hooks }) {
    hooks.approve.tap({ name: 'a', methods: ['tools/call'] }, (call) => deny(call.tool))
    hooks.approve.tap({ name: 'b', methods: ['resources/list'] }, (call) => deny(call.method satisfies 'resources/list'))
    hooks.approve.tap({ name: 'c', methods: ['resources/templates/list'] }, (call) =>
      deny(call.method satisfies 'resources/templates/list'),
    )
    hooks.approve.tap({ name: 'd', methods: ['resources/read'] }, (call) => deny(call.uri))
    hooks.approve.tap({ name: 'e', methods: ['prompts/list'] }, (call) => deny(call.method satisfies 'prompts/list'))
    hooks.approve.tap({ name: 'f', methods: ['prompts/get'] }, (call) => deny(call.prompt))
    hooks.approve.tap({ name: 'g', methods: ['completion/complete'] }, (call) => deny(call.method satisfies 'completion/complete'))
    hooks.resolve.tap({ name: 'a', methods: ['resources/read'] }, (call) => (call.uri === '' ? deny('no') : { arguments: call.arguments }))
    hooks.resolve.tapPromise({ name: 'b', methods: ['prompts/get'] }, async (call) => (call.prompt === '' ? deny('no') : undefined))
    hooks.attachMetadata.tap({ name: 'a', methods: ['resources/read'] }, (call) => ({ 'example.com/uri': call.uri }))
    hooks.attachMetadata.tapPromise({ name: 'b', methods: ['prompts/list'] }, async () => ({ 'example.com/a': 1 }))
    hooks.dispatch.tapPromise({ name: 'a', methods: ['resources/list'] }, async (_call, next) => ({ ...(await next()), seen: true }))
    hooks.dispatch.tapPromise({ name: 'b', methods: ['prompts/get'] }, async (_call, next) => ({ messages: (await next()).messages }))
    hooks.dispatch.tapPromise({ name: 'c', methods: ['completion/complete'] }, async () => ({ completion: { values: [] } }))
  },
}

// Functions that are declared apart from their tap.
const resolveTap: ResolveTap = async (call) => (call.tool === 'x' ? deny('no') : { arguments: call.arguments })
const approveTap: ApproveTap = async () => allow()
const metadataTap: AttachMetadataTap = async () => ({ 'example.com/a': 1 })
const dispatchTap: DispatchTap = async (_call, next) => next()
const guard = (call: CallView): Verdict | undefined => (call.method === 'resources/read' && call.uri === 'x' ? deny('no') : undefined)
export const apart: HookPlugin = {
  name: 'apart',
  apply({ hooks }) {
    hooks.resolve.tapPromise('a', resolveTap)
    hooks.approve.tapPromise('a', approveTap)
    hooks.attachMetadata.tapPromise('a', metadataTap)
    hooks.dispatch.tapPromise('a', dispatchTap)
    hooks.approve.tap({ name: 'b', methods: ALL_METHODS }, guard)
    const methods: readonly Method[] = ALL_METHODS
    hooks.approve.tap({ name: 'c', methods }, guard)
  },
}

export class CountingPlugin implements HookPlugin {
  readonly name = 'counting'
  readonly #seen = new Map<string, ServerKey>()
  apply({ hooks }: HookPorts): Disposable {
    hooks.approve.tap('counting', (call) => void this.#seen.set(call.id, call.owner))
    hooks.settled.tap('counting', ({ call, owner }) => {
      if (call !== null && owner?.equals(this.#seen.get(call.id)) === true) count()
    })
    return { [Symbol.dispose]: () => this.#seen.clear() }
  }
}

const plain = definePlugin({
  name: 'plain',
  apply({ hooks }) {
    hooks.approve.tap('plain', () => undefined)
  },
})
const limited = definePlugin({
  name: 'limited',
  options: z.object({ max: z.number(), words: z.array(z.string()).default([]) }),
  apply({ hooks, session }, { max, words }) {
    const all: readonly string[] = words
    hooks.approve.tap('limited', (call) =>
      Object.keys(call.arguments).length > max ? deny(`${all.join()} ${session.environmentIds.length}`) : undefined,
    )
    return { [Symbol.dispose]: count }
  },
})

export const entries: readonly HookEntry[] = [
  resolving,
  new CountingPlugin(),
  plain(),
  limited({ max: 3 }),
  { plugin: limited({ max: 1, words: ['a'] }), environments: ['prod', null], servers: ['db'], tools: ['drop*'] },
  { plugin: plain(), mode: 'shadow' },
  { plugin: plain(), mode: { flag: 'plain_mode', default: 'enforce' } },
  { plugin: plain(), mode: defineFlag({ name: 'm', variants: ['off', 'shadow', 'enforce'], default: 'off', description: '' }) },
]

export async function host(options: RuntimeOptions): Promise<JsonObject | undefined> {
  await using runtime: Runtime = await openRuntime({
    ...options,
    hooks: entries,
    flags: { define: [caution], override: { caution: 'high' } },
    trace: {
      file: 'traces.jsonl',
      sink: (record) => (record.type === 'call' ? note(record.outcome, record.trace.taps[0]?.plugin ?? '') : undefined),
    },
  })
  const { lowered, waiting } = runtime.setPluginMode('plain', 'off')
  note(lowered.join(), waiting.join())
  runtime.setPluginMode('plain', null)
  await using session: Session = await runtime.openSession({
    approver: async (question) =>
      question.canRemember.includes('session') ? { action: 'accept', remember: 'session' } : { action: 'cancel' },
  })
  const { tools } = await session.listTools({ waitMs: 0 })
  for (const { owner, tool } of tools) await session.callTool({ owner, tool, arguments: {} })
  await session.callTool({ name: 'mcp__files__read', arguments: '{"from":"a model"}' })
  const outcome = await session.callTool({ server: 'files', environmentId: null, tool: 'read' }, { trace: true })
  if (outcome.outcome === 'refused') note(outcome.by, outcome.reason)
  return unwrap(outcome).structuredContent
}

export async function inTest(): Promise<TestRuntime> {
  const db = scriptedServer({
    tools: {
      read: {},
      drop: { annotations: { destructiveHint: true }, run: async (args, { signal }) => `${Object.keys(args).length} ${signal.aborted}` },
    },
  })
  db.replaceTools({})
  const notes: ScriptedServerSpec = { resources: { 'note://1': 'milk' } }
  return openTestRuntime({
    environments: {
      staging: { db },
      prod: { servers: { db, notes }, permissions: 'read-only', policies: { db: { disabledTools: ['drop'] } } },
    },
    threadWide: { notes },
    policies: { db: { defaultToolsApprovalMode: 'writes', tools: { read: { approvalMode: 'auto' } } } },
    session: { approver: null },
    hooks: entries,
  })
}
export type StillATool = ToolCall

// flags: what OpenFeature gives fits without a cast
declare const vendor: Provider
declare const client: Client
declare const attributes: EvaluationContext
export const flagOptions: readonly FlagOptions[] = [
  { provider: new InMemoryProvider({}) },
  { provider: vendor, evaluationContext: attributes },
  { provider: client, override: { caution: 'high' } },
  { flagd: 'flags.json', evaluationContext: { targetingKey: 'ada', plan: 'pro', seats: 5, tags: ['a'] } },
]
export const forUser = (runtime: Runtime): Promise<Session> => runtime.openSession({ evaluationContext: { ...attributes, team: 'core' } })
