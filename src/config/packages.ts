/** The plugin packages that a source selects. Nothing of them is read here: they may be on another machine. */
import path from 'node:path'
import { DEFAULT_INSTALLATION, DEFAULT_POLICY, ENVIRONMENT_ID } from '../servers/definition.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import { LOCAL } from '../servers/environment.ts'
import type { PackageChoice } from './config.ts'
import { didYouMean, Fields, objectOf } from '../documents/fields.ts'
import { OVERLAY, PACKAGE } from './keys.ts'
import { readPolicy, runsHere } from './server.ts'
import { keysOf } from './shape.ts'
import type { Source } from './source.ts'
import type { ObjectValue, Report, TextValue, Value } from '../documents/value.ts'
import { kindName, quoted, reportDuplicates } from '../documents/value.ts'

/** An entry of `plugins` before all environments are known. */
export interface PackageDraft {
  readonly source: Source
  readonly path: string
  readonly environment: TextValue | null
  readonly installationId: string | null
  readonly overlays: ReadonlyMap<string, ObjectValue>
  readonly where: string
}

/** The entries, in written order. */
export function readPackages(value: Value, source: Source, report: Report): readonly PackageDraft[] {
  if (value.kind !== 'list') {
    report(value.where, `${value.path} must be a list of plugin packages, not ${kindName(value)}`)
    return []
  }
  return value.items.flatMap((item) => readPackage(item, source, report) ?? [])
}

function readPackage(value: Value, source: Source, report: Report): PackageDraft | null {
  const object = objectOf(value, report)
  if (object === undefined) return null
  const fields = new Fields(object, keysOf(PACKAGE), report)
  const folder = fields.word('path')
  if (!fields.has('path')) report(value.where, `${value.path} needs "path": the folder of the plugin package`)
  const installation = fields.word('installation')
  if (installation !== undefined && (!ENVIRONMENT_ID.test(installation.text) || installation.text === DEFAULT_INSTALLATION))
    fields.reject('installation', `must be 1 to 64 of A-Z a-z 0-9 _ -, and not "${DEFAULT_INSTALLATION}"`)
  const overlays = readOverlays(fields.section('mcpServers'), report)
  if (folder === undefined) return null
  return {
    source,
    path: folder.text,
    environment: fields.word('environment') ?? null,
    installationId: installation?.text ?? null,
    overlays,
    where: value.where,
  }
}

/** What is wrong with the policy of an overlay is told here, where it is written; it counts once the package is read. */
function readOverlays(section: ObjectValue | undefined, report: Report): ReadonlyMap<string, ObjectValue> {
  const overlays = new Map<string, ObjectValue>()
  if (section === undefined) return overlays
  reportDuplicates(section, report)
  for (const { name, value } of section.members) {
    const object = objectOf(value, report)
    if (object === undefined) continue
    readPolicy(overlayFields(object, report), DEFAULT_POLICY.trustAnnotations, report)
    overlays.set(name, object)
  }
  return overlays
}

/** The keys of an overlay; what says how a server is started is none. */
export function overlayFields(object: ObjectValue, report: Report): Fields {
  return new Fields(object, keysOf(OVERLAY), report, {
    onUnknown: ({ name, where, value }) =>
      report(
        where,
        `${value.path} cannot be set here: of a plugin package's server the host sets policy alone${didYouMean(name, keysOf(OVERLAY)) || `; known keys: ${keysOf(OVERLAY).join(', ')}`}`,
      ),
  })
}

/** The packages of all sources, with paths of their machines. */
export function choosePackages(
  drafts: readonly PackageDraft[],
  environments: ReadonlyMap<string, EnvironmentSpec>,
  report: Report,
): readonly PackageChoice[] {
  return drafts.flatMap(({ source, path: written, environment, installationId, overlays, where }) => {
    const environmentId = environment?.text ?? LOCAL
    const place = environments.get(environmentId)
    if (place === undefined) {
      const hint = didYouMean(environmentId, environments.keys()) || `; declared: ${[...environments.keys()].join(', ')}`
      report(environment?.where ?? where, `plugins: there is no environment ${quoted(environmentId)}${hint}`)
      return []
    }
    const here = runsHere(place.executor.kind)
    const folder = here ? path.resolve(source.folder, written) : path.posix.resolve(place.cwd, written)
    return [{ path: folder, environmentId, installationId, overlays, rank: source.rank, byUser: source.kind !== 'found', where }]
  })
}
