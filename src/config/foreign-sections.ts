/** The servers of a file of another program; what else is in it is none of our business, but never lost without a word where it is ours. */
import path from 'node:path'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { objectOf } from '../documents/fields.ts'
import { isSection } from './format.ts'
import type { Input } from './inputs.ts'
import { readInputs } from './inputs.ts'
import type { Source } from './source.ts'
import type { Member, ObjectValue, Report } from '../documents/value.ts'
import { duplicateKey, quoted } from '../documents/value.ts'

/** What stays in a file of another format would be lost without a word, guards among it. */
const OURS = ['environments', 'selectedEnvironments', 'hooks', 'features', 'flags', 'naming', 'resourceTools', 'store', 'trace']

interface Context {
  readonly report: Report
  readonly diagnose: (diagnostic: Diagnostic) => void
}
interface ForeignSections {
  readonly servers: readonly Member[]
  readonly inputs: ReadonlyMap<string, Input>
}

/** Servers and inputs of a file that is not ours. */
export function readForeign(object: ObjectValue, source: Source, context: Context): ForeignSections {
  if (source.format === 'codex') return { servers: membersOf(object, 'mcp_servers', context), inputs: new Map() }
  const key = source.format === 'vscode' ? 'servers' : 'mcpServers'
  const isBare = source.format === 'shared' && !object.members.some((member) => member.name === key)
  for (const { name, where, value } of object.members) {
    if (OURS.includes(name) && (!isBare || isSection(value)))
      context.report(where, `${quoted(name)} does not belong into a file of this name; move it to a tapline.json`)
  }
  if (isBare) return { servers: object.members, inputs: new Map() }

  const isVsCode = source.format === 'vscode'
  for (const { name, where } of object.members) {
    if (name === key || OURS.includes(name) || name === '$schema' || (isVsCode && name === 'inputs')) continue
    context.diagnose({
      code: 'ignored_key',
      severity: 'info',
      message: `the key ${quoted(name)} of ${path.basename(source.label)} means nothing here and is ignored`,
      where,
    })
  }
  return {
    servers: membersOf(object, key, context),
    inputs: isVsCode ? readInputs(memberOf(object, 'inputs', context)?.value, context.report) : new Map(),
  }
}

function membersOf(object: ObjectValue, key: string, context: Context): readonly Member[] {
  const member = memberOf(object, key, context)
  return member === undefined ? [] : (objectOf(member.value, context.report)?.members ?? [])
}

function memberOf(object: ObjectValue, key: string, { report }: Context): Member | undefined {
  const [first, ...more] = object.members.filter((member) => member.name === key)
  for (const { where } of more) report(where, duplicateKey(key, '', (first as Member).where))
  return first
}
