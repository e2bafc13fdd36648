/** The top level of one source, section by section. What is wrong here is a mistake of the whole file. */
import path from 'node:path'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { HookModule, LoadedConfig } from './config.ts'
import type { EnvironmentDraft } from './environments.ts'
import { readEnvironments } from './environments.ts'
import type { Expansion } from './expand.ts'
import { Fields, objectOf } from '../documents/fields.ts'
import { readForeign } from './foreign-sections.ts'
import { readHooks } from './hook-entries.ts'
import type { Input } from './inputs.ts'
import { FILE_TOP, FLAGS, NAME_LENGTH, NAMING, SCHEMES, STORE, TOP, TRACE } from './keys.ts'
import type { PackageDraft } from './packages.ts'
import { readPackages } from './packages.ts'
import { keysOf } from './shape.ts'
import type { Source } from './source.ts'
import type { ListValue, Member, ObjectValue, Report, TextValue, Value } from '../documents/value.ts'
import { duplicateKey, kindName } from '../documents/value.ts'

const NO_INPUTS: ReadonlyMap<string, Input> = new Map()

/** What one source says. */
export interface Sections {
  readonly source: Source
  readonly environments: readonly EnvironmentDraft[]
  readonly selected: { readonly ids: readonly TextValue[]; readonly where: string } | null
  /** thread-wide ones */
  readonly servers: readonly Member[]
  /** of a file of VS Code */
  readonly inputs: ReadonlyMap<string, Input>
  readonly hooks: readonly HookModule[]
  readonly packages: readonly PackageDraft[]
  readonly features: LoadedConfig['features']
  readonly naming: { readonly scheme?: 'stable' | 'codex'; readonly maxLength?: number }
  /** null where it is not set */
  readonly resourceTools: boolean | null
  /** absolute path of the flagd definition, or null where it is not set or not listened to */
  readonly flagFile: string | null
  /** absolute, or null where it is not set or not listened to */
  readonly storeFolder: string | null
  /** null where it is not set or not listened to */
  readonly trace: LoadedConfig['trace']
}

export interface SectionContext {
  /** working directory */
  readonly cwd: string
  readonly home: string
  readonly expansion: Expansion
  readonly report: Report
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** Reads a source; null where its top is no object. */
export function readSections(root: Value, source: Source, context: SectionContext): Sections | null {
  const object = objectOf(root, context.report)
  if (object === undefined) return null
  const nothing: Sections = {
    source,
    environments: [],
    selected: null,
    servers: [],
    inputs: NO_INPUTS,
    hooks: [],
    packages: [],
    features: [],
    naming: {},
    resourceTools: null,
    flagFile: null,
    storeFolder: null,
    trace: null,
  }
  if (source.format !== 'tapline') return { ...nothing, ...readForeign(object, source, context) }

  const { report, cwd, expansion } = context
  const fields = new Fields(object, keysOf(source.kind === 'host' ? TOP : FILE_TOP), report)
  const environments = fields.value('environments')
  const hooks = fields.value('hooks')
  const selected = fields.list('selectedEnvironments')
  const plugins = fields.value('plugins')
  fields.text('$schema')
  return {
    source,
    environments: environments === undefined ? [] : readEnvironments(environments, { source, cwd, expansion, report }),
    selected: selected === undefined ? null : readSelected(selected, fields),
    servers: fields.section('mcpServers')?.members ?? [],
    inputs: NO_INPUTS,
    hooks: hooks === undefined ? [] : readHooks(hooks, source, report),
    packages: plugins === undefined ? [] : readPackages(plugins, source, report),
    features: readFeatures(fields, report),
    naming: readNaming(fields, report),
    resourceTools: fields.boolean('resourceTools') ?? null,
    flagFile: readFlags(fields, source, context),
    storeFolder: readStore(fields, source, context),
    trace: readTrace(fields, source, context),
  }
}

function readSelected(list: ListValue, fields: Fields): Sections['selected'] {
  const ids = fields.texts('selectedEnvironments') ?? []
  if (list.items.length === 0) fields.reject('selectedEnvironments', 'must name one environment at least; leave the key out to select all')
  return { ids, where: list.where }
}

function readFeatures(fields: Fields, report: Report): LoadedConfig['features'] {
  const features = new Map<string, LoadedConfig['features'][number]>()
  for (const { name, where, value } of fields.section('features')?.members ?? []) {
    const earlier = features.get(name)
    if (earlier !== undefined) report(where, duplicateKey(name, 'features', earlier.where))
    if (value.kind === 'boolean') features.set(name, { name, value: value.boolean, where })
    else if (value.kind === 'text') features.set(name, { name, value: value.text, where })
    else report(value.where, `${value.path} must be true, false or text, not ${kindName(value)}`)
  }
  return [...features.values()]
}

function readNaming(fields: Fields, report: Report): Sections['naming'] {
  const object = fields.section('naming')
  if (object === undefined) return {}
  const naming = new Fields(object, keysOf(NAMING), report)
  const scheme = naming.choice('scheme', SCHEMES)
  if (scheme === 'codex' && naming.has('maxLength')) naming.reject('maxLength', 'belongs to the scheme "stable"; take it out')
  const maxLength = naming.whole('maxLength', NAME_LENGTH)
  return { ...(scheme !== undefined && { scheme }), ...(maxLength !== undefined && { maxLength }) }
}

/** A section that a project file cannot set; undefined where it is not there or not listened to. */
function userSection(name: string, fields: Fields, source: Source, { diagnose }: SectionContext): ObjectValue | undefined {
  const member = fields.member(name)
  if (member === undefined || source.kind !== 'found') return fields.section(name)
  diagnose(ignoredInProject(name, member.where, source))
  return undefined
}

/** `~` is the home folder; else relative to the file. */
const placed = (file: string, source: Source, home: string): string =>
  /^~(?=$|[\\/])/.test(file) ? path.join(home, file.slice(1)) : path.resolve(source.folder, file)

function readTrace(fields: Fields, source: Source, context: SectionContext): Sections['trace'] {
  const object = userSection('trace', fields, source, context)
  if (object === undefined) return null
  const trace = new Fields(object, keysOf(TRACE), context.report)
  const file = trace.word('file')?.text
  const withArguments = trace.boolean('arguments') ?? false
  if (file !== undefined) return { file: placed(file, source, context.home), arguments: withArguments }
  if (!trace.has('file')) context.report(object.where, 'trace needs "file": where the records go')
  return null
}

/** Who a flag is on for is up to the user: a project file that was only found has no say in it. */
function readFlags(fields: Fields, source: Source, context: SectionContext): string | null {
  const object = userSection('flags', fields, source, context)
  const file = object && new Fields(object, keysOf(FLAGS), context.report).word('flagd')?.text
  return file === undefined ? null : placed(file, source, context.home)
}

function readStore(fields: Fields, source: Source, context: SectionContext): string | null {
  const { report, home } = context
  const object = userSection('store', fields, source, context)
  if (object === undefined) return null
  const store = new Fields(object, [...keysOf(STORE), 'redis'], report)
  if (store.has('redis')) store.reject('redis', 'is not supported by this version; use "file"')
  const folder = store.word('file')?.text
  if (folder === undefined) {
    if (!store.has('file') && !store.has('redis')) report(object.where, 'store needs "file": the folder of the store')
    return null
  }
  return placed(folder, source, home)
}

function ignoredInProject(name: string, where: string, source: Source): Diagnostic {
  return {
    code: 'ignored_key',
    severity: 'warning',
    message: `"${name}" in ${source.label} is ignored: a project file cannot set it; put it into your own file or name this one with --config`,
    where,
  }
}
