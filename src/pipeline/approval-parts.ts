/** What an approval is bound to beside owner and tool, part by part, so that a person can be told which part changed. */
import type { SealedCall } from '../hooks/sealed-call.ts'
import type { Json } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { permissionsText } from '../servers/permissions-text.ts'

/** One part of a definition. */
export interface ApprovalPart {
  /** in the words of a configuration: `command`, `arguments`, `variable DB` */
  readonly what: string
  /** compared one by one, and kept only as salted hashes */
  readonly values: readonly Json[]
  /** what may be kept in clear; null: nothing, since it can be a secret */
  readonly text: string | null
}

/** Name of the part that stands for the whole definition of the tool. */
export const TOOL_PART = 'definition of the tool'

/** The launch as it is written, so that a rotated token does not ask again, and the environment with its permissions. */
export function approvalParts({ entry, environment, governance, tool }: SealedCall): readonly ApprovalPart[] {
  const { template } = entry.registration
  const { kind, options } = environment.spec.executor
  const parts = [
    part(TOOL_PART, [tool?.digest ?? ''], null),
    ...(isJsonObject(template) ? Object.entries(template).flatMap(launchParts) : [part('launch', [template], null)]),
    part('environment', [environment.id], environment.id),
    part('executor', [kind], kind),
    ...Object.entries(options).map(([name, value]) => part(`${name} of the executor`, listOf(value), placeText(name, value))),
    part('permissions', [governance.permissions], permissionsText(governance.permissions)),
  ]
  // the order in which a definition is written is no part of it
  return parts.sort((a, b) => (a.what < b.what ? -1 : a.what > b.what ? 1 : 0))
}

function launchParts([name, value]: readonly [string, Json]): readonly ApprovalPart[] {
  switch (name) {
    case 'type':
      return [part('transport', [value], textOf(value))]
    case 'args':
      return [part('arguments', listOf(value), null)]
    case 'cwd':
      return [part('working folder', [value], textOf(value))]
    case 'base':
      return [part('folder of the definition', [value], textOf(value))]
    case 'env':
      return named('variable', value, referenceText)
    case 'headers':
      return named('header', value, referenceText)
    case 'envHeaders':
      return named('variable of the header', value, textOf)
    case 'envVars': {
      const names = listOf(value).map(String).sort()
      return [part('variables passed on', names, names.join(', '))]
    }
    case 'filled':
      return named('what is put in for', value, () => null)
    case 'url':
      return [part('url', [value], placeText(name, value))]
    default:
      return [part(name, listOf(value), name === 'command' ? textOf(value) : null)]
  }
}

const part = (what: string, values: readonly Json[], text: string | null): ApprovalPart => ({ what, values, text })
const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [value])
const textOf = (value: Json): string | null => (typeof value === 'string' ? value : null)

function named(what: string, members: Json, text: (value: Json) => string | null): readonly ApprovalPart[] {
  return Object.entries(isJsonObject(members) ? members : {}).map(([name, value]) => part(`${what} ${name}`, [value], text(value)))
}

/** A bare reference names a variable and holds no value. */
function referenceText(value: Json): string | null {
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value) ? value : null
}

/** Where something is, without what lets one in: no user, no password, no query. */
function placeText(name: string, value: Json): string | null {
  if (typeof value !== 'string' || !['url', 'host', 'port'].includes(name)) return null
  return value.replace(/[?#][^]*$/, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
}
