/** What authors of hook plugins write against: ports, taps, and types that say no before run time does. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Method, ResultOf } from '../mcp.ts'
import type { OwnershipKey } from '../ownership-keys.ts'
import type { ServerKey } from '../servers/key.ts'
import type { CallView, ToolCall } from './call-view.ts'
import type { CallOutcome } from './outcome.ts'
import type { CallTrace } from './trace.ts'
import type { Deny, Verdict } from '../verdicts.ts'

// ---- what a tap may return. A key that is not meant is an error whose text says why.

interface NamesTheOwner {
  readonly 'HOOK_CHANGED_OWNER: a tap cannot name the owner': true
}
interface UnknownKey {
  readonly 'HOOK_BAD_RETURN: unknown key': true
}
interface ReservedKey {
  readonly 'HOOK_BAD_RETURN: reserved key': true
}
interface NeedsPrefix {
  readonly 'HOOK_BAD_RETURN: a key of _meta needs a prefix, such as example.com/name': true
}
type Misuse<K> = K extends OwnershipKey ? NamesTheOwner : UnknownKey

/** New arguments of the call; copied when they are returned. */
export interface Rewrite {
  readonly arguments: JsonObject
}
type ExactRewrite<R> = R extends Rewrite ? { readonly [K in Exclude<keyof R, 'arguments'>]: Misuse<K> } : unknown

/** Keys for `_meta`: `prefix/name`, as MCP wants them, and the three of W3C trace context, which have no prefix. */
export type MetadataPatch = { readonly [key: `${string}/${string}`]: Json } & { readonly [K in TraceContextKey]?: string }
type TraceContextKey = 'traceparent' | 'tracestate' | 'baggage'
type ReservedPrefix = 'codex' | `${'' | `${string}.`}${'mcp' | 'modelcontextprotocol'}${'' | `.${string}`}`
type ExactMetadata<P> = {
  // a computed key is only a `string` to the compiler: left to the check at run time
  readonly [K in keyof P]: string extends K
    ? Json
    : K extends `${ReservedPrefix}/${string}`
      ? ReservedKey
      : K extends TraceContextKey
        ? string
        : K extends `${string}/${string}`
          ? Json
          : K extends OwnershipKey
            ? NamesTheOwner
            : NeedsPrefix
}

// ---- taps

/** Limits a tap. Matched against key and raw tool name, never the visible name; `*` and `?` are globs in `servers` and `tools`. */
export interface TapFilter {
  /** ids; null = thread-wide servers */
  readonly environments?: readonly (string | null)[]
  readonly servers?: readonly string[]
  readonly tools?: readonly string[]
}

/** Everything about a tap but its function. */
export interface TapOptions<M extends Method = 'tools/call'> extends TapFilter {
  /** unique on the hook, within the plugin */
  readonly name: string
  /** finite, within ±1,000,000; default STAGE_DEFAULT (0) */
  readonly stage?: number
  /** names of taps of plugins that this one must run before; an unknown name is HOOK_BAD_TAP */
  readonly before?: string | readonly string[]
  /** default: tool calls only */
  readonly methods?: readonly M[]
  /** ms of the tap's own time, default 5000; the clock stands still while `next()` is pending */
  readonly timeoutMs?: number
  /** default 'block': a tap that throws, hangs or returns nonsense stops the call */
  readonly onFailure?: 'block' | 'continue'
}

export interface TapContext {
  /** ends with the call, with the tap's limit, or with the session */
  readonly signal: AbortSignal
  readonly mode: 'shadow' | 'enforce'
  /** as the session captured them */
  readonly flags: CapturedFlags
  /** id of the session */
  readonly session: string
  /** a line for the host's log; secrets are redacted */
  log(line: string): void
  /** a remark for the trace of this call, where there is one; secrets are redacted; nothing once the tap has ended */
  note(text: string): void
  /** text that the host gets with the outcome, as `additionalContext`, to tell its model; nothing once the tap has ended */
  addContext(text: string): void
}

type Name<M extends Method> = string | TapOptions<M>
type Nothing = void | undefined

