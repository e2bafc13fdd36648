/** The names that command hooks know a call by. */
import type { CallView } from '../../hooks/call-view.ts'
import type { CallNames } from './matcher.ts'

/** Requests that a model makes by a tool, and that hooks see under its name. */
export const HOOKED_METHODS = ['tools/call', 'resources/read', 'resources/list', 'resources/templates/list'] as const
export type HookedCall = CallView<(typeof HOOKED_METHODS)[number]>

/** True for calls that hooks see. */
export const isHooked = (call: CallView): call is HookedCall => (HOOKED_METHODS as readonly string[]).includes(call.method)

const RESOURCE_TOOLS: Readonly<Record<Exclude<HookedCall['method'], 'tools/call'>, string>> = {
  'resources/read': 'read_mcp_resource',
  'resources/list': 'list_mcp_resources',
  'resources/templates/list': 'list_mcp_resource_templates',
}

/** How servers without an environment are written in `server:NAME@ENV`. */
const THREAD_WIDE = 'thread-wide'

export function callNames(call: HookedCall): CallNames {
  const { name, environmentId } = call.owner
  const tool = call.method === 'tools/call' ? call.tool : RESOURCE_TOOLS[call.method]
  const at = `${name}@${environmentId ?? THREAD_WIDE}`
  return {
    names: call.method === 'tools/call' ? call.names : [tool, `mcp__${name}__${tool}`],
    keys: [`${at}/${tool}`, `${name}/${tool}`, at, name],
  }
}
