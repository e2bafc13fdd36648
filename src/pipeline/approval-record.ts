/** A remembered approval as the store keeps it: strictly read, and without any value that could be a secret. */
import type { Json, JsonObject } from '../json.ts'
import { canonicalJson, isJsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { KeyParts } from '../servers/key.ts'
import type { ToolRecord } from '../connections/connection.ts'
import type { ApprovalBinding, BoundPart } from './approval-binding.ts'

/** One yes that is remembered. */
export interface ApprovalRecord {
  readonly id: string
  readonly subject: string
  readonly definitionDigest: string
  readonly owner: KeyParts
  /** raw name */
  readonly tool: string
  readonly parts: readonly BoundPart[]
  /** the tool as its server listed it, to show later what changed; null where it was too large to keep */
  readonly definition: JsonObject | null
  readonly since: Date
}

/** Format of a record; a higher number comes from a newer release. */
const VERSION = 1
/** characters of JSON that a definition may have to be kept */
const LARGEST = 65_536
const ID = /^[0-9a-f]{32}$/
const DIGEST = /^[0-9a-f]{64}$/

/** The record of a yes given now; texts are kept without the secrets of the runtime. */
export function recordOf(
  { id, subject, definitionDigest, owner, tool, parts }: ApprovalBinding,
  definition: ToolRecord | null,
  secrets: Secrets,
): ApprovalRecord {
  const raw = definition === null ? null : secrets.redactJson(definition.raw)
  const kept = { owner, tool, parts } as unknown as JsonObject
  const redacted = secrets.redactJson(kept) as unknown as Pick<ApprovalRecord, 'owner' | 'tool' | 'parts'>
  return {
    id,
    subject,
    definitionDigest,
    ...redacted,
    definition: raw !== null && canonicalJson(raw).length <= LARGEST ? raw : null,
    since: new Date(),
  }
}

/** The JSON text of a record. */
export function recordText({ since, ...record }: ApprovalRecord): string {
  return JSON.stringify({ version: VERSION, ...record, since: since.toISOString() })
}

/** The record of a text; null for what is not exactly one, which then counts as no approval. */
export function readRecord(text: string): ApprovalRecord | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isJsonObject(value) || value['version'] !== VERSION) return null
  const { id, subject, definitionDigest, owner, tool, parts, definition, since } = value
  const when = typeof since === 'string' ? new Date(since) : null
  if (!matches(ID, id) || !matches(DIGEST, subject) || !matches(DIGEST, definitionDigest) || typeof tool !== 'string') return null
  if (when === null || Number.isNaN(when.getTime()) || !isOwner(owner) || !Array.isArray(parts) || !parts.every(isPart)) return null
  if (definition !== null && !isJsonObject(definition)) return null
  return { id, subject, definitionDigest, owner, tool, parts: parts as unknown as readonly BoundPart[], definition, since: when }
}

const matches = (pattern: RegExp, value: unknown): value is string => typeof value === 'string' && pattern.test(value)

function isOwner(value: unknown): value is KeyParts & JsonObject {
  const isId = (id: unknown): boolean => id === null || typeof id === 'string'
  return isJsonObject(value) && typeof value['name'] === 'string' && isId(value['environmentId']) && isId(value['installationId'])
}

function isPart(value: Json): boolean {
  if (!isJsonObject(value)) return false
  const { what, hashes, text } = value
  return (
    typeof what === 'string' &&
    Array.isArray(hashes) &&
    hashes.every((hash) => typeof hash === 'string') &&
    (text === null || typeof text === 'string')
  )
}
