/** One server of a source → one registration. What is wrong with it costs this server only. */
import { LONGEST_SEC } from '../documents/bounds.ts'
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import type { Secrets } from '../secrets.ts'
import { DEFAULT_INSTALLATION, DEFAULT_POLICY, ENVIRONMENT_ID, SERVER_NAME } from '../servers/definition.ts'
import type { ApprovalMode, ServerPolicy, ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import { LOCAL } from '../servers/environment.ts'
import type { KeyParts } from '../servers/key.ts'
import { displayKey } from '../servers/key.ts'
import type { Variables, Words } from './expand.ts'
import { Expansion } from './expand.ts'
import { didYouMean, Fields, objectOf, unknownKey } from '../documents/fields.ts'
import { FOREIGN_KEYS, HARMLESS, rejectForeign } from './foreign-keys.ts'
import { HTTP, MODES, OUTPUT_SCHEMA, POLICY, PROTOCOLS, RESULT_BYTES, SHARING, SPELLINGS, STDIO, TOOL } from './keys.ts'
import { NO_LAUNCH, readLaunch } from './launch.ts'
import { keysOf } from './shape.ts'
import type { Source } from './source.ts'
import type { Member, Mistake, ObjectValue, Report } from '../documents/value.ts'
import { quoted, reportDuplicates } from '../documents/value.ts'

/** What a server may have; `type` and `disabled` are how other clients write it, and so is `headers`, an alias. */
const SERVER_KEYS: readonly string[] = keysOf({ ...STDIO, ...HTTP, ...POLICY, ...SPELLINGS }).filter((key) => key !== 'headers')
const ALIASES: ReadonlyMap<string, string> = new Map([['headers', 'httpHeaders']])
/** Keys of the format that this version does not act on. */
const LATER: ReadonlySet<string> = new Set(['oauth', 'scopes', 'oauthResource', 'oauth_resource'])

export interface ServerContext {
  readonly source: Source
  /** the environment that declares it, or null */
  readonly environmentId: string | null
  /** all environments, merged */
  readonly environments: ReadonlyMap<string, EnvironmentSpec>
  readonly variables: Variables
  readonly secrets: Secrets
  /** what an editor would fill in; null: a file of ours, or of Codex */
  readonly editor: Words | null
  /** set for a server that a plugin package brings */
  readonly package?: ServerPackage
  /** what the user's own file says about `trustAnnotations` of this server */
  readonly trustedByUser: (key: KeyParts) => boolean | undefined
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** The package of a server: where its paths begin, and what its key and provenance say. */
export interface ServerPackage {
  /** real path on its machine; the default cwd */
  readonly root: string
  /** folders in which its own paths must stay: the root, and its folder for data */
  readonly own: readonly string[]
  readonly pluginId: string
  readonly installationId: string | null
  readonly source: 'selected' | 'discovered'
}

export interface ReadServer {
  readonly registration: ServerRegistration
  /** as written */
  readonly trustAnnotations: boolean | undefined
}

/** The registration of one member of `mcpServers`, or null where nothing can be called by that name: then a diagnostic says why. */
export function readServer(member: Member, repeated: readonly Member[], context: ServerContext): ReadServer | null {
  const { source, environmentId } = context
  const mistakes: Mistake[] = []
  const report: Report = (where, message) => mistakes.push({ where, message })
  if (!SERVER_NAME.test(member.name)) {
    report(member.where, `${quoted(member.name)} is no name for a server; use 1 to 128 of the characters a-z A-Z 0-9 _ : @ / . -`)
    diagnoseAll(mistakes, undefined, context)
    return null
  }
  for (const other of repeated)
    report(other.where, `the server ${quoted(member.name)} is there twice (first at ${member.where}); take one out or rename it`)

  const object = objectOf(member.value, report)
  const fields = new Fields(object ?? EMPTY(member), [...SERVER_KEYS, ...FOREIGN_KEYS[source.format]], report, {
    aliases: ALIASES,
    nullIsAbsent: source.format !== 'tapline',
    onUnknown: (unknown) => judgeUnknown(unknown, member, context, report),
  })
  const installation = fields.text('installation')
  const key: KeyParts = { name: member.name, environmentId, installationId: installation?.text ?? context.package?.installationId ?? null }
  if (
    fields.has('installation') &&
    (installation === undefined || !ENVIRONMENT_ID.test(installation.text) || installation.text === DEFAULT_INSTALLATION)
  ) {
    if (installation) fields.reject('installation', `must be 1 to 64 of A-Z a-z 0-9 _ -, and not "${DEFAULT_INSTALLATION}"`)
    diagnoseAll(mistakes, undefined, context)
    return null
  }

  const executesOn = readExecutesOn(fields, context)
  const place = context.environments.get(executesOn)
  const here = place === undefined || runsHere(place.executor.kind)
  const own = context.package
  const base = own?.root ?? (place !== undefined && (environmentId !== null || !here) ? place.cwd : source.folder)
  const { variables, secrets, editor } = context
  const expansion = new Expansion(variables, secrets, editor)
  rejectForeign(fields)
  const launch =
    object &&
    readLaunch(fields, {
      base,
      here,
      ...(own && { own: own.own }),
      looseEnv: source.format === 'vscode',
      expansion,
      variables,
      secrets,
      report,
    })
  const trustAnnotations = fields.boolean('trustAnnotations')
  const policy = readPolicy(fields, trusts(trustAnnotations, context.trustedByUser(key), source), report)

  diagnoseAll(mistakes, key, context)
  return {
    registration: {
      key,
      ...(launch ?? NO_LAUNCH),
      policy,
      executesOn,
      provenance: {
        source: own?.source ?? (source.kind === 'host' ? 'host' : 'file'),
        rank: source.rank,
        where: member.where,
        pluginId: own?.pluginId ?? null,
        root: own?.root ?? null,
      },
      // a server that is switched off may lack its variables
      problem: problemOf(key, member.where, mistakes, policy.enabled ? expansion : null, secrets),
    },
    trustAnnotations,
  }
}

/** True for executors whose machine is this one. */
export function runsHere(kind: string): boolean {
  return kind === LOCAL || kind === 'memory'
}

const EMPTY = (member: Member): ObjectValue => ({ kind: 'object', where: member.value.where, path: member.value.path, members: [] })

function diagnoseAll(mistakes: readonly Mistake[], owner: KeyParts | undefined, { diagnose, secrets }: ServerContext): void {
  for (const { where, message } of mistakes) {
    diagnose({ code: 'CONFIG_INVALID', severity: 'error', message: secrets.redact(message), ...(owner && { owner }), where })
  }
}

function judgeUnknown(unknown: Member, server: Member, { source, diagnose }: ServerContext, report: Report): void {
  const { name, where } = unknown
  const ignored = (severity: 'info' | 'warning', hint = ''): void =>
    diagnose({
      code: 'ignored_key',
      severity,
      message: `the key ${quoted(name)} of the server ${quoted(server.name)} means nothing here and is ignored${hint}`,
      where,
    })
  if (HARMLESS.has(name)) return ignored('info')
  if (source.format !== 'tapline') {
    const known = [...SERVER_KEYS, ...FOREIGN_KEYS[source.format]]
    return ignored(source.format === 'codex' || nearest(name, known) !== null ? 'warning' : 'info', didYouMean(name, known))
  }
  if (LATER.has(name)) return report(where, `${unknown.value.path} is not supported by this version; take it out`)
  report(
    where,
    name === 'timeout'
      ? `unknown key "timeout" in ${server.value.path} (did you mean "toolTimeoutSec"?)`
      : unknownKey(name, server.value.path, SERVER_KEYS),
  )
}

function readExecutesOn(fields: Fields, { environmentId, environments }: ServerContext): string {
  const named = fields.word('environment')
  if (environmentId !== null) {
    if (named !== undefined && named.text !== environmentId)
      fields.reject('environment', `does not fit: the server belongs to the environment "${environmentId}"; take the key out`)
    return environmentId
  }
  if (named === undefined) return LOCAL
  if (environments.has(named.text)) return named.text
  fields.reject(
    'environment',
    `names no environment${didYouMean(named.text, environments.keys()) || `; known ones: ${[...environments.keys()].join(', ')}`}`,
  )
  return LOCAL
}

/** A project file trusts annotations where it says so or the user does; the stricter of the two counts. */
function trusts(written: boolean | undefined, byUser: boolean | undefined, source: Source): boolean {
  if (source.kind !== 'found') return written ?? true
  return byUser === false ? false : (written ?? byUser ?? false)
}

/** The policy that the keys say, over one that counts where they say nothing. */
export function readPolicy(fields: Fields, trustAnnotations: boolean, report: Report, base: ServerPolicy = DEFAULT_POLICY): ServerPolicy {
  const disabled = fields.boolean('disabled')
  if (disabled !== undefined && fields.has('enabled')) fields.reject('disabled', 'and "enabled" say the same thing twice; take one out')
  const protocol = readProtocol(fields)
  const enabledTools = fields.texts('enabledTools')
  const disabledTools = fields.texts('disabledTools')
  return Object.freeze({
    enabled: fields.boolean('enabled') ?? (disabled === undefined ? base.enabled : !disabled),
    required: fields.boolean('required') ?? base.required,
    startupTimeoutMs:
      fields.seconds('startupTimeoutSec') ??
      fields.whole('startupTimeoutMs', { least: 1, most: LONGEST_SEC * 1000 }) ??
      base.startupTimeoutMs,
    toolTimeoutMs: fields.seconds('toolTimeoutSec') ?? base.toolTimeoutMs,
    toolTotalTimeoutMs: fields.seconds('toolTotalTimeoutSec') ?? base.toolTotalTimeoutMs,
    enabledTools: enabledTools === undefined ? base.enabledTools : new Set(enabledTools.map((tool) => tool.text)),
    disabledTools: disabledTools === undefined ? base.disabledTools : new Set(disabledTools.map((tool) => tool.text)),
    defaultApprovalMode: fields.choice('defaultToolsApprovalMode', MODES) ?? base.defaultApprovalMode,
    toolApprovalModes: new Map([...base.toolApprovalModes, ...readModes(fields, report)]),
    trustAnnotations,
    outputSchema: fields.choice('outputSchema', OUTPUT_SCHEMA) ?? base.outputSchema,
    supportsParallelToolCalls: fields.boolean('supportsParallelToolCalls') ?? base.supportsParallelToolCalls,
    sharing: fields.choice('sharing', SHARING) ?? base.sharing,
    maxResultBytes: fields.whole('maxResultBytes', RESULT_BYTES) ?? base.maxResultBytes,
    protocol: protocol ?? base.protocol,
  })
}

function readProtocol(fields: Fields): ServerPolicy['protocol'] | undefined {
  const written = fields.value('protocol')
  if (written?.kind !== 'text' || written.text !== '2026-07-28') return fields.choice('protocol', PROTOCOLS)
  fields.reject('protocol', '"2026-07-28" is not supported by this version; use "auto"')
  return undefined
}

function readModes(fields: Fields, report: Report): ReadonlyMap<string, ApprovalMode> {
  const modes = new Map<string, ApprovalMode>()
  const tools = fields.section('tools')
  if (tools === undefined) return modes
  reportDuplicates(tools, report)
  for (const { name, value } of tools.members) {
    const object = objectOf(value, report)
    const mode = object && new Fields(object, keysOf(TOOL), report).choice('approvalMode', MODES)
    if (mode !== undefined) modes.set(name, mode)
  }
  return modes
}

function problemOf(
  key: KeyParts,
  where: string,
  mistakes: readonly Mistake[],
  expansion: Expansion | null,
  secrets: Secrets,
): TaplineError | null {
  const missing = [...(expansion?.missing ?? [])]
  const problems = [...(expansion?.problems ?? [])]
  const causes = [...mistakes.map((mistake) => mistake.message), ...problems].map((cause) => secrets.redact(cause))
  if (missing.length > 0) causes.push(whatIsMissing(missing, [...(expansion?.defaultable ?? [])]))
  if (causes.length === 0) return null
  const first = mistakes[0]?.where ?? where
  return new TaplineError('CONFIG_INVALID', `server ${displayKey(key)} cannot be used (${first}): ${causes.join('; ')}`, {
    where: first,
    data: { server: key.name, missing },
    ...(mistakes.length === 0 && {
      remedy:
        problems.length === 0
          ? `Set ${missing.join(', ')} in the environment of tapline.`
          : 'Give what is missing, as the message says, or correct the file at the place named.',
    }),
  })
}

/** A default can stand in a reference only, not where a key such as `bearerTokenEnvVar` has the name of a variable. */
function whatIsMissing(missing: readonly string[], defaultable: readonly string[]): string {
  const [name] = defaultable
  if (missing.length === 1)
    return `the variable ${missing[0]} is not set; set it${name === undefined ? '' : `, or write \${${name}:-default}`}`
  return `the variables ${missing.join(', ')} are not set; set them${name === undefined ? '' : `, or write defaults as in \${${name}:-default}`}`
}
