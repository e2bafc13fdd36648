// Sessions on real processes of a server that asks its client.
import { fileURLToPath } from 'node:url'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { CallOptions, Runtime, RuntimeOptions, Session } from '../../src/runtime/types.ts'
import { newFolder } from '../new-folder.ts'

const SERVER = fileURLToPath(new URL('fixtures/asking-server.mjs', import.meta.url))

type Server = NonNullable<RuntimeOptions['mcpServers']>[string]
type Place = NonNullable<RuntimeOptions['environments']>[string]

export const asking = (more: object = {}): Server => ({ command: process.execPath, args: [SERVER], ...more })

/** A runtime with the environment `vm`, whose folder is new, and its server `asks`; and a thread-wide server `wide`. */
export async function askingRuntime(place: Partial<Place> = {}, server: object = {}): Promise<Runtime & { readonly folder: string }> {
  const folder = newFolder('tapline asks ')
  const runtime = await openRuntime({
    environments: { vm: { cwd: folder, permissions: 'workspace-write', ...place, mcpServers: { asks: asking(server) } } },
    mcpServers: { wide: asking(server) },
  })
  return Object.assign(runtime, { folder })
}

/** What a tool of a server gives, read from its text. */
export async function tell(session: Session, server: string, tool: string, args: object = {}, options: CallOptions = {}): Promise<any> {
  const outcome = await session.callTool({ server, tool, arguments: args }, options)
  if (outcome.outcome !== 'completed') throw new Error(`${outcome.code} ${outcome.message}`)
  return JSON.parse(outcome.forModel.text)
}

export const form = (message: string, properties: object = { ok: { type: 'boolean' } }, required: string[] = ['ok']): object => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object', properties, required },
})

/** A promise and what settles it. */
export function gate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open!: (value: T) => void
  const opened = new Promise<T>((resolve) => (open = resolve))
  return { opened, open }
}

export const withdrawn = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))

/** Codes of the runtime's and session's diagnostics. */
export const codes = (session: Session): readonly string[] => session.diagnostics.map(({ code }) => code)
