/** Plugin packages in temporary folders, for the tests of this room. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session } from '../../src/index.ts'
import { newFolder as folderOf } from '../new-folder.ts'

export const SERVER: string = fileURLToPath(new URL('../connections/executors/fixtures/echo.mjs', import.meta.url))
export const ON = { features: { multi_environment_mcp: true } } as const

export const newFolder = (): string => folderOf('tapline-packages-')

/** Writes the files of a package into the folder; what is no text is written as JSON. */
export function writePackage(folder: string, files: Readonly<Record<string, unknown>>): string {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  return folder
}

/** A server definition of a package. */
export const echo = (more: object = {}): object => ({ command: 'node', args: [SERVER], ...more })

/** What the server of a package says of itself. */
export async function info(session: Session, request: object): Promise<any> {
  const outcome: any = await session.callTool({ tool: 'info', arguments: {}, ...request } as never)
  return outcome.outcome === 'completed' ? JSON.parse(outcome.result.content[0].text) : outcome
}

/** What is told of, shortened. */
export const told = (of: {
  readonly diagnostics: readonly { readonly code: string; readonly message: string; readonly where?: string }[]
}): string[] => of.diagnostics.map(({ code, message, where = '' }) => `${code}: ${message} [${where}]`)
