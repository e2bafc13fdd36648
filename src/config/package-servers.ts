/** The servers that a plugin package brings, as registrations: the package says how they are started, the host what they may do. */
import type { Secrets } from '../secrets.ts'
import type { ApprovalMode, ServerPolicy, ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import type { Variables, Words } from './expand.ts'
import { objectOf } from '../documents/fields.ts'
import { isSection } from './format.ts'
import { byName } from './load.ts'
import { overlayFields } from './packages.ts'
import type { ServerPackage } from './server.ts'
import { readPolicy, readServer, runsHere } from './server.ts'
import type { Member, ObjectValue, Value } from '../documents/value.ts'
import { quoted } from '../documents/value.ts'

/** Keys of a server, without `_` and in small letters, that a package cannot set. */
const OF_THE_HOST: ReadonlyMap<string, string> = new Map([
  ['environment', 'a plugin package cannot choose its environment'],
  ['environmentid', 'a plugin package cannot choose its environment'],
  ['experimentalenvironment', 'a plugin package cannot choose its environment'],
  ['installation', 'the host names installations'],
  ['installationid', 'the host names installations'],
  ['trustannotations', 'the host says whom it trusts'],
  ['required', 'the host says what a session needs'],
  ['sharing', 'the host says who shares a process'],
  ['outputschema', 'the host says what becomes of wrong answers'],
  ['envfile', 'a plugin package may read no file of variables'],
])
const STRICT: ReadonlySet<ApprovalMode> = new Set(['prompt', 'deny'])

export interface PackageServersContext {
  readonly package: ServerPackage
  readonly environment: EnvironmentSpec
  /** of its file among the others; 0 for what was discovered */
  readonly rank: number
  readonly words: Words
  /** true: hints of its tools such as readOnlyHint are believed where no overlay says otherwise */
  readonly trusted: boolean
  /** null: the package may have no variable of this machine */
  readonly variables: Variables | null
  readonly secrets: Secrets
  /** server → policy of the host, strongest last */
  readonly overlays: readonly ReadonlyMap<string, ObjectValue>[]
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** `root` is the content of `.mcp.json` (`{ "mcpServers": … }` or the bare map), or what a manifest has inline. */
export function readPackageServers(root: Value, context: PackageServersContext): readonly ServerRegistration[] {
  const { diagnose } = context
  const object = objectOf(root, (where, message) => diagnose({ code: 'CONFIG_INVALID', severity: 'error', message, where }))
  if (object === undefined) return []
  const wrapped = object.members.findLast(({ name, value }) => name === 'mcpServers' && isSection(value))
  const servers = wrapped === undefined ? object : objectOf(wrapped.value, (where, message) => diagnose(wrong(where, message)))
  if (servers === undefined) return []
  return byName(servers.members).flatMap(([first, ...repeated]) => readOne(first, repeated, context) ?? [])
}

const wrong = (where: string, message: string): Diagnostic => ({ code: 'CONFIG_INVALID', severity: 'error', message, where })

function readOne(member: Member, repeated: readonly Member[], context: PackageServersContext): ServerRegistration | null {
  const { package: own, environment, rank, words, trusted, variables, secrets, overlays, diagnose } = context
  const read = readServer(withoutHostKeys(member, diagnose), repeated, {
    // as strict as with a file that was found
    source: { label: own.root, kind: 'found', rank, folder: own.root, format: 'shared' },
    environmentId: environment.id,
    environments: new Map([[environment.id, environment]]),
    variables: variables ?? {},
    secrets,
    editor: words,
    package: own,
    trustedByUser: () => undefined,
    diagnose,
  })
  if (read === null) return null
  let { registration } = read
  if (variables === null && registration.launch.type === 'stdio' && registration.launch.envVars.length > 0) {
    diagnose({
      code: 'variables_kept_back',
      severity: 'warning',
      message: `${registration.launch.envVars.join(', ')} of this machine is not passed on to ${quoted(member.name)}: its plugin package was discovered on another machine; name it under "plugins" to allow that`,
      owner: registration.key,
      where: member.where,
    })
    registration = { ...registration, launch: { ...registration.launch, envVars: [] } }
  }
  const policy = overlays.reduce(
    (under, overlay) => {
      const written = overlay.get(member.name)
      // its mistakes were told when the configuration was read
      const fields = written && overlayFields(written, () => {})
      return fields === undefined
        ? under
        : readPolicy(fields, fields.boolean('trustAnnotations') ?? under.trustAnnotations, () => {}, under)
    },
    { ...strictOnly(registration.policy, member, diagnose), trustAnnotations: trusted },
  )
  return { ...registration, policy }
}

/** The server without the keys that only the host may set; each is told. */
function withoutHostKeys(member: Member, diagnose: (diagnostic: Diagnostic) => void): Member {
  if (member.value.kind !== 'object') return member
  const members = member.value.members.filter(({ name, where }) => {
    const why = OF_THE_HOST.get(name.replaceAll('_', '').toLowerCase())
    if (why === undefined) return true
    diagnose({
      code: 'ignored_key',
      severity: 'warning',
      message: `the key ${quoted(name)} of the server ${quoted(member.name)} is ignored: ${why}`,
      where,
    })
    return false
  })
  return { ...member, value: { ...member.value, members } }
}

/** Approval modes of a package count where they are stricter than none at all. */
function strictOnly(policy: ServerPolicy, member: Member, diagnose: (diagnostic: Diagnostic) => void): ServerPolicy {
  const { defaultApprovalMode, toolApprovalModes } = policy
  const kept = [...toolApprovalModes].filter(([, mode]) => STRICT.has(mode))
  const isLoose = defaultApprovalMode !== 'auto' && !STRICT.has(defaultApprovalMode)
  if (isLoose || kept.length < toolApprovalModes.size)
    diagnose({
      code: 'ignored_key',
      severity: 'warning',
      message: `approval modes of the server ${quoted(member.name)} other than "prompt" and "deny" are ignored: the host says what may run unasked`,
      where: member.where,
    })
  return { ...policy, defaultApprovalMode: isLoose ? 'auto' : defaultApprovalMode, toolApprovalModes: new Map(kept) }
}

/** True where paths of the environment are those of this machine. */
export function isHere(environment: EnvironmentSpec): boolean {
  return runsHere(environment.executor.kind)
}
