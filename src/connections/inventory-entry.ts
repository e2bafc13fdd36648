/** One list of tools as the store has it: written from a live list, read as something that anybody may have changed. */
import { createHmac } from 'node:crypto'
import { canonicalJson, isJsonObject } from '../json.ts'
import type { Json } from '../json.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Environment } from '../servers/environment.ts'
import type { ToolRecord } from './connection.ts'
import { toolRecord } from './tool-record.ts'

/** Format of an entry; another number is ignored. */
const VERSION = 1

/** The tools of one server as they were listed some time ago. */
export interface CachedTools {
  readonly tools: ReadonlyMap<string, ToolRecord>
  /** what the server said of itself in `initialize` */
  readonly instructions: string | null
  /** ms since 1970 */
  readonly at: number
}

/** A server of which a list is looked up. */
export interface InventoryServer {
  readonly registration: ServerRegistration
  /** where it executes */
  readonly environment: Environment
}

/**
 * The name of an entry: a keyed hash over how the server is started or reached, the values of the variables that are passed on to it, the
 * place where it executes, and its definition. The key stays with the store, so that nobody can try out tokens on a copy of the hashes.
 */
export function inventoryName(key: string, { registration, environment }: InventoryServer): string {
  const { launch, template } = registration
  const names =
    launch.type === 'stdio'
      ? launch.envVars
      : [...Object.values(launch.envHeaders), ...(launch.bearerTokenEnvVar === null ? [] : [launch.bearerTokenEnvVar])]
  const passedOn = names.map((name) => process.env[name] ?? null)
  const { id, executor, cwd } = environment.spec
  const identity = { launch, passedOn, place: { id, executor, cwd }, template } as unknown as Json
  return createHmac('sha256', key).update(canonicalJson(identity)).digest('base64url')
}

/** The text of an entry. */
export function writeEntry({ tools, instructions, at }: CachedTools, redact: <T extends Json>(value: T) => T): string {
  const raw = [...tools.values()].map((tool) => tool.raw)
  return JSON.stringify({ version: VERSION, at, ...redact({ instructions, tools: raw }) })
}

/** The part of the text that says something about the tools; two entries with the same one differ in their time only. */
export function contentOf(text: string): string {
  return text.slice(text.indexOf('"instructions"'))
}

/** The entry; null for another format and for anything that no list can be. */
export function readEntry(text: string): CachedTools | null {
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch {
    return null
  }
  if (!isJsonObject(entry) || entry['version'] !== VERSION || !Array.isArray(entry['tools'])) return null
  const { at, instructions } = entry
  if (typeof at !== 'number' || !(typeof instructions === 'string' || instructions === null)) return null
  const tools = new Map<string, ToolRecord>()
  for (const raw of entry['tools'] as readonly Json[]) {
    const record = isJsonObject(raw) ? toolRecord(raw) : null
    if (record === null) return null
    tools.set(record.name, record)
  }
  return { tools, instructions, at }
}
