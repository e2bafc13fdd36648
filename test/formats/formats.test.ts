import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as aiSdk from '../../src/formats/ai-sdk.ts'
import * as anthropic from '../../src/formats/anthropic.ts'
import { objectSchema } from '../../src/formats/object-schema.ts'
import * as openai from '../../src/formats/openai.ts'
import type { CallOutcome, Tool } from '../../src/index.ts'
import type { JsonObject } from '../../src/json.ts'
import { deepFreeze } from '../../src/json.ts'
import { modelResult } from '../../src/pipeline/for-model.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'

const PNG = 'iVBORw0KGgo='
const completed = (content: readonly unknown[], isError = false): CallOutcome =>
  ({ outcome: 'completed', forModel: modelResult({ content, isError }) }) as CallOutcome
const refused = (text: string): CallOutcome =>
  ({ outcome: 'refused', forModel: { text, isError: true, content: [{ type: 'text', text }] } }) as unknown as CallOutcome

const runtime = (): Promise<TestRuntime> =>
  openTestRuntime({
    threadWide: {
      notes: {
        tools: {
          add: {
            description: 'Adds a note',
            inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
            run: ({ text }) => `added ${JSON.stringify(text)}`,
          },
          bare: { run: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: PNG }] }) },
        },
      },
      other: { tools: { add: { run: () => 'other' } } },
    },
    policies: { notes: { defaultToolsApprovalMode: 'approve' }, other: { defaultToolsApprovalMode: 'approve' } },
  })
const toolsOf = async (t: TestRuntime): Promise<readonly Tool[]> => (await t.session.listTools()).tools

describe('tools', () => {
  test('have the flat name, a description and a schema that the APIs take', async () => {
    await using t = await runtime()
    const tools = await toolsOf(t)
    const [add] = openai.toTools(tools)
    expect(add).toEqual({
      type: 'function',
      name: 'mcp__notes__add',
      description: 'Adds a note',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      strict: false,
    })
    expect(anthropic.toTools(tools)[0]).toEqual({ name: add!.name, description: add!.description, input_schema: add!.parameters })
    for (const { parameters } of openai.toTools(tools)) expect(parameters).toMatchObject({ type: 'object', properties: {} })
    expect(openai.toTools([])).toEqual([])
  })

  test('are grouped by namespace, with the names that hold inside, and come back as requests', async () => {
    await using t = await runtime()
    const namespaces = openai.toNamespaces(await toolsOf(t))
    expect(namespaces.map(({ type, name, tools }) => [type, name, tools.map((one) => one.name)])).toEqual([
      ['namespace', 'mcp__notes', ['add', 'bare']],
      ['namespace', 'mcp__other', ['add']],
    ])
    expect(namespaces.every(({ description }) => description !== '')).toBe(true)
    const request = openai.toRequest({ namespace: namespaces[1]!.name, name: 'add', arguments: '{}' })
    expect((await t.callTool(request)).forModel.text).toBe('other')
  })
})

describe('schemas', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['without anything', {}, { type: 'object', properties: {} }],
    ['without properties', { type: 'object' }, { type: 'object', properties: {} }],
    [
      'with what has to be there',
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'], anyOf: [{ required: ['b'] }, { required: ['a'] }] },
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'] },
    ],
    [
      'with branches',
      {
        oneOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { a: { type: 'number' }, b: {} } }, true],
        title: 'T',
      },
      { title: 'T', type: 'object', properties: { a: { type: 'string' }, b: {} } },
    ],
    [
      'with parts',
      { allOf: [{ properties: { a: {} }, required: ['a'] }, { required: ['b', 7] }] },
      { type: 'object', properties: { a: {} }, required: ['a', 'b'] },
    ],
    ['with enum and not', { type: 'object', properties: {}, enum: [{}], not: { required: ['x'] } }, { type: 'object', properties: {} }],
    ['with a list for properties', { type: ['object', 'null'], properties: [] }, { type: 'object', properties: {} }],
    [
      'with references and combinations further down',
      { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{}] } } },
      { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{}] } } },
    ],
  ])('%s', (_what, schema, expected) => {
    expect(objectSchema(deepFreeze(structuredClone(schema)))).toEqual(expected)
  })

  test('what fits is not copied; a property called __proto__ stays one', () => {
    const fits = { type: 'object', properties: {} }
    expect(objectSchema(fits)).toBe(fits)
    const odd = objectSchema(JSON.parse('{"anyOf":[{"properties":{"__proto__":{"type":"string"}}}]}') as JsonObject)
    expect(JSON.stringify(odd)).toBe('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
  })
})

