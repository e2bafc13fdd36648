/** Whose format a file is in: by its name, and where the name says nothing, by its shape. */
import path from 'node:path'
import { isToml } from '../documents/parse-file.ts'
import type { ObjectValue, Value } from '../documents/value.ts'

/** `tapline`: ours. `shared`: `mcpServers` as most clients have it. `vscode`: `servers` and `inputs`. `codex`: `mcp_servers` of Codex's config.toml. */
export type Format = 'tapline' | 'shared' | 'vscode' | 'codex'

const SHARED_NAME = /(^|\.)mcp\.json$|^claude_desktop_config\.json$/i
/** Sections that only we have, in both spellings. */
const OURS: ReadonlySet<string> = new Set([
  'environments',
  'selectedEnvironments',
  'selected_environments',
  'mcpServers',
  'flags',
  'naming',
  'resourceTools',
  'store',
  'trace',
])
/** Keys that only Codex has at the top. */
const CODEX: ReadonlySet<string> = new Set([
  'model',
  'model_provider',
  'model_providers',
  'model_reasoning_effort',
  'approval_policy',
  'sandbox_mode',
  'sandbox_workspace_write',
  'shell_environment_policy',
  'profile',
  'profiles',
  'projects',
  'tui',
  'history',
  'notify',
])

/** The format of a file; `root` is what was read from it. */
export function formatOf(file: string, root: Value | null): Format {
  const name = path.basename(file)
  const object = root?.kind === 'object' ? root : null
  if (SHARED_NAME.test(name)) return object !== null && isVsCode(object) ? 'vscode' : 'shared'
  if (object === null || name.startsWith('tapline') || object.members.some(isOurs)) return 'tapline'
  if (!isToml(file)) return isVsCode(object) ? 'vscode' : 'tapline'
  const named = name === 'config.toml' || /codex/i.test(name) || path.basename(path.dirname(file)) === '.codex'
  return named || object.members.some((member) => CODEX.has(member.name)) ? 'codex' : 'tapline'
}

/** The folder that relative paths of a file mean, and where its servers run: the folder that is open in the editor, the working directory for Codex, else that of the file. */
export function folderOf(file: string, format: Format, cwd: string): string {
  const folder = path.dirname(file)
  if (format === 'codex') return cwd
  if (format !== 'tapline' && /^\.(vscode|cursor)$/.test(path.basename(folder))) return path.dirname(folder)
  return format === 'vscode' ? cwd : folder
}

/** True for what cannot be a server of a bare map. */
export function isSection(value: Value): boolean {
  return value.kind !== 'object' || !value.members.some((member) => member.name === 'command' || member.name === 'url')
}

function isOurs({ name, value }: ObjectValue['members'][number]): boolean {
  // hooks of Codex are a table of events, ours a list
  return OURS.has(name) || (name === 'hooks' && value.kind === 'list')
}

function isVsCode({ members }: ObjectValue): boolean {
  return (
    members.some(({ name, value }) => name === 'servers' && value.kind === 'object' && isSection(value)) &&
    !members.some(({ name }) => name === 'mcpServers')
  )
}
