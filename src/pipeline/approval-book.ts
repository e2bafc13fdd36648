/** The approvals that outlive their session, in the store; looked up anew for each call, so that what is revoked elsewhere no longer counts. */
import { randomBytes } from 'node:crypto'
import { TaplineError } from '../errors.ts'
import type { Store } from '../storage/store.ts'
import { readRecord, recordText } from './approval-record.ts'
import type { ApprovalRecord } from './approval-record.ts'

const AREA = 'approvals'
const SALT = 'salt'
const PREFIX = 'approval/'
const SALT_BYTES = 32
const ID = /^[0-9a-f]{32}$/

/** Of one store; every method rejects with STORE_FAILED where the store cannot be used. */
export class ApprovalBook {
  readonly #store: Store
  readonly #onUnreadable: (id: string) => void

  /** `onUnreadable` is told of entries that count as no approval because they cannot be read. */
  constructor(store: Store, onUnreadable: (id: string) => void = () => {}) {
    this.#store = store
    this.#onUnreadable = onUnreadable
  }

  /** The salt of the store, or null where nothing was ever remembered in it. */
  async salt(): Promise<Buffer | null> {
    const entry = await this.#store.get(AREA, SALT)
    return entry === null ? null : saltOf(entry.value)
  }

  /** The salt; made where there is none yet, by one of several processes. */
  async saltToWrite(): Promise<Buffer> {
    const present = await this.salt()
    if (present !== null) return present
    const made = await this.#store.put(AREA, SALT, randomBytes(SALT_BYTES).toString('base64url'), { ifAbsent: true })
    return made === null ? this.saltToWrite() : saltOf(made.value)
  }

  /** The approval with exactly this identity, or null. */
  async find(binding: Pick<ApprovalRecord, 'id' | 'subject' | 'definitionDigest'>): Promise<ApprovalRecord | null> {
    const entry = await this.#store.get(AREA, PREFIX + binding.id)
    const record = entry === null ? null : this.#read(entry.key, entry.value)
    return record !== null && record.subject === binding.subject && record.definitionDigest === binding.definitionDigest ? record : null
  }

  async add(record: ApprovalRecord): Promise<void> {
    await this.#store.put(AREA, PREFIX + record.id, recordText(record))
  }

  /** Oldest first. */
  async list(): Promise<readonly ApprovalRecord[]> {
    const records: ApprovalRecord[] = []
    for await (const { key, value } of this.#store.list(AREA)) {
      const record = key.startsWith(PREFIX) ? this.#read(key, value) : null
      if (record !== null) records.push(record)
    }
    return records.sort((a, b) => a.since.getTime() - b.since.getTime())
  }

  /** False where there was none. */
  async revoke(id: string): Promise<boolean> {
    return ID.test(id) && this.#store.delete(AREA, PREFIX + id)
  }

  #read(key: string, value: string): ApprovalRecord | null {
    const record = readRecord(value)
    if (record !== null && key === PREFIX + record.id) return record
    this.#onUnreadable(key.slice(PREFIX.length))
    return null
  }
}

function saltOf(text: string): Buffer {
  const salt = Buffer.from(text, 'base64url')
  if (salt.length === SALT_BYTES) return salt
  throw new TaplineError('STORE_FAILED', 'the salt of the approvals in the store is damaged, so that no approval in it can be recognised', {
    remedy: 'Move the approvals of the store out of the way; every tool is then asked about again.',
  })
}
