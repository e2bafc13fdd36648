/** The naming scheme `codex`: exactly the names that Codex 0.171 shows. They depend on everything that is offered together. */
import { createHash } from 'node:crypto'
import type { KeyParts } from './key.ts'
import type { ToolName } from './naming-scheme.ts'

/** Characters of namespace and tool together. */
const LONGEST = 126
/** Hex digits of a hash, and the underscore in front of them. */
const SUFFIX = 13

export interface CodexNamingOptions {
  /** false: the environment of a server is not shown, and does not count */
  readonly scoped: boolean
  /** false: namespaces do not begin with `mcp__` */
  readonly prefixed: boolean
}

interface Offered {
  readonly owner: KeyParts
  /** raw name */
  readonly tool: string
}

/** The same tools with their names, in the order in which Codex offers them; a tool given twice comes once. */
export function codexNames<T extends Offered>(tools: Iterable<T>, options: CodexNamingOptions): readonly (T & ToolName)[] {
  const rows = new Map<string, Row<T>>()
  for (const item of tools) {
    const row = new Row(item, options)
    if (!rows.has(row.identity)) rows.set(row.identity, row)
  }
  // byte order decides who keeps a name that two would have
  const sorted = [...rows.values()].sort((a, b) => Buffer.compare(a.order, b.order))
  hashCollisions(
    sorted,
    (row) => row.namespace,
    (row) => row.server,
    (row) => (row.namespace = withNamespaceHash(row.namespace, row.server)),
  )
  hashCollisions(
    sorted,
    (row) => `${row.server}\0${row.shown}`,
    (row) => row.identity,
    (row) => (row.shown = `${row.shown}_${hash(row.identity)}`),
  )
  const used = new Set<string>()
  for (const row of sorted) fit(row, used)
  return inOrder(sorted).map(({ item, namespace, shown }) => ({
    ...item,
    namespace,
    nameInNamespace: shown,
    name: `${namespace}__${shown}`,
  }))
}

/** The namespace of a server that collides with no other. */
export function codexNamespace({ name, environmentId, installationId }: KeyParts, { scoped, prefixed }: CodexNamingOptions): string {
  const cleaned = clean(name)
  if (scoped && (environmentId !== null || installationId !== null)) {
    const scope = [environmentId ?? '', ...(installationId === null ? [] : [installationId])].join('\0')
    return `${prefixed ? 'mcp__' : ''}${hash(scope)}__${cleaned}`
  }
  return prefixed && !cleaned.startsWith('mcp__') ? `mcp__${cleaned}` : cleaned
}

class Row<T extends Offered> {
  readonly item: T
  /** of the server */
  readonly server: string
  /** of the tool */
  readonly identity: string
  readonly order: Buffer
  namespace: string
  shown: string

  constructor(item: T, options: CodexNamingOptions) {
    const { owner, tool } = item
    this.item = item
    this.server = `${identityOf(owner, options.scoped)}\0${owner.name}\0`
    this.identity = `${this.server}\0${tool}\0${tool}`
    this.order = Buffer.from(this.identity)
    this.namespace = codexNamespace(owner, options)
    this.shown = clean(tool)
  }
}

function identityOf({ name, environmentId, installationId }: KeyParts, scoped: boolean): string {
  if (!scoped || (environmentId === null && installationId === null)) return name
  return JSON.stringify(installationId === null ? [environmentId, name] : [environmentId, installationId, name])
}

/** Where several identities share a form, all of them get a hash. */
function hashCollisions<R>(rows: readonly R[], form: (row: R) => string, identity: (row: R) => string, change: (row: R) => void): void {
  const identities = new Map<string, Set<string>>()
  for (const row of rows) {
    const known = identities.get(form(row))
    if (known) known.add(identity(row))
    else identities.set(form(row), new Set([identity(row)]))
  }
  for (const row of rows.filter((one) => (identities.get(form(one))?.size ?? 0) > 1)) change(row)
}

function withNamespaceHash(namespace: string, server: string): string {
  return namespace.endsWith('__') ? `${namespace.slice(0, -2)}_${hash(server)}__` : `${namespace}_${hash(server)}`
}

/** Cuts what is too long, and tells apart what would read the same without a separator. */
function fit(row: Row<Offered>, used: Set<string>): void {
  const isFree = (): boolean => row.namespace.length + row.shown.length <= LONGEST && !used.has(row.namespace + row.shown)
  const { namespace, shown } = row
  for (let attempt = 0; !isFree(); attempt++) {
    row.namespace = namespace.slice(0, LONGEST - SUFFIX)
    const digest = hash(attempt === 0 ? row.identity : `${row.identity}\0${attempt}`)
    row.shown = `${shown.slice(0, LONGEST - SUFFIX - row.namespace.length)}_${digest}`
  }
  used.add(row.namespace + row.shown)
}

/** Namespaces by their first tool, servers inside one likewise, tools by the name that is shown. */
function inOrder<T extends Offered>(rows: readonly Row<T>[]): readonly Row<T>[] {
  const groups = new Map<string, Row<T>[]>()
  for (const row of rows) {
    const key = `${row.namespace}\0${row.server}`
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return [...groups.values()].flatMap((group) => group.sort((a, b) => Buffer.compare(Buffer.from(a.shown), Buffer.from(b.shown))))
}

/** Each code point outside of the set becomes one underscore; nothing becomes one too. */
const clean = (text: string): string => text.replace(/[^A-Za-z0-9_]/gu, '_') || '_'
const hash = (text: string): string => createHash('sha1').update(text).digest('hex').slice(0, 12)
