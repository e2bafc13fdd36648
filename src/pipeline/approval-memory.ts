/** What one session may take as a yes that was given earlier: its own approvals, and those of the store. */
import { randomBytes } from 'node:crypto'
import type { ToolRecord } from '../connections/connection.ts'
import type { SealedCall } from '../hooks/sealed-call.ts'
import type { Secrets } from '../secrets.ts'
import type { ApprovalBinding } from './approval-binding.ts'
import { bind } from './approval-binding.ts'
import type { ApprovalBook } from './approval-book.ts'
import { approvalChanges } from './approval-changes.ts'
import type { ApprovalChange } from './approval-changes.ts'
import type { ApprovalRecord } from './approval-record.ts'
import { recordOf } from './approval-record.ts'

/** Lives and ends with its session; nothing but a yes of a person ever enters. */
export class ApprovalMemory {
  readonly #records = new Map<string, ApprovalRecord>()
  readonly #bindings = new WeakMap<
    ToolRecord,
    Pick<SealedCall, 'entry' | 'environment' | 'governance'> & { readonly binding: ApprovalBinding }
  >()
  readonly #salt = randomBytes(32)
  readonly #scope: string
  readonly #book: ApprovalBook
  readonly #secrets: Secrets

  constructor(sessionId: string, book: ApprovalBook, secrets: Secrets) {
    this.#scope = `session ${sessionId}`
    this.#book = book
    this.#secrets = secrets
  }

  /** True where this session remembers a yes to exactly this owner, tool and definitions. */
  has(call: SealedCall): boolean {
    return this.#records.size > 0 && this.#records.has(this.#bind(call).id)
  }

  /** The same of the store. Rejects with STORE_FAILED. */
  async hasAlways(call: SealedCall): Promise<boolean> {
    const salt = await this.#book.salt()
    return salt !== null && (await this.#book.find(bind(call, salt, ''))) !== null
  }

  remember(call: SealedCall): void {
    const binding = this.#bind(call)
    this.#records.set(binding.id, recordOf(binding, call.tool, this.#secrets))
  }

  /** Rejects with STORE_FAILED, and then nothing is remembered. */
  async rememberAlways(call: SealedCall): Promise<void> {
    const binding = bind(call, await this.#book.saltToWrite(), '')
    await this.#book.add(recordOf(binding, call.tool, this.#secrets))
  }

  /** What changed since the latest approval of this owner and tool; empty where there was none. `always`: look into the store too, which rejects with STORE_FAILED. */
  async changes(call: SealedCall, always: boolean): Promise<readonly ApprovalChange[]> {
    const found: { readonly record: ApprovalRecord; readonly binding: ApprovalBinding }[] = []
    const collect = (records: Iterable<ApprovalRecord>, binding: ApprovalBinding): void => {
      for (const record of records) if (record.subject === binding.subject) found.push({ record, binding })
    }
    if (this.#records.size > 0) collect(this.#records.values(), this.#bind(call))
    const salt = always ? await this.#book.salt() : null
    if (salt !== null) collect(await this.#book.list(), bind(call, salt, ''))
    const latest = found.sort((a, b) => b.record.since.getTime() - a.record.since.getTime())[0]
    return latest === undefined ? [] : approvalChanges(latest.record, latest.binding, call.tool, this.#secrets)
  }

  /** Of this session alone, oldest first. */
  list(): readonly ApprovalRecord[] {
    return [...this.#records.values()]
  }

  /** False where this session has none of that id. */
  revoke(id: string): boolean {
    return this.#records.delete(id)
  }

  /** Hashes once for each definition, and not for each call of a tool that is called all the time. */
  #bind(call: SealedCall): ApprovalBinding {
    const { tool, entry, environment, governance } = call
    const known = tool === null ? undefined : this.#bindings.get(tool)
    if (known !== undefined && known.entry === entry && known.environment === environment && known.governance === governance)
      return known.binding
    const binding = bind(call, this.#salt, this.#scope)
    if (tool !== null) this.#bindings.set(tool, { entry, environment, governance, binding })
    return binding
  }
}
