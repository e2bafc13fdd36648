/** How a server is started or reached, read from its definition. */
import path from 'node:path'
import type { Json, JsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { Launch } from '../servers/definition.ts'
import type { Expansion, Variables } from './expand.ts'
import { looksSecret, lookUp, refersToVariable } from './expand.ts'
import { readEnvFile } from './env-file.ts'
import { Fields } from '../documents/fields.ts'
import { ENV_VAR, HEADER_NAME, HTTP, STDIO, TYPES, VARIABLE_NAME, VARIABLE_SOURCES } from './keys.ts'
import { keysOf } from './shape.ts'
import type { Report, TextValue } from '../documents/value.ts'
import { kindName, quoted, reportDuplicates } from '../documents/value.ts'

export interface LaunchContext {
  /** absolute; the default `cwd`, and what a relative command or `cwd` is resolved against */
  readonly base: string
  /** of a plugin package: the folders in which its own paths must stay */
  readonly own?: readonly string[]
  /** true where the server runs on this machine */
  readonly here: boolean
  /** VS Code: a number in `env` is text, null is left out */
  readonly looseEnv: boolean
  readonly expansion: Expansion
  readonly variables: Variables
  readonly secrets: Secrets
  readonly report: Report
}

export interface ReadLaunch {
  readonly launch: Launch
  /** before expansion: what approvals are bound to */
  readonly template: Json
}

/** Stands in for a launch that could not be read; the registration carries the problem. */
export const NO_LAUNCH: ReadLaunch = Object.freeze({
  launch: Object.freeze({ type: 'stdio', command: '', args: [], env: {}, envVars: [], cwd: null }),
  template: null,
})

/** The launch of a definition; null where it is not said whether it is a process or a URL. */
export function readLaunch(fields: Fields, context: LaunchContext): ReadLaunch | null {
  const type = fields.choice('type', TYPES)
  const http = fields.has('url')
  if (http === fields.has('command')) {
    const { where, path: at } = fields.object
    context.report(
      where,
      http ? `${at} has both "command" and "url"; keep one` : `${at} needs "command" (a process) or "url" (an HTTP server)`,
    )
    return null
  }
  if (type !== undefined && (type === 'stdio') === http)
    fields.reject('type', `does not go with "${http ? 'url' : 'command'}"; leave it out`)
  for (const key of keysOf(http ? STDIO : HTTP)) {
    if (fields.has(key)) fields.reject(key, `belongs to servers with "${http ? 'command' : 'url'}"; take it out`)
  }
  return http ? readHttp(fields, context) : readStdio(fields, context)
}

function readStdio(fields: Fields, context: LaunchContext): ReadLaunch {
  const { base, here, own, looseEnv, expansion, secrets, report } = context
  const paths = here ? path : path.posix
  const written = fields.word('command')?.text ?? ''
  const args = (fields.texts('args') ?? []).map((arg) => arg.text)
  const env = readTexts(fields, 'env', report, looseEnv)
  const envVars = readEnvVars(fields, context)
  const cwd = fields.word('cwd')?.text ?? null
  const envFile = fields.word('envFile')?.text

  for (const [name, value] of env) {
    if (!/^[^=\0]+$/.test(name)) report(value.where, `${quoted(name)} is no name of a variable`)
    const expanded = expansion.text(value.text)
    if (looksSecret(name) && (expanded !== value.text || !refersToVariable(value.text))) secrets.add(expanded)
  }
  let command = expansion.text(written)
  if (written !== '' && command === '') fields.reject('command', 'is empty once its variables are filled in')
  const isPath = command.includes('/') || (paths === path.win32 && command.includes('\\'))
  // an absolute command is a program of the machine, as a name without a path is
  const isOwn = isPath && (!paths.isAbsolute(command) || /^\$\{(CLAUDE_)?PLUGIN_/.test(written))
  if (isPath && !paths.isAbsolute(command)) command = paths.resolve(base, command)
  const folder = cwd === null ? base : paths.resolve(base, expansion.text(cwd))
  if (own !== undefined) {
    if (isOwn) keepInside(fields, 'command', command, own, paths)
    if (cwd !== null) keepInside(fields, 'cwd', folder, own, paths)
  }
  return {
    launch: {
      type: 'stdio',
      command,
      args: args.map((arg) => expansion.text(arg)),
      env: {
        ...variablesOf(envFile, context),
        ...Object.fromEntries(env.map(([name, value]) => [name, expansion.text(value.text)])),
      },
      envVars,
      cwd: folder,
    },
    // the base is part of it: the same words in another folder start another program
    template: {
      type: 'stdio',
      command: written,
      args,
      cwd,
      base,
      env: Object.fromEntries(env.map(([name, value]) => [name, value.text])),
      envVars,
      ...(envFile !== undefined && { envFile }),
      ...filledIn(expansion),
    },
  }
}

/** A path of a plugin package that leaves its folders is a mistake. */
function keepInside(fields: Fields, key: string, target: string, own: readonly string[], paths: typeof path): void {
  if (own.some((folder) => isInside(folder, target, paths))) return
  fields.reject(key, `leaves the folder of the plugin package: ${target} is not in ${own[0] as string}; use a path in it`)
}

/** True for the folder itself and for what is below it, as the paths are written. */
function isInside(folder: string, target: string, paths: typeof path): boolean {
  const way = paths.relative(folder, target)
  return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way)
}

/** Names, or `{ name, source }` as Codex has it: a variable of the source `remote` is that of the other machine. */
function readEnvVars(fields: Fields, { here, variables, secrets, report }: LaunchContext): readonly string[] {
  const names: string[] = []
  for (const item of fields.list('envVars')?.items ?? []) {
    const entry = item.kind === 'object' ? new Fields(item, keysOf(ENV_VAR), report) : null
    if (entry !== null && !entry.has('name')) report(item.where, `${item.path} needs "name": the name of a variable`)
    if (item.kind !== 'text' && entry === null) report(item.where, `${item.path} must be the name of a variable, not ${kindName(item)}`)
    const name = item.kind === 'text' ? item : entry?.text('name')
    const isFarOnly = entry?.choice('source', VARIABLE_SOURCES) === 'remote' && !here
    if (name === undefined || !isVariableName(name, report) || isFarOnly) continue
    names.push(name.text)
    const value = looksSecret(name.text) ? lookUp(variables, name.text) : undefined
    if (value !== undefined) secrets.add(value)
  }
  return names
}

/** What the `envFile` of an editor says; all of it counts as secret. */
function variablesOf(envFile: string | undefined, { base, expansion, secrets }: LaunchContext): Readonly<Record<string, string>> {
  if (envFile === undefined) return {}
  const before = expansion.unmet
  const file = expansion.text(envFile)
  if (expansion.unmet > before) return {}
  const read = readEnvFile(path.resolve(base, file))
  if (typeof read === 'string') {
    // like a variable without a value: a server that is switched off may lack it
    expansion.problems.add(`its envFile cannot be used: ${read}`)
    return {}
  }
  for (const value of read.values()) secrets.add(value)
  return Object.fromEntries(read)
}

function readHttp(fields: Fields, { expansion, secrets, report }: LaunchContext): ReadLaunch {
  const url = fields.word('url')
  const written = readTexts(fields, 'httpHeaders', report)
  const fromVariables = readTexts(fields, 'envHttpHeaders', report).filter(([, name]) => isVariableName(name, report))
  const bearer = fields.word('bearerTokenEnvVar')

  const names = new Set<string>()
  const isHeader = (name: string, where: string): boolean => {
    if (!HEADER_NAME.test(name)) report(where, `${quoted(name)} is no name of a header`)
    else if (names.has(name.toLowerCase())) report(where, `the header ${quoted(name)} is set twice; take one out`)
    else {
      names.add(name.toLowerCase())
      return true
    }
    return false
  }
  const headers: [string, string][] = []
  for (const [name, value] of written) {
    const expanded = expansion.text(value.text)
    if (looksSecret(name) && (expanded !== value.text || !refersToVariable(value.text))) {
      secrets.add(expanded)
      secrets.add(expanded.replace(/^\w+ /, ''))
    }
    if (/[\r\n\0]/.test(expanded)) report(value.where, `the value of the header ${quoted(name)} has a line break; take it out`)
    else if (isHeader(name, value.where)) headers.push([name, expanded])
  }
  const envHeaders = fromVariables.filter(([name, { where }]) => isHeader(name, where)).map(([name, { text }]) => [name, text] as const)
  const bearerTokenEnvVar =
    bearer !== undefined && isVariableName(bearer, report) && isHeader('Authorization', bearer.where) ? bearer.text : null
  // looked up again at each start; here so that what is missing is told with the rest, and what is there is never shown
  for (const [, variable] of envHeaders) expansion.variable(variable)
  if (bearerTokenEnvVar !== null) expansion.variable(bearerTokenEnvVar)

  return {
    launch: {
      type: 'http',
      url: url === undefined ? '' : readUrl(url, expansion, secrets, report),
      headers: Object.fromEntries(headers),
      envHeaders: Object.fromEntries(envHeaders),
      bearerTokenEnvVar,
    },
    template: {
      type: 'http',
      url: url?.text ?? '',
      headers: Object.fromEntries(written.map(([name, value]) => [name, value.text])),
      envHeaders: Object.fromEntries(fromVariables.map(([name, variable]) => [name, variable.text])),
      bearerTokenEnvVar: bearer?.text ?? null,
      ...filledIn(expansion),
    },
  }
}

/** The same words mean another program in another folder, or with another default. */
function filledIn({ filled }: Expansion): { readonly filled?: JsonObject } {
  return filled.size === 0 ? {} : { filled: Object.fromEntries(filled) }
}

function readUrl(value: TextValue, expansion: Expansion, secrets: Secrets, report: Report): string {
  const before = expansion.unmet
  const expanded = expansion.text(value.text)
  // without its variables it need not be a URL yet, and the missing ones are reported
  if (expansion.unmet > before || (refersToVariable(value.text) && expanded === value.text)) return expanded
  const url = URL.canParse(expanded) ? new URL(expanded) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    report(value.where, `${value.path} must be an http:// or https:// URL`)
    return expanded
  }
  if (url.password !== '') {
    secrets.add(url.password)
    secrets.add(decoded(url.password))
  }
  for (const [name, parameter] of url.searchParams) if (looksSecret(name)) secrets.add(parameter)
  return expanded
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The members of an object of texts, each name once. */
function readTexts(fields: Fields, name: string, report: Report, loose = false): readonly (readonly [string, TextValue])[] {
  const object = fields.section(name)
  if (object === undefined) return []
  reportDuplicates(object, report)
  const entries = new Map<string, TextValue>()
  for (const { name: key, value } of object.members) {
    if (value.kind === 'text' && !value.text.includes('\0')) entries.set(key, value)
    else if (loose && value.kind === 'number' && value.exact) entries.set(key, { ...value, kind: 'text', text: String(value.number) })
    else if (!loose || value.kind !== 'null')
      report(
        value.where,
        `${value.path} must be text${value.kind === 'number' || value.kind === 'boolean' ? '; put it between quotes' : ''}`,
      )
  }
  return [...entries]
}

function isVariableName(value: TextValue, report: Report): boolean {
  if (VARIABLE_NAME.test(value.text)) return true
  report(value.where, `${value.path} must be the bare name of a variable, without \${}`)
  return false
}
