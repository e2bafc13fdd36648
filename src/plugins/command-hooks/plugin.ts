/** The hook plugin of one hooks file: each command hook is a tap of its own. */
import { isTaplineError, TaplineError } from '../../errors.ts'
import type { HookPlugin, HookPorts, Settled, TapContext } from '../../hooks/plugin.ts'
import { STAGE_FIRST } from '../../hooks/stages.ts'
import { TapProblem } from '../../hooks/tap-problem.ts'
import type { JsonObject } from '../../json.ts'
import type { Secrets } from '../../secrets.ts'
import { allow, ask, deny } from '../../verdicts.ts'
import { type HookAnswer, readAnswer } from './answer.ts'
import { callNames, HOOKED_METHODS, type HookedCall, isHooked } from './call-names.ts'
import type { ReadyHook } from './definition.ts'
import { hookInput, type CallEnd } from './hook-input.ts'
import { HookProcesses } from './hook-processes.ts'

/** ms that a tap has beyond the limit of its hook: the hook's own limit speaks first */
const MARGIN_MS = 10_000
const LONGEST_TAP_MS = 3_600_000
/** Codes of ends that come before anything was sent. */
const NOT_SENT =
  /^(CALL_(AUTHORITY|INVALID|CANCELLED|REFUSED)|SESSION_|ENVIRONMENT_|SERVER_(START|DISABLED|AUTH)|HOOK_CHANGED|UNKNOWN_|AMBIGUOUS_)/

/** What one plugin runs. */
export interface CommandHookSet {
  /** of the plugin */
  readonly name: string
  readonly hooks: readonly ReadyHook[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** only calls to servers of this installation; left out: all */
  readonly installationId?: string | null
  /** why none of them may run: then a call that one of them fits is refused */
  readonly refusal?: string
  /** asked before each run: why the hook may not run any more */
  readonly distrust?: (hook: ReadyHook) => Promise<string | null>
  /** taken out of what hooks say */
  readonly secrets: Secrets
}

/** A plugin for any number of sessions. */
export function commandHooksPlugin(set: CommandHookSet): HookPlugin {
  return { name: set.name, apply: (ports) => new SessionHookSet(set).apply(ports) }
}

/** The hooks of one session. */
class SessionHookSet {
  readonly #set: CommandHookSet
  readonly #processes = new HookProcesses()
  /** calls about which a hook wants a person to be asked, with its words */
  readonly #asked = new Map<string, string>()
  /** calls whose end the hooks after them have had a look at */
  readonly #followed = new Set<string>()
  /** of the session; observers have none of their own, and every call that was sent has been through a tap */
  #log: TapContext['log'] = () => {}

  constructor(set: CommandHookSet) {
    this.#set = set
  }

