/** Leaf room: what a tap or a reviewer may say of a call. Only these functions make verdicts: a look-alike is not one. */
import { types } from 'node:util'

declare const verdict: unique symbol

/** Answers the question that the policy would put; never lifts a refusal. */
export interface Allow {
  readonly [verdict]: 'allow'
  readonly reason?: string
}
/** Stops the call. */
export interface Deny {
  readonly [verdict]: 'deny'
  readonly reason: string
}
/** Puts the call to a person, whatever the policy says; a remembered approval does not answer it. */
export interface Ask {
  readonly [verdict]: 'ask'
  readonly question?: string
}
export type Verdict = Allow | Deny | Ask

export type VerdictKind = 'allow' | 'deny' | 'ask'

/** How a verdict is read that another copy of the package made: a plugin often has a copy of its own. */
const SAID = Symbol.for('tapline.verdict')
const KINDS: ReadonlySet<unknown> = new Set<VerdictKind>(['allow', 'deny', 'ask'])

class MadeVerdict {
  readonly #kind: VerdictKind
  readonly #text: string | undefined

  constructor(kind: VerdictKind, text: string | undefined) {
    this.#kind = kind
    this.#text = text
    Object.freeze(this)
  }

  get reason(): string | undefined {
    return this.#kind === 'ask' ? undefined : this.#text
  }

  get question(): string | undefined {
    return this.#kind === 'ask' ? this.#text : undefined
  }

  /** Kind and text of a value that allow(), deny() or ask() made, of this copy of the package or of another; null for everything else, Proxies and copies included. */
  static read(value: unknown): { readonly kind: VerdictKind; readonly text: string | undefined } | null {
    if (typeof value !== 'object' || value === null) return null
    return #kind in value ? { kind: value.#kind, text: value.#text } : readForeign(value)
  }

  /** for other copies of the package */
  static tell(made: MadeVerdict): readonly [VerdictKind, string | undefined] {
    return [made.#kind, made.#text]
  }
}
Object.defineProperty(MadeVerdict.prototype, SAID, {
  get(this: MadeVerdict) {
    return MadeVerdict.tell(this)
  },
})
// nobody gets at the class through a verdict
Reflect.deleteProperty(MadeVerdict.prototype, 'constructor')
Object.freeze(MadeVerdict.prototype)

function readForeign(value: object): { readonly kind: VerdictKind; readonly text: string | undefined } | null {
  if (types.isProxy(value) || !Object.isFrozen(value) || !(SAID in value)) return null
  try {
    const [kind, text] = value[SAID] as readonly [VerdictKind, string | undefined]
    return KINDS.has(kind) && (text === undefined || typeof text === 'string') ? { kind, text } : null
  } catch {
    return null
  }
}

const textOf = (value: unknown, what: string): string | undefined => {
  if (value === undefined || typeof value === 'string') return value
  throw new TypeError(`${what} must be a string`)
}

/** Answers the policy's question with yes; the reason goes into the trace. */
export function allow(reason?: string): Allow {
  return new MadeVerdict('allow', textOf(reason, 'the reason of allow()')) as unknown as Allow
}

/** Stops the call. The reason is shown to the model: no secrets. */
export function deny(reason: string): Deny {
  return new MadeVerdict('deny', textOf(reason, 'the reason of deny()') || 'no reason given') as unknown as Deny
}

/** Puts the call to a person; the question is shown beside the arguments. */
export function ask(question?: string): Ask {
  return new MadeVerdict('ask', textOf(question, 'the question of ask()')) as unknown as Ask
}

/** Kind and text of a verdict, or null for a value that is none. */
export const readVerdict: (value: unknown) => { readonly kind: VerdictKind; readonly text: string | undefined } | null = MadeVerdict.read
