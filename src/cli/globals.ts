/** The options that every command takes, before or after its name. */
import type { FlagValue } from '../flags/flag.ts'
import { TaplineError } from '../errors.ts'
import type { FlagOptions } from '../runtime/flag-options.ts'

/** What the global options of one command line say. */
export interface Globals {
  /** files of --config, as given */
  readonly config: readonly string[]
  /** flags of --enable, --disable and --flag; the last one of a name wins */
  readonly flags: Readonly<Record<string, FlagValue>>
  /** --targeting-key, or null */
  readonly targetingKey: string | null
  /** one JSON document on stdout */
  readonly json: boolean
  /** no progress, no diagnostics */
  readonly quiet: boolean
  /** false: --no-color or NO_COLOR */
  readonly color: boolean
}

/** What the global options say, for a runtime. */
export function flagOptions({ flags, targetingKey }: Pick<Globals, 'flags' | 'targetingKey'>): FlagOptions {
  return { override: flags, ...(targetingKey !== null && { evaluationContext: { targetingKey } }) }
}

/** `NAME=VALUE` as name and text; what the text means is up to the flag. Throws CLI_USAGE. */
export function parseFlag(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new TaplineError('CLI_USAGE', `--flag ${text}: there is no value`, { remedy: 'Write it as --flag NAME=VALUE.' })
  return [text.slice(0, at), text.slice(at + 1)]
}

/** True where --json stands among the options: needed before the command line is understood. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}
