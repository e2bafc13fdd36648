/** Runtimes whose launches differ while the server behind them stays the same: for what approvals are bound to. */
import type { Config } from '../../src/config/config.ts'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import { assembleRuntime } from '../../src/runtime/open-runtime.ts'
import type { ApprovalAnswer, ApprovalQuestion, RuntimeOptions, SessionOptions } from '../../src/runtime/types.ts'
import type { Store } from '../../src/storage/store.ts'
import { ScriptedConnection } from '../../src/testing/scripted-connection.ts'
import { liveServer } from '../../src/testing/scripted-server.ts'
import type { ScriptedServerSpec } from '../../src/testing/index.ts'

/** A runtime in which `db` and `db2` are commands of the same server, on this machine and on executors of the kind `far`. */
export function launchRuntime(
  store: Store,
  server: ScriptedServerSpec,
  config: Config,
  more: Omit<RuntimeOptions, keyof Config> = {},
): Promise<LiveRuntime> {
  const live = liveServer(server)
  const serve = (duplex: ConstructorParameters<typeof ScriptedConnection>[1]): Promise<void> =>
    live.serve(new ScriptedConnection(live, duplex, () => {}))
  const executor = memoryExecutor({ db: serve, db2: serve })
  return assembleRuntime(
    { ...config, ...more, store },
    new Map([
      ['local', executor],
      ['far', { ...executor, kind: 'far' }],
    ]),
  )
}

/** One call in a session of its own: how it ended, and the questions that were put. */
export async function callOnce(
  runtime: LiveRuntime,
  request: { readonly server: string; readonly environmentId?: string; readonly tool: string },
  answer: ApprovalAnswer = { action: 'decline' },
  options: SessionOptions = {},
): Promise<{ readonly ran: boolean; readonly code: string; readonly asked: readonly ApprovalQuestion[] }> {
  const asked: ApprovalQuestion[] = []
  const session = await runtime.openSession({
    ...options,
    approver: async (question) => {
      asked.push(question)
      return answer
    },
  })
  const outcome = await session.callTool({ ...request, arguments: {} })
  await session.close()
  return { ran: outcome.outcome === 'completed', code: outcome.code, asked }
}
