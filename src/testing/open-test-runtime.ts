/** A real runtime on in-memory servers. */
import { memoryExecutor } from '../connections/executors/memory.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Json } from '../json.ts'
import { deepFreeze } from '../json.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { LiveRuntime } from '../runtime/live-runtime.ts'
import { assembleRuntime } from '../runtime/open-runtime.ts'
import type { Approver, HookEntry, Runtime, Session, SessionOptions, ToolCallRequest } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'
import { scriptedConfig } from './scripted-config.ts'
import type { AskedQuestion, SentMessage, TestRuntime, TestRuntimeOptions, TestSessionOptions } from './types.ts'

/**
 * Opens the real runtime with functions in the place of processes, and one session of it. No file is read and no process started.
 * Rejects as `openRuntime` and `openSession` do (CONFIG_INVALID, FLAG_…, HOOK_BAD_PLUGIN, HOOK_BAD_TAP …).
 */
export async function openTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const { environments: _environments, threadWide: _threadWide, policies: _policies, session = {}, ...rest } = options
  const sent: SentMessage[] = []
  const { config, servers } = scriptedConfig(options, (owner, method, params) => {
    const key = runtime.parts.keys.find(owner) as ServerKey
    sent.push(Object.freeze({ owner: key, method, params: deepFreeze(params as Json) as SentMessage['params'] }))
  })
  const runtime = await assembleRuntime({ ...rest, ...config }, new Map([['local', memoryExecutor(servers)]]))
  const recorder = new RecordingRuntime(runtime, sent)
  try {
    return await recorder.start(session)
  } catch (error) {
    await runtime.close()
    throw error
  }
}

class RecordingRuntime implements TestRuntime {
  readonly environments: Runtime['environments']
  readonly #runtime: LiveRuntime
  readonly #sent: SentMessage[]
  readonly #asked: AskedQuestion[] = []
  #session!: Session

  constructor(runtime: LiveRuntime, sent: SentMessage[]) {
    this.#runtime = runtime
    this.#sent = sent
    this.environments = runtime.environments
  }

  async start(options: TestSessionOptions): Promise<TestRuntime> {
    this.#session = await this.openSession(options)
    return this
  }

  get session(): Session {
    return this.#session
  }

  get sent(): readonly SentMessage[] {
    return [...this.#sent]
  }

  get asked(): readonly AskedQuestion[] {
    return [...this.#asked]
  }

  get diagnostics(): Runtime['diagnostics'] {
    return this.#runtime.diagnostics
  }

  callTool(request: ToolCallRequest, options?: CallOptions): Promise<CallOutcome> {
    return this.#session.callTool(request, options)
  }

  openSession({ approver = acceptOnce, ...options }: TestSessionOptions = {}): Promise<Session> {
    const given: SessionOptions = approver === null ? options : { ...options, approver: this.#recorded(approver) }
    return this.#runtime.openSession(given)
  }

  use(entry: HookEntry): Disposable {
    return this.#runtime.use(entry)
  }

  close(): Promise<void> {
    return this.#runtime.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #recorded(approver: Approver): Approver {
    return (question, context) => {
      this.#asked.push(Object.freeze({ kind: 'approval', ...question }))
      return approver(question, context)
    }
  }
}

const acceptOnce: Approver = () => Promise.resolve({ action: 'accept' })
