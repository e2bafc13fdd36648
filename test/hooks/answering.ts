// A server whose answer to every call is a line that no well-behaved one writes.
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { HookPlugin, Session } from '../../src/index.ts'
import { assembleRuntime } from '../../src/runtime/open-runtime.ts'
import type { SessionEvent } from '../../src/runtime/types.ts'
import { oneToolServer } from '../one-tool-server.ts'

type Entry = HookPlugin | { readonly plugin: HookPlugin; readonly mode: 'shadow' }
/** A session, and which of `settled` and `traced` it has told. */
export interface Opened extends AsyncDisposable {
  readonly session: Session
  readonly events: string[]
}

/** A session with a server whose answer to a call is this line, from behind the id on. */
export async function answering(rest: string, hooks: readonly Entry[], env: Readonly<Record<string, string>> = {}): Promise<Opened> {
  const executor = memoryExecutor({
    x: oneToolServer((send, { id }) => send(`{"jsonrpc":"2.0","id":${id},${rest}}`)),
  })
  const runtime = await assembleRuntime(
    { mcpServers: { x: { command: 'x', env, defaultToolsApprovalMode: 'approve' } }, hooks: [...hooks] },
    new Map([['local', executor]]),
  )
  const session = await runtime.openSession()
  const events: string[] = []
  session.subscribe(({ type }: SessionEvent) => void (type === 'settled' || type === 'traced' ? events.push(type) : 0))
  return { session, events, [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose]() }
}
