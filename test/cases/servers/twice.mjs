// node twice.mjs MODE: one name, several definitions.
import { note, serve, text, tool } from './base.mjs'

const mode = process.argv[2]
const schema = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name], additionalProperties: false })
const run = (argument, more = {}) => tool('run', { description: `takes ${argument}`, inputSchema: schema(argument), ...more })

const LISTS = {
  // the same name on every page, each time with another schema
  pages: ({ cursor }) => {
    const page = Number(cursor ?? 1)
    return { tools: [run(`arg${page}`), tool(`only${page}`)], ...(page < 4 && { nextCursor: String(page + 1) }) }
  },
  // one name 500 times, and 500 names twice
  many: () => ({
    tools: [
      ...Array.from({ length: 500 }, (_, index) => run(`arg${index}`)),
      ...Array.from({ length: 1000 }, (_, index) => tool(`twice${index % 500}`, { description: `number ${index}` })),
    ],
  }),
  // word for word the same, and the same with members in another order
  same: () => ({
    tools: [
      { name: 'run', description: 'd', inputSchema: schema('a') },
      { inputSchema: schema('a'), description: 'd', name: 'run' },
      tool('other'),
    ],
  }),
  // the second one is harmless by its own account
  softer: () => ({ tools: [run('a', { annotations: { destructiveHint: true } }), run('a', { annotations: { readOnlyHint: true } })] }),
  // the second one wants more
  harder: () => ({ tools: [run('a', { annotations: { readOnlyHint: true } }), run('a', { annotations: { destructiveHint: true } })] }),
  // different names that a careless reader takes for one
  near: () => ({ tools: ['run', 'run ', ' run', 'RUN', 'run\t', 'rün'].map((name) => tool(name)) }),
}
serve({
  'tools/list': (params) => LISTS[mode](params ?? {}),
  'tools/call': ({ name, arguments: args }) => {
    note('ran', { tool: name, args })
    return text(`${name}${JSON.stringify(args)}`)
  },
})
