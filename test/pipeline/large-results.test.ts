import fc from 'fast-check'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/json.ts'
import { cutResult } from '../../src/pipeline/cut-result.ts'
import { sizeOf, sizeOver } from '../../src/pipeline/result-size.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from './kit.ts'

const LIMIT = 4096
const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})
async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tapline-large-'))
  folders.push(made)
  return made
}

type Hooks = NonNullable<Parameters<typeof openTestRuntime>[0]>['hooks']
function runtime(result: object, hooks: Hooks = [], more: object = {}): Promise<TestRuntime> {
  return openTestRuntime({
    threadWide: { s: { tools: { t: { run: () => result as never, annotations: { readOnlyHint: true }, ...more } } } },
    policies: { s: { maxResultBytes: LIMIT } },
    hooks: hooks ?? [],
  })
}
const text = (value: string) => ({ type: 'text', text: value })
const call = { server: 's', tool: 't' } as const

test('of a text over the limit the beginning and the end stay, cut between characters; the last block says what is missing', async () => {
  await using t = await runtime({ content: [text(`start${'é'.repeat(5000)}end`)], isError: true, extra: 1, _meta: { 'a/b': 1 } })
  const outcome = await t.callTool(call)
  if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  const [first, mark, ...none] = outcome.result.content as unknown as readonly { readonly text: string }[]
  expect(first!.text).toMatch(/^starté{800,}\n\[tapline: \d KiB left out here\]\né{800,}end$/)
  expect(mark!.text).toMatch(/^\[tapline: this result was too large \(10 KiB, the limit is 4 KiB\)\. Left out: \d KiB of text\.\]$/)
  expect([none, outcome.result]).toMatchObject([[], { isError: true, extra: 1, _meta: { 'a/b': 1 } }])
  expect(outcome.overflow).toEqual({ bytes: expect.any(Number), limitBytes: LIMIT, file: null })
  expect(outcome.forModel).toMatchObject({ isError: true, text: expect.stringContaining('too large') })
})

test('what is within the limit is handed on as it is', async () => {
  await using t = await runtime({ content: [text('x'.repeat(4000))] })
  const outcome = await t.callTool(call)
  expect(outcome).toMatchObject({ outcome: 'completed', result: { content: [text('x'.repeat(4000))] } })
  expect('overflow' in outcome).toBe(false)
})

test('a picture, a resource and structured content are never cut in two; blocks keep their order', async () => {
  const picture = (bytes: number) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(bytes) })
  const resource = { type: 'resource', resource: { uri: 'x://y', text: 'r'.repeat(5000) } }
  await using t = await runtime({
    content: [text('before'), picture(9000), picture(100), resource, text('after'), { type: 'hologram', data: 1 }],
    structuredContent: { list: Array.from({ length: 3000 }, (_, i) => i) },
  })
  const outcome = await t.callTool(call)
  if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  const { content, structuredContent } = outcome.result
  expect(content.slice(0, -1)).toEqual([text('before'), picture(100), text('after'), { type: 'hologram', data: 1 }])
  expect(content.at(-1)).toEqual(
    text(
      expect.stringMatching(/Left out: an image \(image\/png\) of 9 KiB, a resource of 5 KiB, structuredContent\.\]$/) as unknown as string,
    ),
  )
  expect(structuredContent).toBeUndefined()
})

test('structured content stays where there is room for all of it', async () => {
  await using t = await runtime({ content: [{ type: 'image', mimeType: 'a/b', data: 'A'.repeat(9000) }], structuredContent: { a: [1, 2] } })
  expect(await t.callTool(call)).toMatchObject({ outcome: 'completed', result: { structuredContent: { a: [1, 2] } } })
})

test('the output schema is held against the whole result', async () => {
  const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  await using fits = await runtime({ content: [], structuredContent: { a: 'x'.repeat(9000) } }, [], { outputSchema })
  expect(await fits.callTool(call)).toMatchObject({ outcome: 'completed', overflow: { file: null } })
  await using not = await runtime({ content: [text('y'.repeat(9000))], structuredContent: { b: 1 } }, [], { outputSchema })
  const outcome = await not.callTool(call)
  expect(outcome).toMatchObject({ outcome: 'server_failed', rawResult: { structuredContent: { b: 1 } } })
  expect(JSON.stringify(outcome).length).toBeLessThan(LIMIT + 1000)
})

