/**
 * What one tap sees of one call: small frozen objects with nothing on them. Every field is an accessor on a frozen prototype, and the
 * setters record the attempt for exactly this tap before they throw, so that an assignment is noticed in sloppy mode and behind a catch too.
 */
import { OWNERSHIP_KEYS } from '../ownership-keys.ts'
import type { KeyParts } from '../servers/key.ts'
import { displayKey, sameParts } from '../servers/key.ts'
import type { Authority } from './call-view.ts'
import type { CallRun } from './call-run.ts'
import { HookError } from './hook-error.ts'

/** What console.log of Node shows. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** Who the view belongs to; what an error about it must name. */
export interface ViewOwner {
  readonly hook: 'resolve' | 'approve' | 'attachMetadata' | 'dispatch' | 'settled'
  readonly name: string
  readonly plugin: string
}

/** One tap's view of one call. Typed as `CallView` at the port. */
export class TapView {
  readonly #run: CallRun
  readonly #tap: ViewOwner
  #attempt: string | null = null
  #isSettled = false
  #owner: object | null = null
  #authority: object | null = null

  constructor(run: CallRun, tap: ViewOwner) {
    this.#run = run
    this.#tap = tap
    Object.freeze(this)
  }

  /** The field that this tap tried to write, or null. Ends the time in which an attempt counts. */
  static settle(view: TapView): string | null {
    view.#isSettled = true
    return view.#attempt
  }

  /** True once the tap has ended. */
  static isSettled(view: TapView): boolean {
    return view.#isSettled
  }

