/** `tapline/builtin`: hook plugins that come with the package. */
export { toolList } from './tool-list.ts'
export type { ToolListOptions } from './tool-list.ts'
export type { CallRule } from './call-rules.ts'
export type { HookPlugin } from '../../hooks/plugin.ts'
