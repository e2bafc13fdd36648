/** One environment of a source → its specification and the servers declared on it. */
import path from 'node:path'
import type { JsonObject } from '../json.ts'
import { ENVIRONMENT_ID, THREAD_WIDE } from '../servers/definition.ts'
import type { EnvironmentSpec, ExecutorSpec } from '../servers/environment.ts'
import { LOCAL } from '../servers/environment.ts'
import type { OptionsContext } from './executor-options.ts'
import { optionsOf, readExecutorOptions } from './executor-options.ts'
import type { Expansion } from './expand.ts'
import { didYouMean, Fields, objectOf, unknownKey } from '../documents/fields.ts'
import { readApprovalPolicy, readPermissions } from './governance.ts'
import { ENVIRONMENT } from './keys.ts'
import { runsHere } from './server.ts'
import { keysOf } from './shape.ts'
import type { Source } from './source.ts'
import type { Member, ObjectValue, Report, Value } from '../documents/value.ts'
import { duplicateKey, quoted, toJson } from '../documents/value.ts'

const KEYS: readonly string[] = keysOf(ENVIRONMENT)
/** Keys of the format that this version does not act on. */
const LATER: ReadonlySet<string> = new Set(['plugins', 'reviewer'])

export interface EnvironmentDraft {
  readonly spec: EnvironmentSpec
  readonly source: Source
  readonly servers: readonly Member[]
  /** true where it says what governs its servers (permissions, policy, launcher, executor, roots) */
  readonly governs: boolean
}

export interface EnvironmentContext {
  readonly source: Source
  /** the working directory, default `cwd` of local environments */
  readonly cwd: string
  readonly expansion: Expansion
  readonly report: Report
}

/** The environments of one source, in written order; what is wrong with one is a mistake of the whole file. */
export function readEnvironments(value: Value, context: EnvironmentContext): readonly EnvironmentDraft[] {
  const object = objectOf(value, context.report)
  const drafts = new Map<string, EnvironmentDraft>()
  for (const member of object?.members ?? []) {
    const earlier = drafts.get(member.name)
    if (earlier !== undefined) context.report(member.where, duplicateKey(member.name, value.path, earlier.spec.where))
    const draft = readEnvironment(member, context)
    if (draft !== null && earlier === undefined) drafts.set(member.name, draft)
  }
  return [...drafts.values()]
}

function readEnvironment({ name, where, value }: Member, { source, cwd, expansion, report }: EnvironmentContext): EnvironmentDraft | null {
  if (!ENVIRONMENT_ID.test(name))
    report(where, `${quoted(name)} is no id for an environment; use 1 to 64 of the characters A-Z a-z 0-9 _ -`)
  if (name === THREAD_WIDE) report(where, `"${THREAD_WIDE}" is reserved: it selects servers without an environment; choose another id`)
  const object = objectOf(value, report)
  if (object === undefined) return null

  const unknown: Member[] = []
  const fields = new Fields(object, KEYS, report, { onUnknown: (member) => unknown.push(member) })
  const executor = readExecutor(fields, unknown, { folder: source.folder, expansion, report })
  if (name === LOCAL && executor.kind !== LOCAL)
    fields.reject('executor', `must be "${LOCAL}": the environment "${LOCAL}" is always this machine; choose another id`)
  const permissions = fields.value('permissions')
  const policy = fields.value('approvalPolicy')
  const servers = fields.section('mcpServers')
  const spec: EnvironmentSpec = {
    id: name,
    executor,
    cwd: readCwd(fields, executor.kind, source.folder, cwd, expansion),
    extraRoots: (fields.texts('extraRoots') ?? []).map((root) =>
      runsHere(executor.kind) ? path.resolve(source.folder, root.text) : root.text,
    ),
    hasRoots: fields.has('cwd') || fields.has('extraRoots'),
    permissions: (permissions && readPermissions(permissions, source.folder, report)) ?? null,
    approvalPolicy: (policy && readApprovalPolicy(policy, report)) ?? 'on-request',
    codexExecutable: fields.word('codexExecutable')?.text ?? null,
    ...readPackagePlaces(fields, executor.kind, source),
    where,
  }
  const governs = ['executor', 'permissions', 'approvalPolicy', 'codexExecutable', 'extraRoots'].some((key) => fields.has(key))
  return { spec, source, servers: servers?.members ?? [], governs }
}

