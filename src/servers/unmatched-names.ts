/** Names in the lists of a policy that fit no tool. */
import { nearest } from '../nearest.ts'
import type { ServerPolicy } from './definition.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { ServerKey } from './key.ts'

/** Names that are shown. */
const TOLD = 5

/** One `unmatched_tool_name` diagnostic where a list names tools that the server does not list: a pattern, a visible name or a misspelt one switches nothing on or off. Null where all fit. */
export function unmatchedNames(owner: ServerKey, policy: ServerPolicy, tools: ReadonlyMap<string, unknown>): Diagnostic | null {
  const lists: readonly (readonly [string, Iterable<string>])[] = [
    ['enabledTools', policy.enabledTools ?? []],
    ['disabledTools', policy.disabledTools],
    ['tools', policy.toolApprovalModes.keys()],
  ]
  const found = lists.flatMap(([list, names]) =>
    [...names]
      .filter((name) => !tools.has(name))
      .map((name) => {
        const meant = nearest(name, tools.keys())
        return `${JSON.stringify(name)} in ${list}${meant === null ? '' : ` (did you mean ${JSON.stringify(meant)}?)`}`
      }),
  )
  if (found.length === 0) return null
  const more = found.length > TOLD ? ` and ${found.length - TOLD} more` : ''
  const message = `${owner}: no tool is named ${found.slice(0, TOLD).join(', ')}${more}; names are exact and raw, without patterns`
  return { code: 'unmatched_tool_name', severity: 'warning', message, owner }
}
