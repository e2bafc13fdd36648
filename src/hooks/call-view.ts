/** What a tap sees of a call: the types. The objects behind them are in tap-view.ts. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { JsonObject } from '../json.ts'
import type { Method, ToolAnnotations } from '../mcp.ts'
import type { ApprovalMode } from '../servers/definition.ts'
import type { ApprovalPolicy, PermissionProfile } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'

/** What the call may rely on, captured when it was resolved. */
export interface Authority {
  /** the environment whose permissions count: the owner's; for a thread-wide server the one where it executes */
  readonly environmentId: string
  /** a replaced environment has another one */
  readonly environmentInstanceId: string
  readonly cwd: string
  /** null: not set */
  readonly permissions: PermissionProfile | null
  readonly approvalPolicy: ApprovalPolicy
  readonly flags: CapturedFlags
  readonly catalogGeneration: number
  /** digest of the tool's definition; the empty string for methods without a tool */
  readonly definitionDigest: string
}

/** The question that the policy would put to a person. */
export interface PolicyQuestion {
  /** the approval mode that asks */
  readonly mode: ApprovalMode
  readonly text: string
}

interface Common<M extends Method> {
  /** stable from resolve to settled, unique in the runtime: the key for state of your own */
  readonly id: string
  readonly method: M
  /** compare with `owner.equals(other)` */
  readonly owner: ServerKey
  readonly authority: Authority
  readonly sessionId: string
  /** what the policy would ask, or null; only tool calls are ever asked about */
  readonly question: PolicyQuestion | null
  /** deeply frozen on first read */
  readonly arguments: JsonObject
  /** id of the plugin package that brings the server, or null */
  readonly pluginId: string | null
}
export interface ToolCall extends Common<'tools/call'> {
  /** raw name, as the server calls it */
  readonly tool: string
  /** what the server says of the tool, believed or not */
  readonly annotations: ToolAnnotations
  /** whether the host believes the annotations (`trustAnnotations` of the server) */
  readonly annotationsTrusted: boolean
  readonly title: string
  /** the visible name first, then the others by which a guard may know the tool, `mcp__<server>__<tool>` among them: the same whatever flags are set */
  readonly names: readonly string[]
}
export interface ResourceReadCall extends Common<'resources/read'> {
  readonly uri: string
}
export interface PromptGetCall extends Common<'prompts/get'> {
  readonly prompt: string
}

interface CallByMethod {
  readonly 'tools/call': ToolCall
  readonly 'resources/list': Common<'resources/list'>
  readonly 'resources/templates/list': Common<'resources/templates/list'>
  readonly 'resources/read': ResourceReadCall
  readonly 'prompts/list': Common<'prompts/list'>
  readonly 'prompts/get': PromptGetCall
  readonly 'completion/complete': Common<'completion/complete'>
}
/** A call as taps see it, discriminated by `method`. */
export type CallView<M extends Method = Method> = M extends Method ? CallByMethod[M] : never
