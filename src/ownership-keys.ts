/** Leaf room: the words that name who owns a call. */

const WORDS = [
  'owner',
  'key',
  'server',
  'server_name',
  'serverName',
  'environment',
  'environment_id',
  'environmentId',
  'installation',
  'installation_id',
  'installationId',
  'namespace',
  'tool',
  'tool_name',
  'toolName',
] as const

/** A key that names ownership. */
export type OwnershipKey = (typeof WORDS)[number]
/** Keys that a tap can neither return nor assign (HOOK_CHANGED_OWNER); arguments of the tool itself are not meant. */
export const OWNERSHIP_KEYS: ReadonlySet<string> = new Set(WORDS)
