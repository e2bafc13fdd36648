/** What is decided about a call, its owner first. The core works on this and on nothing else; taps get views of it. Calls for which all of it is the same may share it. */
import type { Connection, ToolListing, ToolRecord } from '../connections/connection.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import type { Method } from '../mcp.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { ApprovalMode } from '../servers/definition.ts'
import type { Environment, Governance } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { PolicyQuestion } from './call-view.ts'

/** What the resolver decides, once. */
export interface Sealing {
  readonly method: Method
  readonly entry: CatalogEntry
  readonly connection: Connection
  /** the governing environment */
  readonly environment: Environment
  /** raw tool name, uri or prompt; the empty string for lists */
  readonly target: string
  /** the list that has the tool, as it was; null for methods without a tool */
  readonly listing: ToolListing | null
  /** the definition that the call is judged by; null for methods without a tool */
  readonly tool: ToolRecord | null
  /** `approve` for methods without a tool */
  readonly mode: ApprovalMode
  /** what policy and mode of the tool make of it, before anybody has a say */
  readonly need: 'run' | 'ask' | 'refuse'
  readonly question: PolicyQuestion | null
  readonly sessionId: string
  readonly flags: CapturedFlags
  readonly catalogGeneration: number
  /** knows the names of tools; asked only where a tap reads them */
  readonly naming: { namesOf(owner: ServerKey, tool: string): readonly string[] }
}

/** Everything that cannot change about a call, in private fields; made by the resolver and by nobody else. */
export class SealedCall {
  readonly #sealing: Sealing
  readonly #governance: Governance
  readonly #wasReplaced: boolean

  constructor(sealing: Sealing) {
    this.#sealing = sealing
    this.#governance = sealing.environment.governance
    this.#wasReplaced = sealing.environment.replaced
    Object.freeze(this)
  }

  /** True for a call that a resolver sealed; false for look-alikes, views and Proxies. */
  static is(value: unknown): value is SealedCall {
    return typeof value === 'object' && value !== null && #sealing in value
  }

  get method(): Method {
    return this.#sealing.method
  }
  get owner(): ServerKey {
    return this.#sealing.entry.key
  }
  get entry(): CatalogEntry {
    return this.#sealing.entry
  }
  get connection(): Connection {
    return this.#sealing.connection
  }
  get environment(): Environment {
    return this.#sealing.environment
  }
  /** permissions and policy as they were when the call was resolved */
  get governance(): Governance {
    return this.#governance
  }
  /** its environment had been replaced when the call was resolved: the session keeps the old one */
  get wasReplaced(): boolean {
    return this.#wasReplaced
  }
  get target(): string {
    return this.#sealing.target
  }
  get listing(): ToolListing | null {
    return this.#sealing.listing
  }
  get tool(): ToolRecord | null {
    return this.#sealing.tool
  }
  get mode(): ApprovalMode {
    return this.#sealing.mode
  }
  get need(): Sealing['need'] {
    return this.#sealing.need
  }
  get question(): PolicyQuestion | null {
    return this.#sealing.question
  }
  get sessionId(): string {
    return this.#sealing.sessionId
  }
  /** of the tool; see guardNames */
  get names(): readonly string[] {
    return this.#sealing.naming.namesOf(this.owner, this.target)
  }
  get flags(): CapturedFlags {
    return this.#sealing.flags
  }
  get catalogGeneration(): number {
    return this.#sealing.catalogGeneration
  }
}
Object.freeze(SealedCall.prototype)
