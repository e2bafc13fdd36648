/** `tapline/testing`: the real runtime on in-memory servers. Knows no test runner. */
export { openTestRuntime } from './open-test-runtime.ts'
export { scriptedServer } from './scripted-server.ts'
export type { ScriptedServer, ScriptedServerSpec, ScriptedTool, ScriptedToolContext } from './scripted-server.ts'
export type { AskedQuestion, SentMessage, TestEnvironment, TestRuntime, TestRuntimeOptions, TestServerPolicy, TestServers, TestSessionOptions } from './types.ts'
