/** The servers of servers.json as they are installed, and how each is started. `npm run test:real` installs them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What a server of servers.json is known to do, to a client that declares no capability. */
export interface RealServer {
  readonly name: string
  readonly package: string
  readonly version: string
  /** `{modules}`: node_modules of the install; `{folder}`: the folder above; `{data}`: a folder for this server */
  readonly command: readonly string[]
  /** default `{data}` */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** limit of its start; left out: 90, for slow machines */
  readonly startupTimeoutSec?: number
  /** with a network it may do more than this */
  readonly network?: boolean
  /** written into `{data}` before the start */
  readonly files?: Readonly<Record<string, string>>
  readonly expect: {
    readonly runtimeStatus: 'connected' | 'failed'
    /** why it fails; a regular expression for its message */
    readonly error?: { readonly code: string; readonly message: string }
    readonly protocol?: string
    readonly serverInfo?: { readonly name: string; readonly version: string }
    readonly capabilities?: readonly string[]
    readonly tools?: number
    readonly resources?: number
    readonly resourceTemplates?: number
    readonly prompts?: number
  }
}

/** name → the file that starts it */
const scripts = JSON.parse(process.env['TAPLINE_REAL_SERVERS'] ?? '{}') as Readonly<Record<string, string>>

/** The servers that run on this platform; other programs of the list have no `expect`. */
export const REAL_SERVERS: readonly RealServer[] = (
  JSON.parse(readFileSync(new URL('servers.json', import.meta.url), 'utf8')) as RealServer[]
).filter(({ name, expect }) => scripts[name] !== undefined && expect !== undefined)

interface Definition {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly startupTimeoutSec: number
}

/** An entry of `mcpServers` that starts the server with `{data}` below `place`, and makes that folder. */
export function realServer(name: string, place: string, more: Readonly<Record<string, string>> = {}): Definition {
  const entry = REAL_SERVERS.find((one) => one.name === name)
  const folder = scripts[name]?.split(`${path.sep}node_modules${path.sep}`)[0]
  if (entry === undefined || folder === undefined) throw new Error('run these tests with `npm run test:real`, which installs the servers')
  const data = path.join(place, 'data', name)
  mkdirSync(data, { recursive: true })
  const places: Readonly<Record<string, string>> = { folder, modules: path.join(folder, 'node_modules'), data }
  const fill = (text: string): string => text.replaceAll(/\{(folder|modules|data)\}/g, (_, word: string) => places[word]!)
  for (const [file, text] of Object.entries(entry.files ?? {})) writeFileSync(path.join(data, file), fill(text))
  const [command, ...args] = entry.command.map(fill) as [string, ...string[]]
  const env = Object.fromEntries(Object.entries(entry.env ?? {}).map(([variable, value]) => [variable, fill(value)]))
  return { command, args, cwd: fill(entry.cwd ?? '{data}'), env: { ...env, ...more }, startupTimeoutSec: entry.startupTimeoutSec ?? 90 }
}
