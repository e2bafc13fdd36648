// node answers.mjs WHO: tools that answer oddly, late, largely or after they should not.
import { note, send, serve, text, tool } from './base.mjs'

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const string = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const MIB = 1024 * 1024
const progress = (params, value, more = {}) =>
  send({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: value, ...more } })
const waiting = new Map()
let answered = 0
let swapped = false

const tools = {
  quick: () => text('quick'),
  hangs: () => undefined,
  // forgets progressToken, then one of somebody else, then values that are no numbers
  odd_progress: async (params) => {
    send({ method: 'notifications/progress', params: { progress: 1 } })
    send({ method: 'notifications/progress', params: { progressToken: 'of another', progress: 2 } })
    send({ method: 'notifications/progress' })
    for (const value of ['half', null, -1, {}]) progress(params, value)
    await wait(20)
    progress(params, 3, { total: 'many', message: 7, extra: true })
    progress(params, 2, { total: 4, message: 'going back' })
    await wait(20)
    return text('done')
  },
  // somebody else's signs of life for as long as it runs
  foreign_progress: async () => {
    for (let i = 0; i < 200; i++) {
      send({ method: 'notifications/progress', params: { progressToken: 'foreign', progress: i } })
      await wait(50)
    }
    return text('too late')
  },
  // answers at the very moment of the cancel notice, and once more a little later
  at_cancel: (params, { id }) =>
    new Promise((resolve) => {
      waiting.set(id, () => {
        resolve(text(`answer ${++answered}`))
        setTimeout(() => send({ id, result: text('again') }), 50)
        setTimeout(() => send({ id, error: { code: -32800, message: 'cancelled' } }), 80)
      })
    }),
  error_list: () => ({
    isError: true,
    content: [{ type: 'text', text: 'failed' }],
    structuredContent: ['not', 'an', 'object'],
    more: { kept: 1 },
  }),
  error_bare: () => ({ isError: true }),
  error_word: () => text('the flag is a word', { isError: 'yes', structuredContent: { a: 'x' } }),
  null_structured: () => text('null', { structuredContent: null }),
  text_structured: () => text('{"a":"x"}'),
  ref_output: () => text('x', { structuredContent: { anything: 1 } }),
  blocks: () => ({ content: Array.from({ length: 30_000 }, (_, i) => ({ type: 'text', text: `${i}`.padStart(500, '.') })) }),
  deep_data: () => text('short', { structuredContent: { a: 'x', picture: 'A'.repeat(12 * MIB) } }),
  near_limit: () => text('x'.repeat(60 * MIB)),
  over_limit: () => text('x'.repeat(65 * MIB)),
  swap: () => {
    swapped = true
    send({ method: 'notifications/tools/list_changed' })
    return text('swapped')
  },
}
const output = {
  error_list: string,
  error_bare: string,
  error_word: string,
  null_structured: string,
  text_structured: string,
  ref_output: { type: 'object', $ref: 'http://127.0.0.1:9/schema.json' },
  deep_data: string,
}
const inputs = {
  draft4: {
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } },
  },
  words: { type: 'object', properties: { constructor: { type: 'string' }, toString: { type: 'number' }, __proto__: { type: 'string' } } },
  circle: { type: 'object', properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } },
  false_property: { type: 'object', properties: { never: false, any: true } },
}

serve(
  {
    'tools/list': () => ({
      tools: swapped
        ? [tool('quick', { description: 'another one' }), tool('newer')]
        : [
            ...Object.keys(tools).map((name) => tool(name, output[name] ? { outputSchema: output[name] } : {})),
            ...Object.entries(inputs).map(([name, inputSchema]) => tool(name, { inputSchema })),
          ],
    }),
    'tools/call': (params, message) => {
      note('ran', { tool: params.name })
      const run = tools[params.name]
      return run ? run(params, message) : text(JSON.stringify(params.arguments))
    },
  },
  { capabilities: { tools: { listChanged: true } } },
)
// what the ordinary part does not answer
const { createInterface } = await import('node:readline')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { method, params } = JSON.parse(line)
  if (method === 'notifications/cancelled') waiting.get(params.requestId)?.()
})
