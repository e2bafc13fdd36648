/** What a command hook reads from its standard input. */
import { isTaplineError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { callNames, type HookedCall } from './call-names.ts'
import type { HookEvent } from './definition.ts'

/** What is known of the end of the call, for the events after it. */
export type CallEnd = { readonly result: JsonObject } | { readonly error: unknown; readonly isInterrupt?: boolean }

/** One JSON document and a line end. */
export function hookInput(event: HookEvent, call: HookedCall, end: CallEnd | null): string {
  const { owner, authority } = call
  const input: Record<string, Json> = {
    session_id: call.sessionId,
    cwd: authority.cwd,
    hook_event_name: event,
    permission_mode: authority.approvalPolicy === 'never' ? 'bypassPermissions' : 'default',
    tool_name: callNames(call).names[0] ?? '',
    tool_input: call.arguments,
    tool_use_id: call.id,
    mcp_server: {
      name: owner.name,
      environment_id: owner.environmentId,
      installation_id: owner.installationId,
      key: String(owner),
      plugin_id: call.pluginId,
    },
  }
  if (end !== null) {
    input['tool_response'] = responseOf(end)
    if (event === 'PostToolUseFailure') {
      input['error'] = errorOf(end)
      input['is_interrupt'] = 'error' in end && end.isInterrupt === true
    }
  }
  return `${JSON.stringify(input)}\n`
}

/** The result as it is; an error in the place of one, as a result. */
function responseOf(end: CallEnd): Json {
  return 'result' in end ? end.result : { content: [{ type: 'text', text: errorOf(end) }], isError: true }
}

function errorOf(end: CallEnd): string {
  if ('error' in end) return isTaplineError(end.error) ? `${end.error.code}: ${end.error.message}` : 'the call failed'
  const content = end.result['content']
  const texts = Array.isArray(content)
    ? content.flatMap((block: Json) =>
        typeof (block as JsonObject)?.['text'] === 'string' ? [(block as JsonObject)['text'] as string] : [],
      )
    : []
  return texts.join('\n') || 'the tool answered with an error'
}