  apply({ hooks }: HookPorts): AsyncDisposable | undefined {
    const { hooks: all, refusal } = this.#set
    if (refusal !== undefined) {
      hooks.resolve.tap({ name: 'untrusted hooks', stage: STAGE_FIRST, methods: HOOKED_METHODS }, (call) =>
        all.some((hook) => this.#fits(hook, call)) ? deny(refusal) : undefined,
      )
      return undefined
    }
    const before = all.filter(({ event }) => event === 'PreToolUse')
    for (const hook of before)
      hooks.resolve.tapPromise({ ...optionsOf(hook), methods: HOOKED_METHODS }, (call, context) => this.#preToolUse(hook, call, context))
    if (before.length > 0)
      hooks.approve.tap({ name: 'PreToolUse asks', methods: HOOKED_METHODS }, (call) => {
        const question = this.#asked.get(call.id)
        return question === undefined ? undefined : ask(question || undefined)
      })
    for (const hook of all.filter(({ event }) => event === 'PermissionRequest'))
      hooks.approve.tapPromise({ ...optionsOf(hook), methods: HOOKED_METHODS }, (call, context) =>
        this.#permissionRequest(hook, call, context),
      )
    const after = all.filter(({ event }) => event.startsWith('PostToolUse'))
    // the first of the file is the innermost layer: its turn comes first once the call has been answered
    for (const hook of after.toReversed())
      hooks.dispatch.tapPromise(
        { ...optionsOf(hook), methods: HOOKED_METHODS },
        (call, next, context) => this.#afterToolUse(hook, call, next as () => Promise<unknown>, context) as Promise<never>,
      )
    if (after.length > 0) hooks.settled.tap('hooks after calls without an answer', (settled) => this.#afterAll(after, settled))
    return { [Symbol.asyncDispose]: () => this.#processes.close() }
  }

  async #preToolUse(hook: ReadyHook, call: HookedCall, context: TapContext) {
    if (!this.#fits(hook, call)) return undefined
    const answer = await this.#run(hook, call, null, context)
    if (answer === null) return undefined
    if (answer.refuse !== undefined) return deny(answer.refuse)
    if (answer.ask !== undefined) this.#ask(call.id, answer.ask, context)
    return answer.rewrite === undefined ? undefined : { arguments: answer.rewrite }
  }

  async #permissionRequest(hook: ReadyHook, call: HookedCall, context: TapContext) {
    // only where somebody would be asked
    if ((call.question === null && !this.#asked.has(call.id)) || !this.#fits(hook, call)) return undefined
    const answer = await this.#run(hook, call, null, context)
    if (answer?.refuse !== undefined) return deny(answer.refuse)
    return answer?.allow === undefined ? undefined : allow(answer.allow || `${hook.id} of ${this.#set.name}`)
  }

  async #afterToolUse(hook: ReadyHook, call: HookedCall, next: () => Promise<unknown>, context: TapContext): Promise<unknown> {
    this.#log = context.log
    let end: CallEnd
    try {
      end = { result: (await next()) as JsonObject }
    } catch (error) {
      if (!wasSent(error) || context.signal.aborted) throw error
      end = { error }
    }
    this.#followed.add(call.id)
    const failed = 'error' in end || end.result['isError'] === true
    if (this.#isFor(hook, call, failed)) {
      const answer = await this.#run(hook, call, end, context)
      if (answer?.refuse !== undefined) throw new TapProblem('CALL_REFUSED', answer.refuse)
      if (answer?.result !== undefined) return answer.result
    }
    if ('error' in end) throw end.error
    return end.result
  }

  /** What was sent and then cancelled, or ran out of time: nobody can wait for the hooks any more, and what they say comes too late. */
  #afterAll(after: readonly ReadyHook[], { call, outcome }: Settled): void {
    if (call === null || this.#followed.delete(call.id) || outcome.sent === 'no' || outcome.outcome === 'completed') return
    if (!isHooked(call)) return
    const { cwd, env, distrust } = this.#set
    const mayRun = async (hook: ReadyHook): Promise<boolean> => {
      const why = (await distrust?.(hook)) ?? null
      if (why !== null) this.#log(why)
      return why === null
    }
    const end = { error: new TaplineError(outcome.code, outcome.message), isInterrupt: outcome.outcome === 'cancelled' }
    for (const hook of after.filter((one) => this.#isFor(one, call, true))) {
      const start = { command: hook.command, cwd, env, timeoutMs: hook.timeoutMs, input: hookInput(hook.event, call, end) }
      const check = distrust === undefined ? null : () => mayRun(hook)
      if (!this.#processes.detach(start, check)) this.#log(this.#leftOut(hook))
    }
  }

  /** After a call that failed, hooks of PostToolUseFailure run; where none of them fits, those of PostToolUse: something runs after every call that was sent. */
  #isFor(hook: ReadyHook, call: HookedCall, failed: boolean): boolean {
    if (!this.#fits(hook, call)) return false
    if (hook.event === 'PostToolUseFailure') return failed
    return !failed || !this.#set.hooks.some((other) => other.event === 'PostToolUseFailure' && this.#fits(other, call))
  }

  #fits(hook: ReadyHook, call: HookedCall): boolean {
    const { installationId } = this.#set
    return (installationId === undefined || call.owner.installationId === installationId) && hook.fits(callNames(call))
  }

  /** Null where nobody waits for it. */
  async #run(hook: ReadyHook, call: HookedCall, end: CallEnd | null, context: TapContext): Promise<HookAnswer | null> {
    const { cwd, env, secrets, distrust } = this.#set
    const { command, timeoutMs } = hook
    const start = { command, cwd, env, timeoutMs, input: hookInput(hook.event, call, end) }
    const refuse = await distrust?.(hook)
    if (refuse !== null && refuse !== undefined) return { refuse }
    if (hook.isAsync) {
      if (!this.#processes.detach(start)) context.log(this.#leftOut(hook))
      return null
    }
    const ended = await this.#processes.run(start, context.signal)
    if (ended === null) return null
    const answer = readAnswer(hook.event, ended, secrets)
    if (answer.note !== undefined) context.note(answer.note)
    if (answer.message !== undefined) context.log(answer.message)
    if (answer.context !== undefined && answer.context !== '') context.addContext(answer.context)
    return answer
  }

  #leftOut(hook: ReadyHook): string {
    return `${hook.id} of ${this.#set.name} was left out: too many hooks of this session run, or the session is closed`
  }

  #ask(id: string, question: string, { signal }: TapContext): void {
    this.#asked.set(id, [this.#asked.get(id), question].filter(Boolean).join('; '))
    // ends with the call
    signal.addEventListener('abort', () => this.#asked.delete(id), { once: true })
  }
}

const optionsOf = ({ id, timeoutMs, onFailure }: ReadyHook) => ({
  name: id,
  timeoutMs: Math.min(timeoutMs + MARGIN_MS, LONGEST_TAP_MS),
  onFailure,
})

/** True where something may have reached the server. */
function wasSent(error: unknown): boolean {
  return isTaplineError(error) && error.data?.['sent'] !== 'no' && !NOT_SENT.test(error.code)
}
