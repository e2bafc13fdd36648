/** `tapline/builtin`: hook plugins that come with the package. */
export { dryRun } from './dry-run.ts'
export type { DryRunOptions } from './dry-run.ts'
export { retry } from './retry.ts'
export type { RetryOptions } from './retry.ts'
export { toolList } from './tool-list.ts'
export type { ToolListOptions } from './tool-list.ts'
export type { CallRule } from './call-rules.ts'
export type { HookPlugin } from '../../hooks/plugin.ts'
