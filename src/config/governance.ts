/** The permissions and the approval policy of an environment, read strictly: they are never guessed. */
import path from 'node:path'
import type { ApprovalPolicy, PermissionProfile } from '../servers/environment.ts'
import { choiceOf, Fields } from '../documents/fields.ts'
import { GRANULAR, OPAQUE, POLICIES, PROFILE, PROFILES } from './keys.ts'
import { keysOf } from './shape.ts'
import type { ObjectValue, Report, Value } from '../documents/value.ts'
import { kindName, toJson } from '../documents/value.ts'

/** A name, or `{ granular: { mcpElicitations } }`; undefined and a mistake for anything else. */
export function readApprovalPolicy(value: Value, report: Report): ApprovalPolicy | undefined {
  if (value.kind !== 'object') return choiceOf(value, POLICIES, report)
  const granular = new Fields(value, ['granular'], report).section('granular')
  if (granular === undefined) {
    if (value.members.length === 0)
      report(value.where, `${value.path} must be a name or { "granular": { "mcpElicitations": true or false } }`)
    return undefined
  }
  const fields = new Fields(granular, keysOf(GRANULAR), report)
  const mcpElicitations = fields.boolean('mcpElicitations')
  if (mcpElicitations !== undefined) return { granular: { mcpElicitations } }
  if (!fields.has('mcpElicitations')) report(granular.where, `${granular.path} needs "mcpElicitations": true or false`)
  return undefined
}

/** A name, an object with a type, or `opaque` with a ready policy that is kept unchanged; undefined and a mistake for anything else. */
export function readPermissions(value: Value, folder: string, report: Report): PermissionProfile | undefined {
  if (value.kind !== 'object') return choiceOf(value, PROFILES, report)
  const isOpaque = value.members.some((member) => member.name === 'type' && member.value.kind === 'text' && member.value.text === 'opaque')
  return isOpaque ? readOpaque(value, report) : readProfile(value, folder, report)
}

function readOpaque(value: ObjectValue, report: Report): PermissionProfile | undefined {
  const state = new Fields(value, keysOf(OPAQUE), report).value('sandboxState')
  if (state?.kind === 'text') return { type: 'opaque', sandboxState: state.text }
  if (state?.kind === 'object')
    return {
      type: 'opaque',
      sandboxState: toJson(state, report) as Exclude<ReturnType<typeof toJson>, null | boolean | number | string | readonly unknown[]>,
    }
  report(
    state?.where ?? value.where,
    `${value.path}.sandboxState must be an object or text${state === undefined ? '' : `, not ${kindName(state)}`}`,
  )
  return undefined
}

function readProfile(value: ObjectValue, folder: string, report: Report): PermissionProfile | undefined {
  const fields = new Fields(value, keysOf(PROFILE), report)
  if (!fields.has('type'))
    report(value.where, `${value.path} needs "type": ${[...PROFILES, 'opaque'].map((name) => `"${name}"`).join(' or ')}`)
  const type = fields.choice('type', PROFILES)
  const networkAccess = fields.boolean('networkAccess')
  const writableRoots = fields.texts('writableRoots')?.map((root) => path.resolve(folder, root.text))
  const excludeSlashTmp = fields.boolean('excludeSlashTmp')
  const excludeTmpdirEnvVar = fields.boolean('excludeTmpdirEnvVar')
  if (type === undefined) return undefined
  return {
    type,
    ...(networkAccess !== undefined && { networkAccess }),
    ...(writableRoots !== undefined && { writableRoots }),
    ...(excludeSlashTmp !== undefined && { excludeSlashTmp }),
    ...(excludeTmpdirEnvVar !== undefined && { excludeTmpdirEnvVar }),
  }
}
