import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTelemetry, type OpenTelemetryOptions, retry, toolList } from '../../../src/plugins/builtin/index.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { ScriptedServer, TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import { memoryMeter, memoryTracer, StorageContextManager } from './in-memory-telemetry.ts'
import type { KeptSpan, Measurement } from './in-memory-telemetry.ts'
import { plugin, threeEnds, toolCalls } from './kit.ts'

beforeAll(() => void context.setGlobalContextManager(new StorageContextManager()))
afterAll(() => context.disable())

interface Watched {
  readonly t: TestRuntime
  readonly spans: readonly KeptSpan[]
  readonly records: readonly Measurement[]
  readonly units: Record<string, string | undefined>
  [Symbol.asyncDispose](): Promise<void>
}
async function open(options: OpenTelemetryOptions = {}, more: TestRuntimeOptions = {}): Promise<Watched> {
  const { tracer, spans } = memoryTracer()
  const { meter, records, units } = memoryMeter()
  const t = await openTestRuntime({
    environments: { e: { s: threeEnds } },
    session: { id: 'the-session' },
    ...more,
    hooks: [openTelemetry({ tracer, meter, ...options }), ...(more.hooks ?? [])],
  })
  return { t, spans, records, units, [Symbol.asyncDispose]: () => t.close() }
}
const call = (w: Watched, tool: string, args = {}): ReturnType<TestRuntime['callTool']> =>
  w.t.callTool({ server: 's', tool, arguments: args }, { callId: `call-${tool}` })
const ended = (spans: readonly KeptSpan[]): boolean => spans.every(({ isEnded }) => isEnded)

test('a span for a call, with the names of the conventions, and no arguments and results', async () => {
  await using w = await open()
  await call(w, 'run', { password: 'hunter2' })
  expect(w.spans).toEqual([
    {
      name: 'tools/call run',
      kind: SpanKind.CLIENT,
      traceId: expect.any(String) as string,
      spanId: expect.any(String) as string,
      parentId: null,
      status: null,
      isEnded: true,
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'run',
        'gen_ai.tool.call.id': 'call-run',
        'tapline.server.name': 's',
        'tapline.environment.id': 'e',
        'tapline.session.id': 'the-session',
        'tapline.outcome': 'completed',
        'tapline.sent': 'yes',
      },
    },
  ])
})

test('the trace context goes to the server, and names the span', async () => {
  await using w = await open()
  await call(w, 'run')
  const [span] = w.spans
  expect(toolCalls(w.t)[0]?.params._meta).toMatchObject({ traceparent: `00-${span?.traceId}-${span?.spanId}-01` })
  await using quiet = await open({ propagate: 'none' })
  await call(quiet, 'run')
  expect(toolCalls(quiet.t)[0]?.params._meta ?? {}).not.toHaveProperty('traceparent')
})

test('the span is a child of the one of the caller, and the parent of what is traced around the request', async () => {
  const own = memoryTracer()
  const inner = plugin('inner', ({ hooks }) =>
    hooks.dispatch.tapPromise('http', async (_, next) => {
      own.tracer.startSpan('http', {}, context.active()).end()
      return next()
    }),
  )
  await using w = await open({ tracer: own.tracer }, { hooks: [inner] })
  const outer = own.tracer.startSpan('turn')
  await context.with(trace.setSpan(context.active(), outer), () => call(w, 'run'))
  const [turn, tool, http] = own.spans
  expect(own.spans.map(({ name }) => name)).toEqual(['turn', 'tools/call run', 'http'])
  expect([tool?.parentId, http?.parentId]).toEqual([turn?.spanId, tool?.spanId])
  expect(tool?.traceId).toBe(turn?.traceId)
})

test('baggage goes along only where it is asked for', async () => {
  propagation.setGlobalPropagator({
    inject: (_, carrier, setter) => ['baggage', 'b3'].forEach((key) => setter.set(carrier, key, 'user=1')),
    extract: (one) => one,
    fields: () => ['baggage', 'b3'],
  })
  try {
    for (const propagate of ['trace', 'baggage'] as const) {
      await using w = await open({ propagate })
      await call(w, 'run')
      const meta = toolCalls(w.t)[0]?.params._meta ?? {}
      expect(
        Object.keys(meta)
          .filter((key) => key !== 'progressToken')
          .sort(),
      ).toEqual(propagate === 'trace' ? ['traceparent'] : ['baggage', 'traceparent'])
    }
  } finally {
    propagation.disable()
  }
})

