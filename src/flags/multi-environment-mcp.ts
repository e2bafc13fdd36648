/** The flag that decides which resolver a session has. */
import { defineFlag } from './define-flag.ts'
import type { Flag } from './flag.ts'

/** Off: one server per bare name. On: servers of one name in several environments live side by side. */
export const MULTI_ENVIRONMENT_MCP: Flag<boolean> = defineFlag({
  name: 'multi_environment_mcp',
  default: false,
  description: 'servers of the same name in several environments are all visible, each under its own name',
  stage: 'experimental',
})
