/** Reads, checks and merges every source of the configuration. Nothing is started or imported. */
import { homedir } from 'node:os'
import path from 'node:path'
import { TaplineError } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import type { KeyParts } from '../servers/key.ts'
import type { Config, LoadedConfig } from './config.ts'
import { EditorVariables } from './editor-variables.ts'
import type { EnvironmentDraft } from './environments.ts'
import type { Variables } from './expand.ts'
import { Expansion } from './expand.ts'
import { folderOf, formatOf } from './format.ts'
import { withoutTwins } from './hook-twins.ts'
import type { AskInput } from './inputs.ts'
import { answerInputs } from './inputs.ts'
import { mergeEnvironments, selectEnvironments } from './merge.ts'
import { choosePackages } from './packages.ts'
import { parseFile } from '../documents/parse-file.ts'
import { digestOf, readConfigFile } from '../documents/read-file.ts'
import type { Sections } from './sections.ts'
import { readSections } from './sections.ts'
import { readServer } from './server.ts'
import type { Source } from './source.ts'
import { invalidDocument } from '../documents/invalid-document.ts'
import type { Member, Mistake, Report, Value } from '../documents/value.ts'
import { fromCode } from '../documents/value.ts'

/** A file to read, and how it came in. */
export interface ConfigFile {
  readonly path: string
  readonly kind: 'named' | 'found' | 'user'
  /** SHA-256 of what was trusted; other content throws CONFIG_UNTRUSTED */
  readonly digest?: string
}

export interface LoadOptions {
  /** weakest first */
  readonly files: readonly ConfigFile[]
  /** given in code: the strongest source; relative paths are those of the process */
  readonly host?: Config
  /** for `${VAR}` */
  readonly env: Variables
  /** gets every secret value that is met */
  readonly secrets: Secrets
  /** working directory, absolute */
  readonly cwd: string
  /** asks for the inputs of a VS Code mcp.json; without it their variables and defaults count */
  readonly askInput?: AskInput | undefined
}

/** Reads everything. Throws CONFIG_NOT_FOUND for a missing file, CONFIG_UNTRUSTED for one that changed since it was trusted, and one CONFIG_INVALID with all mistakes (`data.mistakes`) of the files as such; what is wrong with one server is a diagnostic and the `problem` of its registration. */
export async function loadConfig({ files, host, env, secrets, cwd, askInput }: LoadOptions): Promise<LoadedConfig> {
  const mistakes: Mistake[] = []
  const diagnostics: Diagnostic[] = []
  const report: Report = (where, message) => mistakes.push({ where, message: secrets.redact(message) })
  const diagnose = (diagnostic: Diagnostic): number => diagnostics.push(diagnostic)

  const unique = withoutRepeats(files, cwd)
  const roots: { readonly source: Source; readonly root: Value | null }[] = []
  for (const [rank, file] of unique.entries()) {
    const root = await readRoot(file, report)
    const format = formatOf(file.path, root)
    roots.push({ source: { label: file.path, kind: file.kind, rank, folder: folderOf(file.path, format, cwd), format }, root })
  }
  if (host !== undefined) {
    const source: Source = { label: 'host', kind: 'host', rank: unique.length, folder: process.cwd(), format: 'tapline' }
    roots.push({ source, root: fromCode(host) })
  }

  const expansion = new Expansion(env, secrets)
  const home = env['HOME'] || homedir()
  const sources = roots
    .map(({ source, root }) => root && readSections(root, source, { cwd, home, expansion, report, diagnose }))
    .filter((sections) => sections !== null)
  const { specs, drafts } = mergeEnvironments(sources, { cwd, report, diagnose })
  const selectedEnvironments = selectEnvironments(sources, specs, report)
  const packages = choosePackages(
    sources.flatMap((source) => source.packages),
    specs,
    report,
  )
  const editors = new Map<Source, EditorVariables>()
  for (const { source, inputs, servers } of sources) {
    if (source.format !== 'vscode' && source.format !== 'shared') continue
    const answers = await answerInputs(inputs, source.format === 'vscode' ? servers : [], {
      env,
      secrets,
      // nobody is asked for what will not be used
      ask: mistakes.length > 0 ? undefined : askInput,
    })
    editors.set(source, new EditorVariables({ workspace: source.folder, home, cwd, answers }))
  }
  const registrations = readServers(sources, { specs, drafts, env, secrets, editors, diagnose })
  if (mistakes.length > 0) {
    const redacted = diagnostics.map((diagnostic) => ({ ...diagnostic, message: secrets.redact(diagnostic.message) }))
    throw invalidDocument(
      mistakes,
      'the configuration',
      redacted.filter(({ severity }) => severity === 'error'),
    )
  }
  const hooks = await withoutTwins(
    sources.flatMap((source) => source.hooks),
    diagnose,
  )
  return {
    files: unique.map(({ path: file, kind }) => ({ path: file, kind })),
    environments: [...specs.values()],
    selectedEnvironments,
    registrations,
    hooks,
    packages,
    features: sources.flatMap((source) => source.features),
    naming: {
      scheme: sources.reduce<'stable' | 'codex'>((scheme, { naming }) => naming.scheme ?? scheme, 'stable'),
      maxLength: sources.reduce((length, { naming }) => naming.maxLength ?? length, 64),
    },
    resourceTools: sources.reduce((offered, source) => source.resourceTools ?? offered, false),
    trace: sources.reduce<LoadedConfig['trace']>((trace, source) => source.trace ?? trace, null),
    flagFile: sources.reduce<string | null>((file, source) => source.flagFile ?? file, null),
    storeFolder: sources.reduce<string | null>((folder, source) => source.storeFolder ?? folder, null),
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic, message: secrets.redact(diagnostic.message) })),
  }
}