export interface ResolvePort {
  /** Synchronous: `{ arguments }`, `deny(reason)` or nothing. */
  tap<R extends Rewrite | Deny | Nothing, M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, context: TapContext) => R & ExactRewrite<R>,
  ): void
  /** Asynchronous: resolves to `{ arguments }`, `deny(reason)` or nothing. */
  tapPromise<R extends Rewrite | Deny | Nothing, M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, context: TapContext) => Promise<R & ExactRewrite<R>>,
  ): void
}
export interface ApprovePort {
  /** Synchronous: `allow()`, `deny()`, `ask()` or nothing. */
  tap<M extends Method = 'tools/call'>(options: Name<M>, fn: (call: CallView<M>, context: TapContext) => Verdict | Nothing): void
  /** Asynchronous: resolves to `allow()`, `deny()`, `ask()` or nothing. */
  tapPromise<M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, context: TapContext) => Promise<Verdict | Nothing>,
  ): void
}
export interface AttachMetadataPort {
  /** Synchronous: a flat patch of namespaced keys, or nothing. */
  tap<P extends object | Nothing, M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, context: TapContext) => P & ExactMetadata<P>,
  ): void
  /** Asynchronous: resolves to a flat patch of namespaced keys, or nothing. */
  tapPromise<P extends object | Nothing, M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, context: TapContext) => Promise<P & ExactMetadata<P>>,
  ): void
}
export interface DispatchPort {
  /**
   * Wraps what comes after it; the first tap is the outermost. `next` takes nothing, because it is bound to the owner, and compares the
   * authority again at each call. It rejects with TaplineError: rethrown as it came it stays that outcome, anything else thrown is the tap's failure.
   */
  tapPromise<M extends Method = 'tools/call'>(
    options: Name<M>,
    fn: (call: CallView<M>, next: () => Promise<ResultOf<M>>, context: TapContext) => Promise<ResultOf<M>>,
  ): void
}

/** The end of a call, as observers see it. */
export interface Settled {
  readonly request: { readonly method: Method }
  /** null where the request never became a call (unknown name, ambiguous server …) */
  readonly call: CallView | null
  readonly owner: ServerKey | null
  readonly outcome: CallOutcome<Method>
  readonly trace: CallTrace
}
/** Options of an observer: it sees every method and never blocks. */
export type SettledOptions = string | ({ readonly name: string } & TapFilter)
export interface SettledPort {
  /** Observes; cannot fail or delay a call. */
  tap(options: SettledOptions, fn: (event: Settled) => Nothing): void
  /** Observes asynchronously; cannot fail or delay a call. */
  tapPromise(options: SettledOptions, fn: (event: Settled) => Promise<Nothing>): void
}

/** What `apply` gets: tap-only ports, and facts about the session that the taps are for. */
export interface HookPorts {
  readonly hooks: {
    readonly resolve: ResolvePort
    readonly approve: ApprovePort
    readonly attachMetadata: AttachMetadataPort
    readonly dispatch: DispatchPort
    readonly settled: SettledPort
  }
  readonly session: {
    readonly id: string
    readonly environmentIds: readonly string[]
    readonly flags: CapturedFlags
    readonly signal: AbortSignal
    /** The value with the secrets of the configuration taken out of every text in it: for whatever a plugin writes somewhere. */
    redact<T extends Json>(value: T): T
  }
}

/** `apply` runs once a session, synchronously; state that it closes over is the session's own. What it returns is disposed of with the session. */
export interface HookPlugin {
  readonly name: string
  apply(ports: HookPorts): void | undefined | Disposable | AsyncDisposable
  /** never there: a class or factory in the place of the plugin that it makes has a name and an `apply` too */
  readonly bind?: never
}

/** For functions that are declared apart from the tap. */
export type ResolveTap = (call: ToolCall, context: TapContext) => Promise<Rewrite | Deny | Nothing>
export type ApproveTap = (call: ToolCall, context: TapContext) => Promise<Verdict | Nothing>
export type AttachMetadataTap = (call: ToolCall, context: TapContext) => Promise<MetadataPatch | Nothing>
export type DispatchTap = (
  call: ToolCall,
  next: () => Promise<ResultOf<'tools/call'>>,
  context: TapContext,
) => Promise<ResultOf<'tools/call'>>
