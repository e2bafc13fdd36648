/** What `apply` of a plugin is told of the session that its taps are for. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { HookPorts } from '../hooks/plugin.ts'
import type { Secrets } from '../secrets.ts'

/** The facts about one session, frozen. */
export function sessionFacts(
  session: { readonly id: string; readonly selected: readonly string[]; readonly secrets: Pick<Secrets, 'redactJson'> },
  flags: CapturedFlags,
  signal: AbortSignal,
): HookPorts['session'] {
  const { id, selected, secrets } = session
  return Object.freeze({ id, environmentIds: selected, flags, signal, redact: (value) => secrets.redactJson(value) })
}
