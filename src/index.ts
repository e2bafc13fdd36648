/** The public surface of `tapline`. */
export { discoverConfig } from './config/trusted-files.ts'
export { openRuntime, openSession } from './runtime/open-runtime.ts'
export { unwrap } from './runtime/unwrap.ts'
export type {
  ApprovalAnswer,
  ApprovalQuestion,
  Approver,
  CallOptions,
  CompletionRequest,
  ElicitationAnswer,
  ElicitationQuestion,
  Elicitor,
  FlagOptions,
  HookEntry,
  Listing,
  ListQuery,
  ListToolsOptions,
  Logger,
  Owned,
  OwnerOrSelector,
  LogLevel,
  ModeFlag,
  Page,
  PluginModeChange,
  PromptItem,
  PromptRequest,
  ResourceItem,
  ResourceRequest,
  ResourceTemplateItem,
  RootsProvider,
  Runtime,
  Reviewer,
  RuntimeStatusQuery,
  RuntimeOptions,
  Sampler,
  SamplingQuestion,
  ResourceTool,
  ServerFailure,
  ServerSelector,
  ServerStatus,
  Session,
  SessionEnvironment,
  SessionEvent,
  SessionHookPlugin,
  SessionOptions,
  SessionServer,
  StatusQuery,
  Tool,
  ToolCallRequest,
  ToolList,
  TraceOption,
  TraceOptions,
} from './runtime/types.ts'
export type { CallOutcome, ForModel, Overflow, PipelineHook } from './hooks/outcome.ts'
export type { PluginMode } from './plugin-mode.ts'
export type { CallTrace, Explanation, ShadowEffect, ShadowSummary, TapTrace } from './hooks/trace.ts'
export type { ArgumentsRecord, CallRecord, GapRecord, KeptTrace, PluginRecord, SessionRecord, TraceRecord } from './trace/records.ts'
export type { HookPlugin, TapFilter } from './hooks/plugin.ts'
export type { KeyJson, KeyParts, ServerKey } from './servers/key.ts'
export type { Diagnostic } from './servers/diagnostic.ts'
export type { ApprovalMode } from './servers/definition.ts'
export type { EnvironmentCheck } from './runtime/check-environment.ts'
export type { Environments } from './runtime/live-environments.ts'
export type {
  ApprovalPolicy,
  Environment,
  EnvironmentSpec,
  ExecutorSpec,
  ExecutorStatus,
  Governance,
  PermissionProfile,
} from './servers/environment.ts'
export type {
  ExecutorContext,
  ExecutorDefinition,
  Executor,
  ExitStatus,
  LaunchRequest,
  PlaceInfo,
  ProcessWatch,
  StdioProcess,
} from './connections/executor.ts'
export { command, defineExecutor, execServer, ssh } from './connections/executors/define-executor.ts'
export type { ExecutorFactory } from './connections/executors/define-executor.ts'
export type { RuntimeEnvironment } from './runtime/take-executors.ts'
export { fileStore } from './storage/file-store.ts'
export { memoryStore } from './storage/memory-store.ts'
export type { PutOptions, Store, StoreArea, StoreEntry } from './storage/store.ts'
export type { Approvals, RememberedApproval } from './runtime/approvals.ts'
export type { StoreOption } from './runtime/store-option.ts'
export type { PackageQuery, PluginPackage } from './runtime/package-types.ts'
export { defineFlag } from './flags/define-flag.ts'
export { MULTI_ENVIRONMENT_MCP } from './flags/multi-environment-mcp.ts'
export type { CapturedFlags, Flag, FlagDetails, FlagValue } from './flags/flag.ts'
export type {
  EvaluationContext,
  EvaluationContextValue,
  FlagResolution,
  OpenFeatureClient,
  OpenFeatureLogger,
  OpenFeatureProvider,
} from './flags/openfeature.ts'
export type { Config, EnvironmentDefinition, PackageSelection, ServerDefinition, ServerOverlay } from './config/config.ts'
export type { ConfigInput } from './config/inputs.ts'
export type { ConfigFile } from './config/load.ts'
export { isContent } from './mcp.ts'
export type {
  CompleteResult,
  ContentBlock,
  ContentByType,
  GetPromptResult,
  FormSchema,
  Method,
  Progress,
  PromptMessage,
  ReadResourceResult,
  ResourceContents,
  ResultOf,
  Root,
  SamplingRequest,
  SamplingResult,
  ToolAnnotations,
  ToolResult,
} from './mcp.ts'
export { isTaplineError, TaplineError } from './errors.ts'
export type { ErrorCode, ErrorDetails, HookName } from './errors.ts'
export type { Json, JsonObject } from './json.ts'
