/** A real runtime on in-memory servers. */
import { memoryExecutor } from '../connections/executors/memory.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Json } from '../json.ts'
import { deepFreeze } from '../json.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { LiveRuntime } from '../runtime/live-runtime.ts'
import { checkRuntimeOptions } from '../runtime/check-options.ts'
import { assembleRuntime } from '../runtime/open-runtime.ts'
import type { Approver, HookEntry, Page, Runtime, RuntimeStatusQuery, ServerStatus, Session, ToolCallRequest } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'
import { memoryStore } from '../storage/memory-store.ts'
import { scriptedConfig } from './scripted-config.ts'
import type { AskedQuestion, SentMessage, TestRuntime, TestRuntimeOptions, TestSessionOptions } from './types.ts'

/**
 * Opens the real runtime with functions in the place of processes, and one session of it. No file is read and no process started.
 * Rejects as `openRuntime` and `openSession` do (CONFIG_INVALID, FLAG_…, HOOK_BAD_PLUGIN, HOOK_BAD_TAP …).
 */
export async function openTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const { environments: _environments, threadWide: _threadWide, policies: _policies, session = {}, ...rest } = options
  checkRuntimeOptions(rest, false)
  const sent: SentMessage[] = []
  const { config, servers } = scriptedConfig(options, (owner, method, params) => {
    const key = runtime.parts.keys.find(owner) as ServerKey
    sent.push(Object.freeze({ owner: key, method, params: deepFreeze(params as Json) as SentMessage['params'] }))
  })
  // a test never meets what a person has allowed
  const store = rest.store ?? memoryStore()
  const runtime = await assembleRuntime({ ...rest, ...config, store }, new Map([['local', memoryExecutor(servers)]]))
  const asked: AskedQuestion[] = []
  try {
    return new RecordingRuntime(runtime, await openRecorded(runtime, session, asked), sent, asked)
  } catch (error) {
    await runtime.close()
    throw error
  }
}

function openRecorded(
  runtime: LiveRuntime,
  { approver = acceptOnce, ...options }: TestSessionOptions,
  asked: AskedQuestion[],
): Promise<Session> {
  if (approver === null) return runtime.openSession(options)
  return runtime.openSession({
    ...options,
    approver: (question, context) => {
      asked.push(Object.freeze({ kind: 'approval', ...question }))
      return approver(question, context)
    },
  })
}

const acceptOnce: Approver = () => Promise.resolve({ action: 'accept' })

class RecordingRuntime implements TestRuntime {
  readonly session: Session
  readonly environments: Runtime['environments']
  readonly #runtime: LiveRuntime
  readonly #sent: readonly SentMessage[]
  readonly #asked: AskedQuestion[]

  constructor(runtime: LiveRuntime, session: Session, sent: readonly SentMessage[], asked: AskedQuestion[]) {
    this.#runtime = runtime
    this.#sent = sent
    this.#asked = asked
    this.session = session
    this.environments = runtime.environments
  }

  get sent(): readonly SentMessage[] {
    return [...this.#sent]
  }

  get asked(): readonly AskedQuestion[] {
    return [...this.#asked]
  }

  get approvals(): Runtime['approvals'] {
    return this.#runtime.approvals
  }

  get diagnostics(): Runtime['diagnostics'] {
    return this.#runtime.diagnostics
  }

  callTool(request: ToolCallRequest, options?: CallOptions): Promise<CallOutcome> {
    return this.session.callTool(request, options)
  }

  openSession(options: TestSessionOptions = {}): Promise<Session> {
    return openRecorded(this.#runtime, options, this.#asked)
  }

  status(query?: RuntimeStatusQuery): Promise<Page<ServerStatus>> {
    return this.#runtime.status(query)
  }

  statusPages(query?: RuntimeStatusQuery): AsyncIterable<Page<ServerStatus>> {
    return this.#runtime.statusPages(query)
  }

  packages(query?: Parameters<Runtime['packages']>[0]): ReturnType<Runtime['packages']> {
    return this.#runtime.packages(query)
  }

  use(entry: HookEntry): Disposable {
    return this.#runtime.use(entry)
  }

  setPluginMode(...given: Parameters<Runtime['setPluginMode']>): ReturnType<Runtime['setPluginMode']> {
    return this.#runtime.setPluginMode(...given)
  }

  close(): Promise<void> {
    return this.#runtime.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
