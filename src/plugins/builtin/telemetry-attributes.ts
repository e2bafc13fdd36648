/** Names and values of the semantic conventions for MCP and GenAI (open-telemetry/semantic-conventions-genai, in development), and a few of ours. */
import type { Attributes } from '@opentelemetry/api'
import type { CallView } from '../../hooks/call-view.ts'
import type { CallOutcome } from '../../hooks/outcome.ts'
import type { Method } from '../../mcp.ts'
import type { ServerKey } from '../../servers/key.ts'

/** The boundaries that the conventions name, in seconds. */
export const DURATION_BUCKETS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** What a call is about: few values, fit for metrics. `tool` is what the outcome knows where no call came about. */
export function subject(method: Method, call: CallView | null, tool: string | null): Attributes {
  const prompt = call?.method === 'prompts/get' ? call.prompt : null
  const name = call?.method === 'tools/call' ? call.tool : tool
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(name !== null && { 'gen_ai.tool.name': name }),
    ...(prompt !== null && { 'gen_ai.prompt.name': prompt }),
  }
}

/** `{method} {target}`, where the target has few values. */
export function spanName(about: Attributes): string {
  const { 'mcp.method.name': method, 'gen_ai.tool.name': tool, 'gen_ai.prompt.name': prompt } = about as Readonly<Record<string, string>>
  return [method, tool ?? prompt].filter(Boolean).join(' ')
}

/** Whose the call is. The conventions have no words for it. */
export function ownerAttributes({ name, environmentId, installationId }: ServerKey): Attributes {
  return {
    'tapline.server.name': name,
    ...(environmentId !== null && { 'tapline.environment.id': environmentId }),
    ...(installationId !== null && { 'tapline.installation.id': installationId }),
  }
}

/** How a call ended; `error.type` is there exactly where it failed. */
export function endAttributes(outcome: CallOutcome<Method>): Attributes {
  const { rpcError } = outcome as { readonly rpcError?: { readonly code: number } }
  const error = rpcError === undefined ? errorType(outcome) : String(rpcError.code)
  return {
    'tapline.outcome': outcome.outcome,
    ...(error !== null && { 'error.type': error }),
    ...(rpcError !== undefined && { 'rpc.response.status_code': String(rpcError.code) }),
  }
}

function errorType(outcome: CallOutcome<Method>): string | null {
  if (outcome.outcome !== 'completed') return outcome.code
  return 'isError' in outcome.result && outcome.result.isError === true ? 'tool_error' : null
}
