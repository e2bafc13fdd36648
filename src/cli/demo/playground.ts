/** Two environments in a temporary folder, the same plugin package installed in both. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config, EnvironmentDefinition } from '../../config/config.ts'

/** Ids of the two environments. */
export const PLACES = ['laptop', 'staging'] as const

/** A folder that is there until it is disposed of. */
export interface Playground extends AsyncDisposable {
  readonly config: Config
  /** how many calls have reached the server of a place */
  calls(place: string): Promise<number>
}

/** Writes the package into both places; nothing is started. */
export async function createPlayground(): Promise<Playground> {
  const root = await mkdtemp(path.join(tmpdir(), 'tapline-demo-'))
  const environments: Record<string, EnvironmentDefinition> = {}
  for (const place of PLACES) {
    const plugin = path.join(root, place, 'plugins', 'notes')
    await mkdir(plugin, { recursive: true })
    await copyFile(fileURLToPath(new URL('./notes-server.js', import.meta.url)), path.join(plugin, 'server.mjs'))
    const mcpServers = { notes: { command: process.execPath, args: ['plugins/notes/server.mjs'] } }
    await writeFile(path.join(plugin, '.mcp.json'), `${JSON.stringify({ mcpServers }, null, 2)}\n`)
    environments[place] = {
      executor: 'local',
      cwd: path.join(root, place),
      permissions: place === 'staging' ? 'read-only' : 'workspace-write',
      mcpServers,
    }
  }
  return {
    config: { environments, selectedEnvironments: PLACES },
    calls: async (place) => {
      const ledger = await readFile(path.join(root, place, 'ledger.txt'), 'utf8').catch(() => '')
      return ledger.split('\n').filter(Boolean).length
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  }
}
