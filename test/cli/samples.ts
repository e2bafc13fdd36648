/** Outcomes, tools and questions as the runtime gives them, for the tests of what is printed. */
import type { CallOutcome } from '../../src/hooks/outcome.ts'
import type { CallTrace } from '../../src/hooks/trace.ts'
import type { ApprovalQuestion, ResourceItem, ServerStatus, Tool } from '../../src/runtime/types.ts'
import { KeyRegistry } from '../../src/servers/key.ts'
import type { KeyParts, ServerKey } from '../../src/servers/key.ts'

const keys = new KeyRegistry()

export function key(name: string, environmentId: string | null = null, installationId: string | null = null): ServerKey {
  const parts: KeyParts = { name, environmentId, installationId }
  return keys.intern(parts)
}

export const trace = (text = 'x'): CallTrace => ({
  candidates: [key(text, 'a')],
  taps: [
    {
      hook: 'resolve',
      tap: text,
      plugin: text,
      mode: 'enforce',
      decision: 'rewrite',
      inEffect: true,
      reason: text,
      changedArguments: true,
      durationMs: 1.25,
    },
  ],
  shadow: [{ plugin: text, wouldHave: ['refused'] }],
  notes: [{ hook: 'resolve', tap: text, plugin: text, text }],
  approval: { source: 'mode', waitedMs: 0 },
  metaKeys: [{ key: text, by: text }],
  connection: { id: text, reused: true },
  flags: [{ flagKey: text, value: text, reason: 'DEFAULT', source: 'default' }],
  timingsMs: { resolve: 1, server: 12 },
})

/** One outcome of every kind; `text` stands wherever a server, a model, a hook or a file could have put it. */
export function outcomes(text = 'x'): { [K in CallOutcome['outcome']]: Extract<CallOutcome, { outcome: K }> } {
  const ended = {
    callId: 'c1',
    owner: key(text, 'a'),
    tool: null,
    durationMs: 5,
    sent: 'no' as const,
    forModel: { text, isError: true, content: [] },
    trace: trace(text),
  }
  const failed = { ...ended, message: `message ${text}`, remedy: `remedy ${text}` }
  return {
    completed: {
      ...ended,
      sent: 'yes',
      outcome: 'completed',
      code: 'OK',
      result: { content: [{ type: 'text', text }], future: { keep: true } },
    },
    refused: { ...failed, outcome: 'refused', code: 'CALL_REFUSED', by: 'tap', reason: text },
    no_approver: { ...failed, outcome: 'no_approver', code: 'CALL_NO_APPROVER' },
    cancelled: { ...failed, outcome: 'cancelled', code: 'CALL_CANCELLED', by: 'host' },
    timed_out: { ...failed, sent: 'unknown', outcome: 'timed_out', code: 'CALL_TIMED_OUT', phase: 'dispatch', limitMs: 5 },
    ownership_violation: {
      ...failed,
      outcome: 'ownership_violation',
      code: 'HOOK_CHANGED_OWNER',
      hook: 'resolve',
      tap: text,
      plugin: text,
      key: 'server',
    },
    authority_changed: { ...failed, outcome: 'authority_changed', code: 'CALL_AUTHORITY_CHANGED', what: 'permissions' },
    server_failed: { ...failed, sent: 'yes', outcome: 'server_failed', code: 'SERVER_FAILED', rawResult: { a: text } },
    result_withheld: { ...failed, sent: 'yes', outcome: 'result_withheld', code: 'HOOK_FAILED', hook: 'dispatch', tap: text },
    invalid_request: {
      ...failed,
      owner: null,
      outcome: 'invalid_request',
      code: 'AMBIGUOUS_SERVER',
      candidates: [key(text, 'a'), key(text, 'b')],
    },
  }
}

export const tool = (text = 'x'): Tool => ({
  name: text,
  namespace: text,
  nameInNamespace: text,
  namespaceDescription: text,
  owner: key(text, 'a', text),
  tool: text,
  title: text,
  description: text,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  approval: 'prompt',
  cached: false,
  raw: { name: text },
})

export const statusRow = (text = 'x'): ServerStatus => ({
  owner: key(text, 'a'),
  runtimeStatus: 'failed',
  authStatus: 'unsupported',
  provenance: [text],
  pluginId: null,
  httpOrigin: null,
  protocolVersion: text,
  serverInfo: { name: text },
  capabilities: {},
  tools: [tool(text)],
  resources: [{ uri: text }],
  resourceTemplates: [],
  prompts: null,
  error: { code: 'SERVER_START_FAILED', message: text, remedy: text },
  startedAt: null,
  startMs: null,
  pid: 7,
})

export const resource = (text = 'x', owner: ServerKey = key(text, 'a', 'i')): ResourceItem => ({
  owner,
  uri: text,
  name: text,
  title: text,
  description: text,
  mimeType: text,
  raw: { uri: text, name: text, server: 'forged', environment_id: 'forged', future: 1 },
})

export const question = (text = 'x'): ApprovalQuestion => ({
  id: 'q1',
  callId: 'c1',
  sessionId: 's1',
  owner: key(text, 'a'),
  environmentId: text,
  permissions: { type: 'workspace-write', writableRoots: [text] },
  tool: text,
  title: `title ${text}`,
  description: text,
  annotations: { destructiveHint: true },
  arguments: { [text]: text, list: [text, 1] },
  changes: [],
  canRemember: ['session'],
  notes: [{ plugin: text, question: text }],
})