describe('requests', () => {
  test('never throw, whatever a model writes, and end as invalid_request where they make no sense', async () => {
    await using t = await runtime()
    for (const text of ['', '{', 'null', '[]', '"x"', '{"text":7}', 'undefined']) {
      const outcome = await t.callTool(openai.toRequest({ name: 'mcp__notes__add', arguments: text }))
      expect([text, outcome.outcome, outcome.sent]).toEqual([text, 'invalid_request', 'no'])
    }
    for (const input of [undefined, null, 'x', [], 7]) {
      const outcome = await t.callTool(anthropic.toRequest({ name: 'mcp__notes__add', input }))
      expect([input, outcome.outcome]).toEqual([input, 'invalid_request'])
    }
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), fc.string(), (name, namespace, text) => {
        openai.toRequest({ name, arguments: text, ...(namespace !== undefined && { namespace }) })
      }),
    )
  })

  test('good ones run', async () => {
    await using t = await runtime()
    const one = await t.callTool(openai.toRequest({ name: 'mcp__notes__add', arguments: '{"text":"x"}' }))
    const other = await t.callTool(anthropic.toRequest({ name: 'mcp__notes__add', input: { text: 'y' } }))
    expect([one.forModel.text, other.forModel.text]).toEqual(['added "x"', 'added "y"'])
  })
})

describe('outputs', () => {
  const mixed = completed([
    { type: 'text', text: 'see' },
    { type: 'image', mimeType: 'image/png', data: PNG },
    { type: 'image', mimeType: 'image/svg+xml', data: PNG },
    { type: 'audio', mimeType: 'audio/wav', data: PNG },
    { type: 'resource_link', uri: 'x://1', name: 'l' },
    { type: 'resource', resource: { uri: 'file:///a/report.pdf?x', mimeType: 'application/pdf', blob: PNG } },
    { type: 'resource', resource: { uri: 'file:///a/i.webp', mimeType: 'image/webp', blob: PNG } },
    { type: 'resource', resource: { uri: 'x://t', text: 'inside' } },
    { type: 'later', value: 1 },
  ])

  test('openai: text where there is only text, else parts; nothing is left out without a word', () => {
    expect(
      openai.toOutput(
        { call_id: 'c' },
        completed([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ),
    ).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: 'a\nb',
    })
    expect(openai.toOutput({ call_id: 'c' }, refused('no')).output).toBe('no')
    expect(openai.toOutput({ call_id: 'c' }, completed([])).output).toBe('')
    expect(openai.toOutput({ call_id: 'c' }, mixed).output).toEqual([
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
      { type: 'input_text', text: '[image]' },
      { type: 'input_text', text: '[audio]' },
      { type: 'input_text', text: '[resource x://1]' },
      { type: 'input_file', filename: 'report.pdf', file_data: `data:application/pdf;base64,${PNG}` },
      { type: 'input_image', image_url: `data:image/webp;base64,${PNG}`, detail: 'auto' },
      { type: 'input_text', text: 'inside' },
      { type: 'input_text', text: '[later]' },
    ])
  })

  test('anthropic: blocks with is_error; no empty text, and no error without one', () => {
    expect(anthropic.toOutput({ id: 'u' }, refused('no'))).toEqual({
      type: 'tool_result',
      tool_use_id: 'u',
      is_error: true,
      content: [{ type: 'text', text: 'no' }],
    })
    expect(
      anthropic.toOutput(
        { id: 'u' },
        completed([
          { type: 'text', text: '' },
          { type: 'text', text: ' \n' },
        ]),
      ),
    ).toMatchObject({ is_error: false, content: [] })
    expect(anthropic.toOutput({ id: 'u' }, completed([], true)).content).toEqual([{ type: 'text', text: expect.stringMatching(/\S/) }])
    expect(anthropic.toOutput({ id: 'u' }, mixed).content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'text', text: '[image]' },
      { type: 'text', text: '[audio]' },
      { type: 'text', text: '[resource x://1]' },
      { type: 'text', text: '[file report.pdf, application/pdf]' },
      { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: PNG } },
      { type: 'text', text: 'inside' },
      { type: 'text', text: '[later]' },
    ])
  })

  test('blocks of a server that are none of the protocol never make it throw', () => {
    for (const block of [
      {},
      { type: 'image' },
      { type: 'image', mimeType: 'image/png', data: 'no base64!' },
      { type: 'resource' },
      { type: 'text' },
      { type: 7 },
    ]) {
      expect(() => openai.toOutput({ call_id: 'c' }, completed([block]))).not.toThrow()
      expect(() => anthropic.toOutput({ id: 'u' }, completed([block]))).not.toThrow()
    }
  })
})

