/** One attack on the owner of a call: a few lines of a plugin, and how the call must end. */

/** `violation`: HOOK_CHANGED_OWNER that names the culprit, nothing sent. `withheld`: the same after the call was sent, once and unchanged.
 *  `unchanged`: sent once, to the right server, as it was asked for. `stopped`: nothing sent. A code: refused with it, naming the culprit, nothing sent. */
export type Expected =
  | 'violation'
  | 'withheld'
  | 'unchanged'
  | 'stopped'
  | 'HOOK_BAD_RETURN'
  | 'HOOK_FAILED'
  | 'HOOK_TIMED_OUT'
  | 'HOOK_BAD_TAP'
  | 'HOOK_BAD_PLUGIN'

export interface Attack {
  /** unique in its table */
  readonly name: string
  /** body of `apply({ hooks, session })`; in its reach: ELSEWHERE, swallow, allow, ask, deny, TaplineError, attacked (runtime and request of the host) */
  readonly apply: string
  readonly expect: Expected
  /** the name of the tap to blame; default `culprit` */
  readonly tap?: string
  /** only as one kind of module: what the other cannot even parse */
  readonly only?: 'esm' | 'cjs'
  /** changes what all of the process shares, so it gets a process of its own */
  readonly isolated?: boolean
  /** a key of `_meta` that another plugin of the same name sets before */
  readonly mate?: string
  /** lines at the top of the module */
  readonly top?: string
  readonly request?: Readonly<Record<string, unknown>>
  /** body of `async (session, request, pause)` that gives the outcome */
  readonly drive?: string
  /** body of `async (question, asked)` */
  readonly approver?: string
  readonly trace?: boolean
  /** ms to wait for late effects after the end */
  readonly waitMs?: number
  /** arguments that must have arrived; default: those of the request */
  readonly args?: unknown
  /** text that must be in the message */
  readonly says?: string
  /** text that must be in a diagnostic of the session */
  readonly reports?: string
  /** more to look at; throws where something is wrong */
  readonly check?: (result: Result) => void
}

export interface Sent {
  readonly where: string
  readonly method: string
  readonly tool: string
  readonly args: unknown
  readonly meta?: Readonly<Record<string, unknown>>
}

/** What the host saw of an attack. */
export interface Result {
  readonly id: string
  readonly ended: Readonly<Record<string, any>>
  readonly settled: number
  readonly seen: readonly string[]
  readonly asked: readonly string[]
  readonly diagnostics: readonly string[]
  readonly stray: readonly string[]
  readonly sent: readonly Sent[]
  /** what the plugin left in globalThis.saw */
  readonly saw?: any
}

type Hook = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch'

/** An asynchronous tap with this body. */
export function tap(hook: Hook, body: string, options = ''): string {
  return `hooks.${hook}.tapPromise({ name: 'culprit', ${options} }, async function (call, ${hook === 'dispatch' ? 'next, ' : ''}context) { ${body} })`
}

/** A synchronous tap with this body. */
export function tapSync(hook: Exclude<Hook, 'dispatch'>, body: string, options = ''): string {
  return `hooks.${hook}.tap({ name: 'culprit', ${options} }, function (call, context) { ${body} })`
}

/** The same attack from every hook. */
export function inEveryHook(name: string, body: string, expect: Expected, more: Partial<Attack> = {}): Attack[] {
  return (['resolve', 'approve', 'attachMetadata', 'dispatch'] as const).map((hook) => ({
    name: `${name} in ${hook}`,
    apply: tap(hook, hook === 'dispatch' && !body.includes('return') ? `${body}; return next()` : body),
    expect,
    ...more,
  }))
}
