/** The words for an owner, written down apart from src/ownership-keys.ts: a word that goes missing there fails here. */
export const WORDS: readonly string[] = [
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
]
