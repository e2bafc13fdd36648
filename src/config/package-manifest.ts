/** What a plugin package says of itself, in `plugin.json` of either kind. */
import { isTaplineError } from '../errors.ts'
import { parseDocument } from '../documents/document.ts'
import { objectOf } from '../documents/fields.ts'
import { decodeText } from '../documents/read-file.ts'
import type { Member, ObjectValue, Report, Value } from '../documents/value.ts'
import { kindName } from '../documents/value.ts'

/** Characters of a name or version. */
const LONGEST_NAME = 128
const LONGEST_DESCRIPTION = 2000

/** Servers or hooks that are written in the manifest, or the file that has them. */
export type ServersSource =
  | { readonly kind: 'inline'; readonly value: Value }
  | { readonly kind: 'file'; readonly path: string; readonly where: string }

export interface PackageManifest {
  /** null: it has none that can be used */
  readonly name: string | null
  readonly version: string | null
  readonly description: string | null
  /** null: it says nothing, so that `.mcp.json` counts */
  readonly servers: readonly ServersSource[] | null
  /** its hooks files, or hooks in the manifest itself; null: it says nothing of hooks */
  readonly hooks: ServersSource[] | null
  /** why some of its hooks are not known; null: all are */
  readonly hooksProblem: string | null
}

/** The tree of a file of a package; null and a mistake where it is no JSON. `label` names the file. */
export function parsePackageFile(bytes: Uint8Array, label: string, report: Report): Value | null {
  try {
    return parseDocument(decodeText(bytes, label), label, report)
  } catch (error) {
    if (!isTaplineError(error)) throw error
    report(label, error.message)
    return null
  }
}

/** Reads a manifest; null and a mistake where it is no object. Keys that are not read are those of other programs. */
export function readManifest(bytes: Uint8Array, label: string, report: Report): PackageManifest | null {
  const root = parsePackageFile(bytes, label, report)
  const object = root === null ? undefined : objectOf(root, report)
  if (object === undefined) return null
  const servers = memberOf(object, 'mcpServers')
  return {
    name: textOf(object, 'name', LONGEST_NAME, report),
    version: textOf(object, 'version', LONGEST_NAME, report),
    description: textOf(object, 'description', LONGEST_DESCRIPTION, report),
    servers: servers === undefined || servers.value.kind === 'null' ? null : readSources(servers.value, report),
    ...readHooksOf(object, report),
  }
}

/** As most parsers have it, the last of several counts. */
function memberOf(object: ObjectValue, name: string): Member | undefined {
  return object.members.findLast((member) => member.name === name)
}

function textOf(object: ObjectValue, name: string, longest: number, report: Report): string | null {
  const value = memberOf(object, name)?.value
  if (value === undefined || value.kind === 'null') return null
  if (value.kind === 'text' && value.text.trim() !== '' && value.text.length <= longest && !/\p{Cc}/u.test(value.text.replace(/\s/g, ' ')))
    return value.text
  report(value.where, `${value.path} must be text of 1 to ${longest} characters`)
  return null
}

function readHooksOf(object: ObjectValue, report: Report): Pick<PackageManifest, 'hooks' | 'hooksProblem'> {
  const value = memberOf(object, 'hooks')?.value
  if (value === undefined || value.kind === 'null') return { hooks: null, hooksProblem: null }
  let hooksProblem: string | null = null
  const hooks = readSources(value, (where, message) => {
    hooksProblem ??= message
    report(where, message)
  })
  return { hooks, hooksProblem }
}

function readSources(value: Value, report: Report): ServersSource[] {
  const items = value.kind === 'list' ? value.items : [value]
  return items.flatMap((item): ServersSource[] => {
    if (item.kind === 'object') return [{ kind: 'inline', value: item }]
    if (item.kind === 'text' && item.text !== '' && !item.text.includes('\0')) return [{ kind: 'file', path: item.text, where: item.where }]
    report(item.where, `${item.path} must be the path of a file, or an object, not ${kindName(item)}`)
    return []
  })
}