test('errors: of a tool, of JSON-RPC, a refusal, a request that nobody understands', async () => {
  await using w = await open({}, { hooks: [toolList({ deny: ['drop'] })] })
  await call(w, 'fails')
  await call(w, 'drop')
  await w.t.callTool({ server: 'nobody', tool: 'x' })
  await w.t.session.readResource({ server: 's', uri: 'a:none' }).catch(() => {})
  const seen = w.spans.map(({ name, attributes, status }) => ({
    name,
    error: attributes['error.type'],
    sent: attributes['tapline.sent'],
    outcome: attributes['tapline.outcome'],
    status: status?.code,
  }))
  const status = SpanStatusCode.ERROR
  expect(seen).toEqual([
    { name: 'tools/call fails', error: 'tool_error', sent: 'yes', outcome: 'completed', status },
    { name: 'tools/call drop', error: 'CALL_REFUSED', sent: 'no', outcome: 'refused', status },
    { name: 'tools/call', error: 'UNKNOWN_SERVER', sent: 'no', outcome: 'invalid_request', status },
    { name: 'resources/read', error: '-32002', sent: 'yes', outcome: 'server_failed', status },
  ])
  expect(w.spans[0]?.status?.message).toBeUndefined()
  expect(w.spans[1]?.status?.message).toContain('refused')
  expect(w.spans[3]?.attributes).toMatchObject({ 'rpc.response.status_code': '-32002', 'mcp.resource.uri': 'a:none' })
  expect(ended(w.spans)).toBe(true)
})

test('metrics: the operation where something was sent, the call always', async () => {
  await using w = await open({}, { hooks: [toolList({ deny: ['drop'] })] })
  await call(w, 'run')
  await call(w, 'drop')
  await w.t.session.getPrompt({ server: 's', prompt: 'ask' })
  expect(w.units).toEqual({ 'mcp.client.operation.duration': 's', 'tapline.call.duration': 's' })
  const of = (name: string): unknown => w.records.filter((record) => record.name === name).map(({ attributes }) => attributes)
  const run = {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'run',
    'tapline.outcome': 'completed',
  }
  const ask = { 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': 'ask', 'tapline.outcome': 'completed' }
  expect(of('mcp.client.operation.duration')).toEqual([run, ask])
  expect(of('tapline.call.duration')).toEqual([
    run,
    { ...run, 'gen_ai.tool.name': 'drop', 'tapline.outcome': 'refused', 'error.type': 'CALL_REFUSED' },
    ask,
  ])
  for (const { value } of w.records) expect(value).toBeGreaterThanOrEqual(0)
})

test('one span covers all attempts of a retry', async () => {
  let left = 1
  const shaky: ScriptedServer = scriptedServer({
    tools: {
      run: {
        run: () => {
          if (left-- <= 0) return 'done'
          shaky.crash()
          return new Promise<string>(() => {})
        },
      },
    },
  })
  await using w = await open({}, { environments: { e: { s: shaky } }, hooks: [retry({ delayMs: 0, safe: ['run'] })] })
  expect(await call(w, 'run')).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(w.t)).toHaveLength(2)
  expect(w.spans).toHaveLength(1)
  expect(ended(w.spans)).toBe(true)
})

test('arguments and results where the host wants them', async () => {
  await using w = await open({ arguments: true, results: true })
  await call(w, 'run', { a: 1 })
  expect(w.spans[0]?.attributes['gen_ai.tool.call.arguments']).toBe('{"a":1}')
  expect(JSON.parse(String(w.spans[0]?.attributes['gen_ai.tool.call.result']))).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] })
})

test('an explanation ends no span, and calls before and after it have their own', async () => {
  await using w = await open({}, { policies: { s: { defaultToolsApprovalMode: 'approve' } } })
  await w.t.session.explain({ server: 's', tool: 'run' })
  await call(w, 'run')
  expect(w.spans.map(({ isEnded }) => isEnded)).toEqual([false, true])
})

test('many calls at once: each has its own span', async () => {
  await using w = await open()
  await Promise.all(Array.from({ length: 1500 }, (_, n) => w.t.callTool({ server: 's', tool: 'run', arguments: { n } })))
  expect(w.spans).toHaveLength(1500)
  expect(ended(w.spans)).toBe(true)
  const sent = toolCalls(w.t).map(({ params }) => params._meta?.['traceparent'])
  expect(new Set(sent).size).toBe(1500)
})

test('telemetry that fails reaches no call', async () => {
  const broken = {
    startSpan: () => {
      throw new Error('exporter')
    },
    startActiveSpan: () => undefined as never,
  }
  await using w = await open({ tracer: broken })
  expect(await call(w, 'run')).toMatchObject({ outcome: 'completed', sent: 'yes' })
})

test('a trace context that the host sends itself is kept', async () => {
  await using w = await open()
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const outcome = await w.t.callTool({ server: 's', tool: 'run' }, { meta: { traceparent } })
  expect(outcome).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(w.t)[0]?.params._meta).toMatchObject({ traceparent })
})

test('without anything registered it does nothing, and nothing goes to the server', async () => {
  await using t = await openTestRuntime({ threadWide: { s: threeEnds }, hooks: [openTelemetry()] })
  expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(t)[0]?.params._meta ?? {}).not.toHaveProperty('traceparent')
})

test.each<[unknown, string]>([
  [{ tracer: {} }, 'tracer: must be an object with startSpan()'],
  [{ meter: 'otel' }, 'meter: must be an object with createHistogram()'],
  [{ propagate: true }, 'propagate: must be one of "trace", "baggage", "none"'],
  [{ arguments: 'yes' }, 'arguments: must be true or false'],
])('%j is refused: %s', (options, message) => {
  expect(() => openTelemetry(options as OpenTelemetryOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})