test('on request the whole result is in a file that only its owner can read', async () => {
  const whole = { content: [text('z'.repeat(9000))], structuredContent: { a: 1 } }
  await using t = await runtime(whole)
  const file = join(await folder(), 'result.json')
  const outcome = await t.callTool(call, { overflowFile: file })
  expect(outcome).toMatchObject({
    outcome: 'completed',
    overflow: { file },
    forModel: { text: expect.stringContaining(`The whole result is in ${file}`) },
  })
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(whole)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a file that cannot be written is a diagnostic, and the call is completed all the same', async () => {
  await using t = await runtime({ content: [text('z'.repeat(9000))] })
  const blocked = join(await folder(), 'a file')
  await writeFile(blocked, '')
  expect(await t.callTool(call, { overflowFile: join(blocked, 'result.json') })).toMatchObject({
    outcome: 'completed',
    overflow: { file: null },
  })
  expect(t.session.diagnostics).toContainEqual(expect.objectContaining({ code: 'overflow_not_written' }))
  for (const overflowFile of ['', 7, 'a\0b'])
    expect(await t.callTool(call, { overflowFile: overflowFile as string })).toMatchObject({ outcome: 'invalid_request', sent: 'no' })
})

test('taps see the whole result, and the file has what they let through', async () => {
  const seen: number[] = []
  const redacts = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('redacts', async (_call: object, next: () => Promise<object>) => {
      const result = (await next()) as { content: { text: string }[] }
      seen.push(result.content[0]!.text.length)
      return { content: [text(result.content[0]!.text.replaceAll('secret', '******'))] } as never
    }),
  )
  await using t = await runtime({ content: [text('secret '.repeat(2000))] }, [redacts])
  const file = join(await folder(), 'result.json')
  expect(await t.callTool(call, { overflowFile: file })).toMatchObject({ outcome: 'completed', overflow: { file } })
  expect(seen).toEqual([14_000])
  expect(await readFile(file, 'utf8')).not.toContain('secret')
})

test('whatever a result is, what is left is a result within the limit, and its order is kept', () => {
  const block = fc.oneof(
    fc.string({ maxLength: 3000, unit: 'binary' }).map(text),
    fc.record({ type: fc.constantFrom('image', 'audio', 'x'), data: fc.string({ maxLength: 3000 }) }),
    fc.jsonValue(),
  )
  const results = fc.record({
    content: fc.oneof(fc.array(block, { maxLength: 12 }), fc.jsonValue()),
    structuredContent: fc.jsonValue(),
    extra: fc.string({ maxLength: 3000 }),
    isError: fc.boolean(),
  })
  fc.assert(
    fc.property(results, fc.integer({ min: 1024, max: 8192 }), (given, limitBytes) => {
      const result = given as unknown as JsonObject
      const bytes = sizeOver(result, limitBytes)
      expect(bytes === null).toBe(sizeOf(result) <= limitBytes)
      if (bytes === null) return
      const cut = cutResult(result, { bytes, limitBytes, file: null })
      expect(sizeOf(cut)).toBeLessThanOrEqual(limitBytes)
      const content = cut['content'] as readonly JsonObject[]
      expect(content.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('too large') })
      const whole = (Array.isArray(result['content']) ? result['content'] : []) as readonly Json[]
      let at = -1
      for (const kept of content.slice(0, -1)) {
        at = whole.findIndex((one, index) => index > at && (one === kept || isCut(kept, one)))
        expect(at).toBeGreaterThanOrEqual(0)
      }
    }),
    { numRuns: 300 },
  )
})

function isCut(block: Json, whole: Json): boolean {
  const kept = (block as { text?: unknown } | null)?.text
  const all = (whole as { text?: unknown } | null)?.text
  if (typeof all !== 'string' || typeof kept !== 'string') return false
  const sound = Buffer.from(all).toString()
  const [start, end = ''] = kept.split(/\n\[tapline: [^\]]+ left out here\]\n/)
  return sound.startsWith(start!) && sound.endsWith(end)
}

test('a result that is nested deeper than a stack goes has a size', () => {
  let deep: Json = 'x'
  for (let i = 0; i < 200_000; i++) deep = [deep]
  expect(sizeOver({ content: deep }, 1024)).toBeGreaterThan(200_000)
  expect(sizeOver({ content: deep }, 8_000_000)).toBeNull()
})