/** The name of the executor, or `{ kind, … }`; keys beside it that are not ours are options of an executor that is not `local`. */
function readExecutor(fields: Fields, unknown: readonly Member[], context: OptionsContext): ExecutorSpec {
  const { report } = context
  const written = fields.value('executor')
  const options: [string, Member['value']][] = []
  let kind: string = LOCAL
  if (written?.kind === 'object') {
    const named = written.members.find((member) => member.name === 'kind')
    if (named?.value.kind === 'text' && named.value.text !== '') kind = named.value.text
    else report(named?.value.where ?? written.where, `${written.path} needs "kind": the name of an executor, such as "${LOCAL}"`)
    for (const member of written.members) if (member.name !== 'kind') options.push([member.name, member.value])
  } else kind = fields.word('executor')?.text ?? LOCAL

  const known = optionsOf(kind)
  for (const member of unknown) {
    if (LATER.has(member.name)) {
      if (member.value.kind === 'boolean' && !member.value.boolean) continue
      const instead = member.name === 'plugins' ? '; write them into "plugins" at the top, with their "environment"' : '; take it out'
      report(member.where, `${member.value.path} is not supported by this version${instead}`)
    } else if (kind === LOCAL || !mayBeOption(member.name, known)) {
      report(member.where, unknownKey(member.name, fields.object.path, [...KEYS, ...(known ?? [])]))
    } else options.push([member.name, member.value])
  }
  if (kind === LOCAL && options.length > 0) fields.reject('executor', `has options, but "${LOCAL}" takes none`)
  const object: ObjectValue = {
    kind: 'object',
    where: fields.object.where,
    path: fields.object.path,
    members: options.map(([name, value]) => ({ name, where: value.where, value })),
  }
  return { kind, options: known === undefined ? (toJson(object, report) as JsonObject) : readExecutorOptions(kind, object, context) }
}

/** Where plugin packages are looked for. */
function readPackagePlaces(
  fields: Fields,
  kind: string,
  { folder, kind: cameIn }: Source,
): Pick<EnvironmentSpec, 'pluginRoots' | 'discover'> {
  const roots = (fields.texts('pluginRoots') ?? []).map(({ text }) => text)
  if (roots.some((root) => root === '' || root.includes('**')))
    fields.reject('pluginRoots', 'must name folders; "*" stands for any name, and "**" is not known')
  const discover = fields.boolean('discover') ?? false
  // trust is bound to content, and nobody knows what will lie there tomorrow
  for (const key of ['pluginRoots', 'discover'])
    if (cameIn === 'found' && fields.has(key) && (key !== 'discover' || discover))
      fields.reject(key, 'cannot be in a project file; name each package under "plugins"')
  if (discover && kind === LOCAL) fields.reject('discover', `needs an executor that knows its packages; name folders with "pluginRoots"`)
  return {
    ...(roots.length > 0 && { pluginRoots: roots.map((root) => (runsHere(kind) ? path.resolve(folder, root) : root)) }),
    ...(discover && { discover }),
  }
}

/** Kinds that are not ours check their options themselves: what looks like a mistyped key of ours is one all the same. */
function mayBeOption(name: string, known: readonly string[] | undefined): boolean {
  return known === undefined
    ? didYouMean(name, KEYS) === ''
    : known.some((option) => option.toLowerCase() === name.replaceAll('_', '').toLowerCase())
}

function readCwd(fields: Fields, kind: string, folder: string, workingDirectory: string, expansion: Expansion): string {
  const written = fields.word('cwd')?.text
  const before = expansion.missing.size
  const cwd = written === undefined ? undefined : expansion.text(written)
  if (expansion.missing.size > before) {
    fields.reject(
      'cwd',
      `needs variables that are not set: ${[...expansion.missing].slice(before).join(', ')}; set them, or write \${NAME:-default}`,
    )
  }
  if (runsHere(kind)) return cwd === undefined ? workingDirectory : path.resolve(folder, cwd)
  if (cwd === undefined || !(path.posix.isAbsolute(cwd) || path.win32.isAbsolute(cwd))) {
    fields.reject('cwd', `must be an absolute path of the machine that the executor "${kind}" reaches`)
  }
  return cwd ?? '/'
}
