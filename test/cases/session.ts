/** A session of the built library on one server of the cases. */
import type { Session, SessionOptions } from '../../src/index.ts'
import type { Case } from './driver.ts'
import { library, server } from './driver.ts'

/** Opens it; what the server needs of the environment of the case is passed on. */
export async function sessionOn(at: Case, script: string, more: object = {}, options: Partial<SessionOptions> = {}): Promise<Session> {
  const { openSession } = await library()
  const { env_vars: _names, ...definition } = server(script, ['s'], more)
  const { environments: _environments, ...rest } = options
  return openSession({ mcpServers: { s: { ...definition, env: at.servers } as never }, store: { file: at.path('store') }, ...rest })
}

/** A call of one tool of that server. */
export const on = (tool: string, args: unknown = {}): { readonly server: 's'; readonly tool: string; readonly arguments: unknown } => ({
  server: 's',
  tool: tool,
  arguments: args,
})
