/** `commandHooks`: the hooks of a hooks.json (or .toml) as a hook plugin, for code. */
import type { HookPlugin } from '../../hooks/plugin.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'

/** Where the hooks are, and what is said of all of them. */
export type CommandHooksOptions = {
  /** of hooks that do not say it; `continue`: a hook that fails lets the call go on. Default `block` */
  readonly onFailure?: 'block' | 'continue'
  /** names of variables of this process that hooks get beside the short list; their values count as secrets */
  readonly env?: readonly string[]
  /** gets what is worth knowing of the file: events that are not run, keys that are not known */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
} & (
  | {
      /** JSON, or TOML by its name; a relative path is one of the working directory */ readonly file: string
      readonly hooks?: never
      readonly cwd?: never
    }
  | {
      /** what a file has: event → groups, or `{ hooks: … }` around it */
      readonly hooks: object
      readonly file?: never
      /** where the hooks run; default: the working directory */
      readonly cwd?: string
    }
)

/** Reads the hooks and gives their plugin. A host that names them trusts them by that. Rejects with CONFIG_NOT_FOUND, CONFIG_INVALID with every mistake, CALL_INVALID_REQUEST for options that are none. */
export async function commandHooks(options: CommandHooksOptions): Promise<HookPlugin> {
  const { openCommandHooks } = await import('./open-command-hooks.ts')
  return openCommandHooks(options)
}
