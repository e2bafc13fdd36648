/** A change of permissions, policy or reviewer from code, checked whole: a mistyped one must not leave the old rule standing without a word. */
import { TaplineError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { nearest } from '../nearest.ts'

const KEYS = ['permissions', 'approvalPolicy', 'reviewer']
const PROFILES = ['read-only', 'workspace-write', 'full-access', 'external']
const POLICIES = ['on-request', 'untrusted', 'never']
const FLAGS = ['networkAccess', 'excludeSlashTmp', 'excludeTmpdirEnvVar']

/** Throws CALL_INVALID_REQUEST for a key or a value that is none. */
export function checkGovernance(change: object): void {
  if (!isJsonObject(change)) throw wrong('a change of an environment must be an object')
  const unknown = Object.keys(change).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    const near = nearest(unknown, KEYS)
    throw wrong(
      `unknown key ${JSON.stringify(unknown.slice(0, 60))} in a change of an environment${near === null ? '' : `: did you mean "${near}"?`}`,
    )
  }
  const { permissions, approvalPolicy, reviewer } = change as Readonly<Record<string, unknown>>
  if (permissions !== undefined && permissions !== null && !isProfile(permissions))
    throw wrong(`permissions cannot be ${shown(permissions)}: they are one of ${listed(PROFILES)}, or an object with such a type`)
  if (approvalPolicy !== undefined && !isPolicy(approvalPolicy))
    throw wrong(`approvalPolicy cannot be ${shown(approvalPolicy)}: it is one of ${listed(POLICIES)}, or an object with "granular"`)
  if (reviewer !== undefined && reviewer !== null && typeof reviewer !== 'function')
    throw wrong('reviewer of an environment must be a function or null')
}

function isProfile(value: unknown): boolean {
  if (typeof value === 'string') return PROFILES.includes(value)
  if (!isJsonObject(value)) return false
  const { type, sandboxState, writableRoots, ...rest } = value
  if (type === 'opaque') {
    const isState = typeof sandboxState === 'string' || isJsonObject(sandboxState)
    return isState && writableRoots === undefined && Object.keys(rest).length === 0
  }
  return (
    typeof type === 'string' &&
    PROFILES.includes(type) &&
    sandboxState === undefined &&
    (writableRoots === undefined || (Array.isArray(writableRoots) && writableRoots.every((root) => typeof root === 'string'))) &&
    Object.entries(rest).every(([name, flag]) => FLAGS.includes(name) && (flag === undefined || typeof flag === 'boolean'))
  )
}

function isPolicy(value: unknown): boolean {
  if (typeof value === 'string') return POLICIES.includes(value)
  if (!isJsonObject(value) || Object.keys(value).length !== 1 || !isJsonObject(value['granular'])) return false
  const { mcpElicitations, ...rest } = value['granular']
  return typeof mcpElicitations === 'boolean' && Object.keys(rest).length === 0
}

const listed = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(', ')
const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `this ${typeof value}`)

const wrong = (problem: string): TaplineError =>
  new TaplineError('CALL_INVALID_REQUEST', problem, {
    remedy: 'Correct the change; docs/reference/configuration.md lists permissions and policies.',
  })
