/** Lists of a server: pages are followed under guard, items are kept as they came. */
import type { JsonObject } from '../json.ts'
import { isJsonObject, sameJson } from '../json.ts'
import { isTaplineError } from '../errors.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ListKind, ToolRecord } from './connection.ts'
import { printable, seconds } from './printable.ts'
import { toolRecord } from './tool-record.ts'

/** Most pages of one list. */
const PAGE_LIMIT = 64
/** Most diagnostics of one code and list. */
const TOLD = 10

/** Where a list comes from. */
export interface ListSource {
  readonly key: ServerKey
  /** Asks for one page and waits at most `limitMs`. */
  page(method: string, params: JsonObject, limitMs: number): Promise<JsonObject>
}

interface Kind {
  readonly method: string
  readonly field: string
  /** the field that tells items apart, where it is a string */
  readonly identity: string
  /** the capability that a server declares for it */
  readonly capability: string
}

const TOOLS: Kind = { method: 'tools/list', field: 'tools', identity: 'name', capability: 'tools' }
/** Method, field and capability of the other lists. */
export const LISTS: Readonly<Record<ListKind, Kind>> = {
  resources: { method: 'resources/list', field: 'resources', identity: 'uri', capability: 'resources' },
  resourceTemplates: { method: 'resources/templates/list', field: 'resourceTemplates', identity: 'uriTemplate', capability: 'resources' },
  prompts: { method: 'prompts/list', field: 'prompts', identity: 'name', capability: 'prompts' },
}

/** Items and findings of one list. */
export interface ReadList {
  readonly items: readonly JsonObject[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Follows the pages of a list for at most `limitMs` in all. Rejects only where not even the first page came. */
async function readPages(
  source: ListSource,
  { method, field }: Kind,
  limitMs: number,
): Promise<{ readonly items: unknown[]; readonly diagnostics: Diagnostic[] }> {
  const end = performance.now() + limitMs
  const items: unknown[] = []
  const diagnostics: Diagnostic[] = []
  const seen = new Set<string>()
  const note = (code: string, text: string): void => {
    diagnostics.push({ code, severity: 'warning', message: `${source.key}: ${method} ${text}`, owner: source.key })
  }
  let cursor: string | null = null
  for (let pages = 1; ; pages++) {
    let page: JsonObject
    try {
      page = await source.page(method, cursor === null ? {} : { cursor }, Math.max(1, end - performance.now()))
    } catch (error) {
      // what was read is kept, but a server that is gone has no list
      if (pages === 1 || !isTaplineError(error) || (error.code !== 'CALL_TIMED_OUT' && error.code !== 'SERVER_FAILED')) throw error
      note(
        'list_cut_short',
        error.code === 'CALL_TIMED_OUT'
          ? `was cut short after ${pages - 1} pages: it did not end within ${seconds(limitMs)}`
          : `was cut short after ${pages - 1} pages: ${error.message}`,
      )
      break
    }
    const part: unknown = page[field]
    if (Array.isArray(part)) for (const item of part as unknown[]) items.push(item)
    else note('bad_item', `was answered without a list of ${field}`)
    const next: unknown = page['nextCursor']
    if (typeof next !== 'string') {
      if (next !== undefined && next !== null)
        note('list_cut_short', `was cut short after ${pages} ${pages === 1 ? 'page' : 'pages'}: its next cursor is no text`)
      break
    }
    if (seen.has(next)) {
      // for some servers the empty cursor is the end: that is what they say after it was sent back
      if (next !== '')
        note(
          'list_cut_short',
          `was cut short after ${pages} ${pages === 1 ? 'page' : 'pages'}: the cursor ${JSON.stringify(printable(next, 60))} came again`,
        )
      break
    }
    if (pages >= PAGE_LIMIT) {
      note('list_cut_short', `was cut short at the limit of ${PAGE_LIMIT} pages`)
      break
    }
    if (performance.now() >= end) {
      note('list_cut_short', `was cut short after ${pages} pages: it did not end within ${seconds(limitMs)}`)
      break
    }
    seen.add(next)
    cursor = next
  }
  return { items, diagnostics }
}

/** All resources, templates or prompts; an item that has the identity of an earlier one is left out. */
export async function readList(source: ListSource, kind: ListKind, limitMs: number): Promise<ReadList> {
  const { identity, method } = LISTS[kind]
  const { items, diagnostics } = await readPages(source, LISTS[kind], limitMs)
  const known = new Set<string>()
  const kept: JsonObject[] = []
  let bad = 0
  for (const item of items) {
    if (!isJsonObject(item)) {
      bad++
      continue
    }
    const id: unknown = item[identity]
    if (typeof id === 'string') {
      if (known.has(id)) continue
      known.add(id)
    }
    kept.push(item)
  }
  if (bad > 0) diagnostics.push(badItems(source.key, method, bad, 'are no objects'))
  return { items: kept, diagnostics }
}

/** All tools by raw name. Of two definitions of one name the first stays; the same definition again is no finding. */
export async function readTools(
  source: ListSource,
  limitMs: number,
): Promise<{ readonly tools: Map<string, ToolRecord>; readonly diagnostics: Diagnostic[] }> {
  const { items, diagnostics } = await readPages(source, TOOLS, limitMs)
  const tools = new Map<string, ToolRecord>()
  const twice = new Set<string>()
  let bad = 0
  for (const item of items) {
    const record = isJsonObject(item) ? toolRecord(item) : null
    if (record === null) {
      bad++
      continue
    }
    const first = tools.get(record.name)
    if (!first) tools.set(record.name, record)
    else if (!sameJson(first.raw, record.raw)) twice.add(record.name)
  }
  for (const name of [...twice].slice(0, TOLD)) {
    const message = `${source.key}: the tool ${printable(name, 128)} is listed more than once with different definitions; the first one counts`
    diagnostics.push({ code: 'duplicate_tool', severity: 'warning', message, owner: source.key })
  }
  if (bad > 0) diagnostics.push(badItems(source.key, 'tools/list', bad, 'are no objects with a name, or are nested too deeply'))
  return { tools, diagnostics }
}

function badItems(key: ServerKey, method: string, count: number, what: string): Diagnostic {
  return {
    code: 'bad_item',
    severity: 'warning',
    message: `${key}: ${method} gave ${count} items that ${what}; they were left out`,
    owner: key,
  }
}
