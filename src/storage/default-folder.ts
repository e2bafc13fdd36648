/** Where the file store is when nobody says otherwise. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** `$XDG_STATE_HOME/tapline`, by default `~/.local/state/tapline`; a relative $XDG_STATE_HOME counts as unset, as the XDG rules say. */
export function defaultStoreFolder(variables: Readonly<Record<string, string | undefined>> = process.env): string {
  const state = variables.XDG_STATE_HOME
  return join(state && isAbsolute(state) ? state : join(variables.HOME || homedir(), '.local', 'state'), 'tapline')
}
