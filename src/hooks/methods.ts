/** The MCP methods that go through the pipeline, for `methods` of a tap. */
import type { Method } from '../mcp.ts'

/** Every method; a tap that lists it sees resources and prompts too. */
export const ALL_METHODS: readonly Method[] = Object.freeze([
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
] as const)
