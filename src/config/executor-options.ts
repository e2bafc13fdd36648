/** Options of the executors that every runtime knows, checked where they are written. */
import { homedir } from 'node:os'
import path from 'node:path'
import type { Json, JsonObject } from '../json.ts'
import type { Expansion } from './expand.ts'
import { Fields } from '../documents/fields.ts'
import type { ObjectValue, Report } from '../documents/value.ts'

/** Kind → its options. */
const OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['exec-server', ['url', 'bearerTokenEnvVar']],
  ['command', ['prefix', 'shell', 'envVars']],
  ['ssh', ['host', 'user', 'port', 'configFile']],
])

export interface OptionsContext {
  /** what relative paths of this machine belong to */
  readonly folder: string
  readonly expansion: Expansion
  readonly report: Report
}

/** The options of a kind, or undefined for kinds that check their options themselves. */
export function optionsOf(kind: string): readonly string[] | undefined {
  return OPTIONS.get(kind)
}

/** Reads the options of `exec-server`, `command` or `ssh`; `${VAR}` is expanded. */
export function readExecutorOptions(kind: string, object: ObjectValue, context: OptionsContext): JsonObject {
  const fields = new Fields(object, OPTIONS.get(kind) ?? [], context.report, { snakeCase: true })
  const read = kind === 'exec-server' ? readExecServer : kind === 'command' ? readCommand : readSsh
  const options = Object.entries(read(fields, context)).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return Object.fromEntries(options)
}

type Options = Readonly<Record<string, Json | undefined>>

function readExecServer(fields: Fields, { expansion, report }: OptionsContext): Options {
  const url = expanded(fields, 'url', expansion)
  if (url === undefined) {
    if (!fields.has('url'))
      report(fields.object.where, `${fields.object.path}: the executor "exec-server" needs "url", such as "ws://127.0.0.1:4500"`)
  } else if (!URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol)) fields.reject('url', 'must be a ws:// or wss:// URL')
  else if (new URL(url).username !== '' || new URL(url).hash !== '')
    fields.reject('url', 'may have no user and no fragment; name the variable of the token with "bearerTokenEnvVar"')
  const variable = fields.word('bearerTokenEnvVar')?.text
  if (variable !== undefined && !/^[^=\0\s${}]+$/.test(variable))
    fields.reject('bearerTokenEnvVar', 'must be the bare name of a variable, without ${}')
  // its value is read when the executor is connected; it must not be shown before
  else if (variable !== undefined) expansion.variable(variable)
  return { url, bearerTokenEnvVar: variable }
}

function readCommand(fields: Fields, { expansion, folder, report }: OptionsContext): Options {
  const prefix = (fields.texts('prefix') ?? []).map((part) => expansion.text(part.text))
  const [program] = prefix
  if (program === undefined && !fields.has('prefix'))
    report(
      fields.object.where,
      `${fields.object.path}: the executor "command" needs "prefix", such as ["docker", "exec", "-i", "NAME"]: what carries a command to the other side`,
    )
  else if (program === undefined || program === '') fields.reject('prefix', 'must begin with a program')
  else if (/[\\/]/.test(program)) prefix[0] = path.resolve(folder, program)
  return { prefix, shell: fields.boolean('shell'), envVars: fields.texts('envVars')?.map((name) => name.text) }
}

function readSsh(fields: Fields, { expansion, folder, report }: OptionsContext): Options {
  const host = expanded(fields, 'host', expansion)
  const user = expanded(fields, 'user', expansion)
  const configFile = expanded(fields, 'configFile', expansion)
  if (host === undefined && !fields.has('host')) report(fields.object.where, `${fields.object.path}: the executor "ssh" needs "host"`)
  for (const [name, value] of [
    ['host', host],
    ['user', user],
  ] as const) {
    // it would be an option of ssh, and options can start programs
    if (value !== undefined && !/^[^-\s\p{Cc}][^\s\p{Cc}]*$/u.test(value))
      fields.reject(name, 'must be one word that does not begin with "-"')
  }
  return {
    host,
    user,
    port: fields.whole('port', { least: 1, most: 65_535 }),
    configFile: configFile && (/^~[\\/]/.test(configFile) ? path.join(homedir(), configFile.slice(2)) : path.resolve(folder, configFile)),
  }
}

function expanded(fields: Fields, name: string, expansion: Expansion): string | undefined {
  const written = fields.word(name)?.text
  if (written === undefined) return undefined
  const before = expansion.missing.size
  const text = expansion.text(written)
  if (expansion.missing.size > before)
    fields.reject(
      name,
      `needs variables that are not set: ${[...expansion.missing].slice(before).join(', ')}; set them, or write \${NAME:-default}`,
    )
  return text
}
