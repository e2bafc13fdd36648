/** Puts the environments of all sources together: a stronger one replaces a weaker one whole, but no project file touches what the user declared. */
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { EnvironmentSpec } from '../servers/environment.ts'
import { LOCAL } from '../servers/environment.ts'
import type { EnvironmentDraft } from './environments.ts'
import { didYouMean } from '../documents/fields.ts'
import type { Sections } from './sections.ts'
import type { Member, Report } from '../documents/value.ts'
import { quoted } from '../documents/value.ts'

/** The environments that count, in the order in which their ids were declared first; the implicit `local` is last. */
export function mergeEnvironments(
  sources: readonly Sections[],
  { cwd, report, diagnose }: { readonly cwd: string; readonly report: Report; readonly diagnose: (diagnostic: Diagnostic) => void },
): { readonly specs: ReadonlyMap<string, EnvironmentSpec>; readonly drafts: ReadonlySet<EnvironmentDraft> } {
  const counted = new Map<string, EnvironmentDraft>()
  const ofUser = new Map(
    sources
      .filter(({ source }) => source.kind === 'user')
      .flatMap(({ environments }) => environments.map(({ spec }) => [spec.id, spec.where])),
  )
  const governed = userServersOnLocal(sources)
  for (const { source, environments } of sources) {
    for (const draft of environments) {
      const { id, where } = draft.spec
      const owner = ofUser.get(id)
      if (source.kind === 'found' && owner !== undefined) {
        report(
          where,
          `the environment "${id}" is declared in the user's file (${owner}), and a project file cannot change it; choose another id`,
        )
        continue
      }
      if (source.kind === 'found' && id === LOCAL && draft.governs && governed !== null) {
        report(
          where,
          `the environment "${LOCAL}" governs servers of the user's file (${governed.where}), and a project file cannot change it; choose another id`,
        )
        continue
      }
      const earlier = counted.get(id)
      if (earlier !== undefined) diagnose(replaced(earlier, draft))
      counted.set(id, draft)
    }
  }
  const specs = new Map([...counted].map(([id, draft]) => [id, draft.spec]))
  if (!specs.has(LOCAL)) specs.set(LOCAL, implicitLocal(cwd))
  return { specs, drafts: new Set(counted.values()) }
}

/** The ids that a session works with: the strongest selection, else all that are declared, else `local`. */
export function selectEnvironments(
  sources: readonly Sections[],
  environments: ReadonlyMap<string, EnvironmentSpec>,
  report: Report,
): readonly string[] {
  const selected = sources.findLast((source) => source.selected !== null)?.selected
  if (!selected) {
    const declared = [...environments.values()].filter((spec) => spec.where !== IMPLICIT).map((spec) => spec.id)
    return declared.length === 0 ? [LOCAL] : declared
  }
  const ids = new Set<string>()
  for (const { text, where } of selected.ids) {
    if (!environments.has(text)) {
      report(
        where,
        `selectedEnvironments: there is no environment ${quoted(text)}${didYouMean(text, environments.keys()) || `; declared: ${[...environments.keys()].join(', ')}`}`,
      )
    } else if (ids.has(text)) report(where, `selectedEnvironments: "${text}" is there twice; take one out`)
    ids.add(text)
  }
  return [...ids]
}

/** `where` of the `local` that nobody declared. */
const IMPLICIT = 'default'

function implicitLocal(cwd: string): EnvironmentSpec {
  return {
    id: LOCAL,
    executor: { kind: LOCAL, options: {} },
    cwd,
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: IMPLICIT,
  }
}

/** A server of the user's file that `local` governs, or null: then `local` is as good as the user's. */
function userServersOnLocal(sources: readonly Sections[]): Member | null {
  for (const { source, servers } of sources) {
    if (source.kind !== 'user') continue
    const found = servers.find(({ value }) => value.kind !== 'object' || !value.members.some((member) => member.name === 'environment'))
    if (found !== undefined) return found
  }
  return null
}

function replaced(weaker: EnvironmentDraft, stronger: EnvironmentDraft): Diagnostic {
  const { id, where } = stronger.spec
  const servers = weaker.servers.map((server) => server.name)
  return {
    code: 'environment_replaced',
    severity: 'info',
    message: `the environment "${id}" of ${weaker.spec.where} is replaced by that of ${where}${servers.length === 0 ? '' : `, with its servers (${servers.map(quoted).join(', ')})`}`,
    where,
  }
}