/** A file that is named twice counts once, with its strongest place. */
function withoutRepeats(files: readonly ConfigFile[], cwd: string): readonly ConfigFile[] {
  const absolute = files.map((file) => ({ ...file, path: path.resolve(cwd, file.path) }))
  return absolute.filter((file, index) => !absolute.slice(index + 1).some((later) => later.path === file.path))
}

async function readRoot(file: ConfigFile, report: Report): Promise<Value | null> {
  const bytes = await readConfigFile(file.path)
  if (file.digest !== undefined && file.digest !== digestOf(bytes)) {
    throw new TaplineError('CONFIG_UNTRUSTED', `${file.path} changed while it was read`, { where: file.path })
  }
  return parseFile(bytes, file.path, report)
}

interface ServerInput {
  readonly specs: ReadonlyMap<string, EnvironmentSpec>
  readonly drafts: ReadonlySet<EnvironmentDraft>
  readonly env: Variables
  readonly secrets: Secrets
  readonly editors: ReadonlyMap<Source, EditorVariables>
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** The registrations of all servers of the sources, in order. */
export function readServers(
  sources: readonly Pick<Sections, 'source' | 'servers' | 'environments'>[],
  { specs, drafts, env, secrets, editors, diagnose }: ServerInput,
): readonly ServerRegistration[] {
  const registrations: ServerRegistration[] = []
  const userTrust = new Map<string, boolean>()
  const keyText = (key: KeyParts): string => JSON.stringify([key.name, key.environmentId, key.installationId])
  const readAll = (members: readonly Member[], source: Source, environmentId: string | null): void => {
    for (const [first, ...repeated] of byName(members)) {
      const trustedByUser = (key: KeyParts): boolean | undefined => userTrust.get(keyText(key))
      const read = readServer(first, repeated, {
        source,
        environmentId,
        environments: specs,
        variables: env,
        secrets,
        editor: editors.get(source) ?? null,
        trustedByUser,
        diagnose,
      })
      if (read === null) continue
      registrations.push(read.registration)
      if (source.kind === 'user' && read.trustAnnotations !== undefined)
        userTrust.set(keyText(read.registration.key), read.trustAnnotations)
    }
  }
  for (const { source, servers, environments } of sources) {
    for (const draft of environments) if (drafts.has(draft)) readAll(draft.servers, source, draft.spec.id)
    readAll(servers, source, null)
  }
  return registrations
}

/** The members, each with the later ones of the same name. */
export function byName(members: readonly Member[]): readonly (readonly [Member, ...Member[]])[] {
  const groups = new Map<string, [Member, ...Member[]]>()
  for (const member of members) {
    const group = groups.get(member.name)
    if (group === undefined) groups.set(member.name, [member])
    else group.push(member)
  }
  return [...groups.values()]
}
