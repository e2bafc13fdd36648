/** The sandbox state of an environment: what `codex sandbox --sandbox-state-json` reads (spec 70). */
import { posix, win32 } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject, snapshot } from '../json.ts'
import type { PermissionProfile } from '../servers/environment.ts'
import { lossInText, lossInValue } from '../exact-json.ts'

/** What the state is made of; taken at the moment of the call. */
export interface SandboxPlace {
  readonly permissions: PermissionProfile | null
  /** absolute on the machine of the environment */
  readonly cwd: string
  /** as the environment names it; it is part of the state only where it is absolute */
  readonly codexExecutable: string | null
}

type Profile = Exclude<PermissionProfile, string | { readonly type: 'opaque' }>

/** Folders in a writable root that stay read-only. */
const PROTECTED = ['.git', '.agents', '.codex', '.aws'] as const
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['type', 'networkAccess', 'writableRoots', 'excludeSlashTmp', 'excludeTmpdirEnvVar'])
const WINDOWS_PATH = /^(?:[A-Za-z]:[\\/]|\\\\)/
/** Halves of surrogate pairs, and the replacement character: a name that was not UTF-8 became one. */
const NOT_UTF8 = /[\p{Surrogate}\uFFFD]/u

/** The state for servers of this environment; undefined where no permissions are set. Throws SANDBOX_POLICY_UNREADABLE for a policy that cannot be sent as it was meant. */
export function sandboxState({ permissions, cwd, codexExecutable }: SandboxPlace): Json | undefined {
  if (permissions === null) return undefined
  if (typeof permissions === 'object' && permissions.type === 'opaque') return opaqueState(permissions.sandboxState)
  const profile = readProfile(permissions)
  return {
    permissionProfile: permissionProfile(profile, checkedPath(cwd)),
    ...(codexExecutable !== null && isAbsolutePath(codexExecutable) && { codexLinuxSandboxExe: codexExecutable }),
    sandboxCwd: pathToFileURL(cwd, { windows: WINDOWS_PATH.test(cwd) }).href,
    useLegacyLandlock: false,
    useMxc: false,
  }
}

function permissionProfile(profile: Profile, cwd: string): JsonObject {
  const network = profile.networkAccess === true ? 'enabled' : 'restricted'
  switch (profile.type) {
    case 'full-access':
      return { type: 'disabled' }
    case 'external':
      return { type: 'external', network }
    default:
      return { type: 'managed', file_system: { type: 'restricted', entries: fileSystemEntries(profile, cwd) }, network }
  }
}

/** The extra roots are there twice because Codex lists them twice. */
function fileSystemEntries(profile: Profile, cwd: string): Json[] {
  const entries: Json[] = [special('root', 'read')]
  if (profile.type !== 'workspace-write') return entries
  const roots = profile.writableRoots ?? []
  entries.push(...[cwd, ...roots].map(writable))
  if (profile.excludeSlashTmp !== true) entries.push(special('slash_tmp', 'write'))
  if (profile.excludeTmpdirEnvVar !== true) entries.push(special('tmpdir', 'write'))
  entries.push(...roots.map(writable))
  for (const folder of PROTECTED) {
    for (const root of [cwd, ...roots]) {
      const style = WINDOWS_PATH.test(root) ? win32 : posix
      entries.push({ path: { type: 'path', path: style.join(root, folder) }, access: 'read', missing_path_behavior: 'skip' })
    }
  }
  return entries
}

const special = (kind: string, access: string): Json => ({ path: { type: 'special', value: { kind } }, access })
const writable = (path: string): Json => ({ path: { type: 'path', path }, access: 'write' })

/** The profile as an object. A field that is not understood is refused: leaving it out could send less restriction than was meant. */
function readProfile(permissions: string | Profile): Profile {
  const profile = (typeof permissions === 'string' ? { type: permissions } : permissions) as Profile
  if (!['read-only', 'workspace-write', 'full-access', 'external'].includes(profile.type))
    throw unreadable(`no permission profile is called ${JSON.stringify(profile.type)}`)
  for (const [field, value] of Object.entries(profile)) {
    if (!KNOWN_FIELDS.has(field)) throw unreadable(`the permission profile has an unknown field ${JSON.stringify(field)}`)
    if (field === 'type' || value === undefined) continue
    if (field === 'writableRoots') {
      if (!Array.isArray(value) || !value.every((root) => typeof root === 'string' && isAbsolutePath(root)))
        throw unreadable('writableRoots is not a list of absolute paths')
    } else if (typeof value !== 'boolean') throw unreadable(`${field} of the permission profile is neither true nor false`)
  }
  if (profile.type === 'full-access' && profile.networkAccess === false) throw unreadable('full access cannot be without the network')
  return profile
}

function isAbsolutePath(path: string): boolean {
  return (posix.isAbsolute(path) || WINDOWS_PATH.test(path)) && !NOT_UTF8.test(path)
}

function checkedPath(path: string): string {
  if (!isAbsolutePath(path)) throw unreadable('the working directory of the environment is not an absolute path in valid UTF-8')
  return path
}

function opaqueState(given: string | JsonObject): JsonObject {
  let loss: string | null
  try {
    const value: unknown = typeof given === 'string' ? JSON.parse(given) : given
    if (!isJsonObject(value)) throw unreadable('the policy is not a JSON object')
    loss = typeof given === 'string' ? lossInText(given) : lossInValue(given)
    // The copy also proves that it can be printed: text may be nested deeper than JSON.stringify goes.
    if (loss === null) return snapshot(value) as JsonObject
  } catch (error) {
    if (error instanceof TaplineError) throw error
    throw unreadable(error instanceof RangeError ? 'the policy is nested too deeply' : 'the policy text is not JSON', error)
  }
  throw unreadable(`the policy has ${loss}`)
}

const unreadable = (what: string, cause?: unknown): TaplineError =>
  new TaplineError('SANDBOX_POLICY_UNREADABLE', `the sandbox policy cannot be sent unchanged: ${what}`, { cause })
