/** The names by which a guard may know a tool, whatever the flags of a session say. */
import { codexNames } from './codex-naming.ts'
import type { ServerKey } from './key.ts'
import { StableNaming } from './stable-naming.ts'

/** How a session names tools. */
interface NamingChoice {
  readonly scheme: 'stable' | 'codex'
  readonly maxLength: number
}

/**
 * The visible name first (where the tool has one), then `mcp__<server>__<tool>` as they are and with `_` for whatever other clients do not
 * show, then the names that the tool has with `multi_environment_mcp` on and off. No name comes twice.
 */
export function guardNames(owner: ServerKey, tool: string, visible: string | null, { scheme, maxLength }: NamingChoice): readonly string[] {
  const plain = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, '_')
  const server = owner.name
  const names = [
    ...(visible === null ? [] : [visible]),
    `mcp__${server}__${tool}`,
    `mcp__${plain(server)}__${plain(tool)}`,
    `mcp__${plain(server).replace(/_+/g, '_').replace(/^_|_$/g, '')}__${plain(tool)}`,
    // a server that is named so already is shown without a second prefix by some
    ...(server.startsWith('mcp__') ? [`${server}__${tool}`, `${plain(server)}__${plain(tool)}`] : []),
    ...[false, true].map((scoped) =>
      scheme === 'stable'
        ? new StableNaming({ maxLength, scoped }).tool(owner, tool).name
        : (codexNames([{ owner, tool }], { scoped, prefixed: true })[0]?.name ?? ''),
    ),
  ]
  return Object.freeze([...new Set(names)])
}
