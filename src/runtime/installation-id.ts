/** Who a roll-out is decided for where nobody says: this installation. */
import { randomUUID } from 'node:crypto'
import type { Store } from '../storage/store.ts'

const KEY = 'id'

/** The random id that the store keeps, made on first use; several processes agree on one. Rejects with STORE_FAILED. */
export async function installationId(store: Store): Promise<string> {
  const kept = await store.get('installation', KEY)
  if (kept !== null) return kept.value
  const made = await store.put('installation', KEY, randomUUID(), { ifAbsent: true })
  return (made ?? (await store.get('installation', KEY)))?.value ?? randomUUID()
}
