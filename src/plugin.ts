/** `tapline/plugin`: all that an author of hook plugins needs. Loads no transport, no MCP SDK, no tapable. */
export { definePlugin } from './hooks/define-plugin.ts'
export type { HookPluginFactory } from './hooks/define-plugin.ts'
export { allow, ask, deny } from './verdicts.ts'
export type { Allow, Ask, Deny, Verdict } from './verdicts.ts'
export { STAGE_DEFAULT, STAGE_FIRST, STAGE_GUARD, STAGE_LAST, STAGE_LATE } from './hooks/stages.ts'
export { ALL_METHODS } from './hooks/methods.ts'
export type {
  ApprovePort,
  ApproveTap,
  AttachMetadataPort,
  AttachMetadataTap,
  DispatchPort,
  DispatchTap,
  HookPlugin,
  HookPorts,
  MetadataPatch,
  ResolvePort,
  ResolveTap,
  Rewrite,
  Settled,
  SettledOptions,
  SettledPort,
  TapContext,
  TapFilter,
  TapOptions,
} from './hooks/plugin.ts'
export type { Authority, CallView, PolicyQuestion, PromptGetCall, ResourceReadCall, ToolCall } from './hooks/call-view.ts'
export type { CallOutcome, ForModel, PipelineHook } from './hooks/outcome.ts'
export type { PluginMode } from './plugin-mode.ts'
export type { CallTrace, ShadowEffect, ShadowSummary, TapTrace } from './hooks/trace.ts'
export type { CapturedFlags, Flag, FlagDetails, FlagValue } from './flags/flag.ts'
export type { ServerKey } from './servers/key.ts'
export type { ApprovalMode } from './servers/definition.ts'
export type { ApprovalPolicy, PermissionProfile } from './servers/environment.ts'
export { isContent } from './mcp.ts'
export type { ContentBlock, Method, ReadResourceResult, ResultOf, ToolAnnotations, ToolResult } from './mcp.ts'
export { isTaplineError, TaplineError } from './errors.ts'
export type { ErrorCode, HookName } from './errors.ts'
export type { Json, JsonObject } from './json.ts'
export type { InputOf, OutputOf, Schema } from './schema.ts'
