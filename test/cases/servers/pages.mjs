// node pages.mjs MODE: lists whose pages go wrong. One tool, resource and prompt a page, named after the page.
import { serve, text, tool } from './base.mjs'

const mode = process.argv[2]
const ODD = { number: 2, zero: 0, object: { page: 2 }, array: ['2'], true: true, false: false, null: null, huge: Number.POSITIVE_INFINITY }
const page = (cursor) => (cursor === undefined ? 1 : Number(String(cursor).match(/^(?:p|again)?(\d+)/)?.[1] ?? 2))

/** The cursor after a page; undefined: there is none. */
function next(number, cursor) {
  if (mode in ODD) return number === 1 ? ODD[mode] : undefined
  if (mode === 'empty-once') return cursor === undefined ? '' : undefined
  if (mode === 'empty-for-ever') return ''
  if (mode === 'ten') return `p${number === 10 ? 1 : number + 1}`
  if (mode === 'growing') return `p${number + 1}${'x'.repeat(100_000 * number)}`
  if (mode === 'resources') return undefined
  return number < 5 ? `p${number + 1}` : undefined
}

function list(field, item, own = mode) {
  return ({ cursor } = {}) => {
    const number = page(cursor)
    if (own === 'resources' && field !== 'tools') return { [field]: [item('same')], nextCursor: `p${number + 1}` }
    if (mode === 'fails-at-3' && number === 3) throw Object.assign(new Error('database is locked'), { code: -32000 })
    if (mode === 'hangs-at-2' && number === 2) return undefined
    if (mode === 'quits-at-2' && number === 2) process.exit(7)
    if (mode === 'no-list' && number === 2) return { nextCursor: 'p3' }
    if (mode === 'null-list' && number === 2) return { [field]: null, nextCursor: 'p3' }
    return { [field]: [item(`page${number}`)], nextCursor: next(number, cursor) }
  }
}

serve(
  {
    'tools/list': list('tools', (name) => tool(name)),
    'tools/call': ({ name }) => text(name),
    'resources/list': list('resources', (name) => ({ uri: `case://${name}`, name })),
    'resources/templates/list': list('resourceTemplates', (name) => ({ uriTemplate: `case://${name}/{x}`, name })),
    'prompts/list': list('prompts', (name) => ({ name })),
  },
  { capabilities: { tools: {}, resources: {}, prompts: {} } },
)
