/** What is different from what a person said yes to earlier, for the next question. */
import type { Json, JsonObject } from '../json.ts'
import { canonicalJson, isJsonObject } from '../json.ts'
import type { ToolRecord } from '../connections/connection.ts'
import type { Secrets } from '../secrets.ts'
import type { ApprovalBinding, BoundPart } from './approval-binding.ts'
import { TOOL_PART } from './approval-parts.ts'
import type { ApprovalRecord } from './approval-record.ts'
import { shownArguments } from './shown-arguments.ts'

/** One difference. */
export interface ApprovalChange {
  /** in the words of a configuration, or the place in the definition of the tool: `arguments`, `inputSchema.properties.path` */
  readonly what: string
  readonly before: string
  readonly after: string
}

/** How many differences are shown; more of them are counted. */
const MOST = 20
/** levels of a definition that are compared member by member */
const DEEPEST = 8
const NOT_THERE = '(not there)'
const ANOTHER = '(another value, which is not kept)'

/** The differences between a remembered approval and what the call is bound to now; both under the same salt. */
export function approvalChanges(
  record: ApprovalRecord,
  binding: ApprovalBinding,
  tool: ToolRecord | null,
  secrets: Secrets,
): readonly ApprovalChange[] {
  const all = [...partChanges(record.parts, binding, secrets), ...toolChanges(record, binding, tool, secrets)]
  const shown = all.slice(0, MOST)
  if (all.length > MOST) shown.push({ what: `${all.length - MOST} more differences`, before: '…', after: '…' })
  return Object.freeze(shown.map((change) => Object.freeze(change)))
}

function partChanges(before: readonly BoundPart[], { parts, now }: ApprovalBinding, secrets: Secrets): readonly ApprovalChange[] {
  const earlier = new Map(before.map((part) => [part.what, part]))
  const changes: ApprovalChange[] = []
  parts.forEach((part, index) => {
    const old = earlier.get(part.what)
    earlier.delete(part.what)
    if (part.what === TOOL_PART || (old !== undefined && sameHashes(old, part))) return
    // the configuration itself says what holds now; a value of it is shown only where it may be kept, too
    const texts = (now[index]?.values ?? []).map((value) => (typeof value === 'string' ? value : canonicalJson(value)))
    const values = shownArguments(texts).map((value) => secrets.redact(value))
    const isList = part.hashes.length !== 1 || part.what === 'arguments'
    const after = part.text === null ? (isList ? words(values) : '(a value that is not shown)') : secrets.redact(part.text)
    const known = new Map(part.hashes.map((hash, at) => [hash, values[at] ?? '']))
    const was = old === undefined ? NOT_THERE : (old.text ?? (isList ? words(old.hashes.map((hash) => known.get(hash) ?? '…')) : ANOTHER))
    changes.push({ what: part.what, before: was === after ? ANOTHER : was, after })
  })
  for (const { what, text } of earlier.values()) changes.push({ what, before: text ?? ANOTHER, after: NOT_THERE })
  return changes
}

function toolChanges(
  record: ApprovalRecord,
  binding: ApprovalBinding,
  tool: ToolRecord | null,
  secrets: Secrets,
): readonly ApprovalChange[] {
  if (tool === null) return []
  const now = secrets.redactJson(tool.raw)
  const changes = record.definition === null ? [] : differences('', record.definition, now, 0)
  const [before, after] = [record, binding].map(({ parts }) => parts.find(({ what }) => what === TOOL_PART))
  if (changes.length > 0 || (before !== undefined && sameHashes(before, after))) return changes
  // what is too large to keep, or differs only in what is redacted
  return [{ what: TOOL_PART, before: '(another definition, which is not kept)', after: '(as its server lists it now)' }]
}

function differences(path: string, before: Json | undefined, after: Json | undefined, level: number): readonly ApprovalChange[] {
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return []
  if (level < DEEPEST && isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => differences(path === '' ? name : `${path}.${name}`, own(before, name), own(after, name), level + 1))
  }
  return [{ what: path, before: shown(before), after: shown(after) }]
}

const own = (object: JsonObject, name: string): Json | undefined => (Object.hasOwn(object, name) ? object[name] : undefined)
const shown = (value: Json | undefined): string =>
  value === undefined ? NOT_THERE : typeof value === 'string' ? value : canonicalJson(value)
const words = (values: readonly string[]): string => (values.length === 0 ? '(none)' : values.join(' '))

function sameHashes(a: BoundPart, b: BoundPart | undefined): boolean {
  return a.what === b?.what && a.hashes.length === b.hashes.length && a.hashes.every((hash, index) => hash === b.hashes[index])
}
