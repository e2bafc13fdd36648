/** `tapline/testing`: the real runtime on in-memory servers. Knows no test runner. */
export { checkPlugin } from './check-plugin.ts'
export type { CheckPluginOptions } from './check-plugin.ts'
export type { CheckedCall, CheckedTap, CheckFinding, CheckReport, FindingKind } from './check/finding.ts'
export { openTestRuntime } from './open-test-runtime.ts'
export { scriptedServer } from './scripted-server.ts'
export { storeRules } from './store-rules.ts'
export type { StoreRule } from './store-rules.ts'
export type {
  AskedQuestion,
  ScriptedServer,
  ScriptedServerSpec,
  ScriptedTool,
  ScriptedToolContext,
  SentMessage,
  TestEnvironment,
  TestRuntime,
  TestRuntimeOptions,
  TestServerPolicy,
  TestServers,
  TestSessionOptions,
} from './types.ts'