  /** Notes an attempt, which ends the call from now on, and throws HOOK_CHANGED_OWNER while the tap runs; reports it afterwards. */
  static write(view: TapView, key: string): void {
    const run = view.#run
    const isOver = view.#isSettled || view.#tap.hook === 'settled'
    if (isOver) run.context.lateWrite(run.id, view.#tap.name, view.#tap.plugin, key)
    if (view.#isSettled) return
    // first of all: making the error runs functions that a tap can have patched for this moment
    view.#attempt ??= key
    const error = changedOwner(run.id, view.#tap, key, 'assigned')
    // at once: another tap of the same call may be about to send it
    if (!isOver) run.violation ??= error
    throw error
  }

  /** The view itself, or the one that the object inherits from; undefined for anything else. */
  static of(self: unknown): TapView | undefined {
    return ancestor(self, (object): object is TapView => #run in object)
  }

  /** Refuses a write to a field that is not about ownership: taps return, they do not assign. */
  static readOnly(view: TapView, key: string): never {
    const { hook, name, plugin } = view.#tap
    throw new HookError(
      'HOOK_BAD_RETURN',
      `tap "${name}" of plugin "${plugin}" assigned ${key} in ${hook}: a call is read-only`,
      view.#tap,
      view.#run.id,
      {
        remedy: 'Return what should change; only resolve can change arguments, with { arguments }.',
      },
    )
  }

  get id(): string {
    return this.#run.id
  }
  get method(): string {
    return this.#run.method
  }
  get sessionId(): string {
    return this.#run.context.sessionId
  }
  get owner(): object {
    return (this.#owner ??= new OwnerView(this, this.#run.sealed.owner))
  }
  get authority(): object {
    return (this.#authority ??= new AuthorityView(this, this.#run))
  }
  get arguments(): object {
    return this.#run.arguments.read()
  }
  get question(): object | null {
    return this.#run.sealed.question
  }
  get tool(): string | undefined {
    const call = this.#run.sealed
    return call.method === 'tools/call' ? call.target : undefined
  }
  get annotations(): object | undefined {
    return this.#run.sealed.tool?.annotations
  }
  get annotationsTrusted(): boolean | undefined {
    const call = this.#run.sealed
    return call.method === 'tools/call' ? call.entry.registration.policy.trustAnnotations : undefined
  }
  get title(): string | undefined {
    return this.#run.sealed.tool?.title
  }
  get names(): readonly string[] | undefined {
    const call = this.#run.sealed
    return call.method === 'tools/call' ? call.names : undefined
  }
  get pluginId(): string | null {
    return this.#run.sealed.entry.registration.provenance.pluginId
  }
  get uri(): string | undefined {
    return this.#run.method === 'resources/read' ? (this.#run.arguments.read()['uri'] as string) : undefined
  }
  get prompt(): string | undefined {
    const call = this.#run.sealed
    return call.method === 'prompts/get' ? call.target : undefined
  }

  toJSON(): object {
    const { id, method, sessionId, owner, tool, uri, prompt } = this
    return { id, method, sessionId, owner, tool, uri, prompt, arguments: this.arguments }
  }
}

class OwnerView {
  readonly #view: TapView
  readonly #key: KeyParts

  constructor(view: TapView, key: KeyParts) {
    this.#view = view
    this.#key = key
    Object.freeze(this)
  }

  static viewOf(self: unknown): TapView | undefined {
    const owner = ancestor(self, (object): object is OwnerView => #view in object)
    return owner === undefined ? undefined : owner.#view
  }

  get name(): string {
    return this.#key.name
  }
  get environmentId(): string | null {
    return this.#key.environmentId
  }
  get installationId(): string | null {
    return this.#key.installationId
  }
  toString(): string {
    return displayKey(this.#key)
  }
  toJSON(): object {
    return { name: this.name, environmentId: this.environmentId, installationId: this.installationId, display: displayKey(this.#key) }
  }
  /** True for the same identity, whichever tap's view or key the other is. */
  equals(other: unknown): boolean {
    return sameParts(this.#key, other)
  }
}

class AuthorityView implements Authority {
  readonly #view: TapView
  readonly #run: CallRun

  constructor(view: TapView, run: CallRun) {
    this.#view = view
    this.#run = run
    Object.freeze(this)
  }

  static viewOf(self: unknown): TapView | undefined {
    const authority = ancestor(self, (object): object is AuthorityView => #view in object)
    return authority === undefined ? undefined : authority.#view
  }

  get environmentId(): string {
    return this.#run.sealed.environment.id
  }
  get environmentInstanceId(): string {
    return this.#run.sealed.environment.instanceId
  }
  get cwd(): string {
    return this.#run.sealed.environment.cwd
  }
  get permissions(): Authority['permissions'] {
    return this.#run.sealed.governance.permissions
  }
  get approvalPolicy(): Authority['approvalPolicy'] {
    return this.#run.sealed.governance.approvalPolicy
  }
  get flags(): Authority['flags'] {
    return this.#run.sealed.flags
  }
  get catalogGeneration(): number {
    return this.#run.sealed.catalogGeneration
  }
  get definitionDigest(): string {
    return this.#run.sealed.tool?.digest ?? ''
  }
  toJSON(): object {
    const { environmentId, environmentInstanceId, cwd, permissions, approvalPolicy, catalogGeneration, definitionDigest } = this
    return { environmentId, environmentInstanceId, cwd, permissions, approvalPolicy, catalogGeneration, definitionDigest }
  }
}

/** The error of every attempt to move a call. */
export function changedOwner(callId: string, tap: ViewOwner, key: string, how: 'assigned' | 'returned' | 'passed'): HookError {
  const where = how === 'passed' ? `passed ${key} to next()` : `${how} ${key}`
  const message = `tap "${tap.name}" of plugin "${tap.plugin}" ${where} in ${tap.hook}: a hook cannot change the owner of a call`
  return new HookError('HOOK_CHANGED_OWNER', message, tap, callId, { data: { key } })
}

/** Longer chains are not looked at: a Proxy can make them endless. */
const LONGEST_CHAIN = 20

/** The first of the object and what it inherits from that is of the kind. */
function ancestor<T extends object>(self: unknown, isKind: (object: object) => object is T): T | undefined {
  let object = self
  for (let i = 0; i < LONGEST_CHAIN && typeof object === 'object' && object !== null; i++) {
    if (isKind(object)) return object
    object = Object.getPrototypeOf(object)
  }
  return undefined
}

// Setters are put on the prototypes in one place: every ownership word, whether the view shows it or not, and every other field.
seal(TapView.prototype, TapView.of, '', new Set([...OWNERSHIP_KEYS, 'authority', 'method', 'uri', 'prompt']))
seal(OwnerView.prototype, OwnerView.viewOf, 'owner.', new Set([...OWNERSHIP_KEYS, 'name']))
seal(
  AuthorityView.prototype,
  AuthorityView.viewOf,
  'authority.',
  new Set([...OWNERSHIP_KEYS, 'environmentInstanceId', 'permissions', 'approvalPolicy', 'cwd']),
)

function seal(prototype: object, viewOf: (self: unknown) => TapView | undefined, prefix: string, owned: ReadonlySet<string>): void {
  const view = (self: unknown, field: string): TapView => {
    const found = viewOf(self)
    if (found === undefined) throw new TypeError(`${field} of a call was set on something that is no call`)
    return found
  }
  for (const name of new Set([...Object.getOwnPropertyNames(prototype), ...owned])) {
    const own = Object.getOwnPropertyDescriptor(prototype, name)
    if (name === 'constructor' || typeof own?.value === 'function') continue
    Object.defineProperty(prototype, name, {
      configurable: false,
      enumerable: own !== undefined,
      get: own?.get ?? (() => undefined),
      set: owned.has(name)
        ? function (this: unknown) {
            TapView.write(view(this, name), `${prefix}${name}`)
          }
        : function (this: unknown) {
            TapView.readOnly(view(this, name), `${prefix}${name}`)
          },
    })
  }
  // console.log(call) is what an author tries first
  Object.defineProperty(prototype, INSPECT, {
    value(this: { toJSON(): object }) {
      return this.toJSON()
    },
  })
  // nobody gets at the class through an instance
  Reflect.deleteProperty(prototype, 'constructor')
  Object.freeze(prototype)
}