describe('the AI SDK', () => {
  type Output = Readonly<Record<string, unknown>>
  /** What the model is told, by each of the two forms of `toModelOutput`. */
  const told = async (outcome: CallOutcome): Promise<[Output, Output]> => {
    await using t = await runtime()
    const set = aiSdk.toTools(t.session, await toolsOf(t))
    const convert = set['mcp__notes__add']!.toModelOutput as unknown as (given: unknown) => Output
    return [convert({ toolCallId: 'c', input: {}, output: outcome }), convert(outcome)]
  }

  test('the model is told text, parts, errors, and refusals as such', async () => {
    expect(await told(completed([{ type: 'text', text: 'a' }]))).toEqual([
      { type: 'text', value: 'a' },
      { type: 'text', value: 'a' },
    ])
    expect(await told(completed([{ type: 'text', text: 'a' }], true))).toEqual([
      { type: 'error-text', value: 'a' },
      { type: 'error-text', value: 'a' },
    ])
    expect(await told(refused('no'))).toEqual([
      { type: 'execution-denied', reason: 'no' },
      { type: 'error-text', value: 'no' },
    ])
    expect(
      await told(
        completed([
          { type: 'text', text: 'a' },
          { type: 'image', mimeType: 'image/png', data: PNG },
        ]),
      ),
    ).toEqual([
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a' },
          { type: 'image-data', data: PNG, mediaType: 'image/png' },
        ],
      },
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a' },
          { type: 'media', data: PNG, mediaType: 'image/png' },
        ],
      },
    ])
  })

  test('a loop of the SDK runs calls through the session, under the id that the model gave them', async () => {
    await using t = await runtime()
    const seen: string[] = []
    const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
    let turn = 0
    const model = new MockLanguageModelV3({
      doGenerate: ({ prompt }) => {
        seen.push(JSON.stringify(prompt.at(-1)))
        return Promise.resolve(
          turn++ === 0
            ? {
                content: [{ type: 'tool-call', toolCallId: 'call-7', toolName: 'mcp__notes__add', input: '{"text":"x"}' }],
                finishReason: { unified: 'tool-calls', raw: 'x' },
                usage,
                warnings: [],
              }
            : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: 'x' }, usage, warnings: [] },
        )
      },
    })
    const { text, steps } = await generateText({
      model,
      prompt: 'go',
      tools: aiSdk.toTools(t.session, await toolsOf(t)),
      stopWhen: stepCountIs(3),
    })
    expect(text).toBe('done')
    expect(steps[0]!.toolResults[0]!.output).toMatchObject({ outcome: 'completed', callId: 'call-7' })
    expect(seen[1]).toContain(String.raw`"output":{"type":"text","value":"added \"x\""}`)
  })

  test('an output that was kept as JSON says the same to the model', async () => {
    await using t = await runtime()
    const tool = aiSdk.toTools(t.session, await toolsOf(t))['mcp__notes__bare']!
    const output: unknown = await tool.execute!({}, { toolCallId: 'c', messages: [] })
    const kept: unknown = JSON.parse(JSON.stringify(output))
    const convert = tool.toModelOutput as unknown as (given: unknown) => Output
    const expected = { type: 'content', value: [{ type: 'image-data', data: PNG, mediaType: 'image/png' }] }
    for (const one of [output, kept]) expect(convert({ toolCallId: 'c', input: {}, output: one })).toEqual(expected)
    for (const one of [{ a: 1 }, null, 'x', undefined])
      expect(convert({ toolCallId: 'c', input: {}, output: one })).toMatchObject({ type: 'text' })
  })

  test('an abort of the loop reaches the call', async () => {
    await using t = await runtime()
    const set = aiSdk.toTools(t.session, await toolsOf(t))
    const outcome = (await set['mcp__notes__add']!.execute!(
      { text: 'x' },
      {
        toolCallId: 'c',
        messages: [],
        abortSignal: AbortSignal.abort(),
      },
    )) as CallOutcome
    expect(outcome).toMatchObject({ outcome: 'cancelled', callId: 'c', sent: 'no' })
  })
})
