/** What people let a runtime remember: to look at, and to take back. */
import type { ApprovalBook } from '../pipeline/approval-book.ts'
import type { ApprovalMemory } from '../pipeline/approval-memory.ts'
import type { ApprovalRecord } from '../pipeline/approval-record.ts'
import type { KeyJson } from '../servers/key.ts'
import { displayKey } from '../servers/key.ts'

/** One remembered yes. */
export interface RememberedApproval {
  /** 32 hex digits */
  readonly id: string
  readonly owner: KeyJson
  /** raw name */
  readonly tool: string
  /** `session`: ends with the session it was given in; `always`: kept in the store */
  readonly scope: 'session' | 'always'
  /** salted digest of what the yes is bound to: the definitions of tool, launch and environment */
  readonly definitionDigest: string
  readonly since: Date
}

/** The remembered approvals of a runtime: those of its open sessions and those of its store. Both methods reject with STORE_FAILED. */
export interface Approvals {
  /** oldest first */
  list(): Promise<readonly RememberedApproval[]>
  /** False if there was none. The next call of every session asks again, also in other processes on the same store. */
  revoke(id: string): Promise<boolean>
}

/** `memories` gives those of the sessions that are open at that moment. */
export function runtimeApprovals(book: ApprovalBook, memories: () => Iterable<ApprovalMemory> = () => []): Approvals {
  return Object.freeze({
    async list() {
      const always = (await book.list()).map((record) => remembered(record, 'always'))
      const session = [...memories()].flatMap((memory) => memory.list().map((record) => remembered(record, 'session')))
      return [...always, ...session].sort((a, b) => a.since.getTime() - b.since.getTime())
    },
    async revoke(id: string) {
      // no short cut: what is remembered for a session is taken back even where the store fails
      const session = [...memories()].map((memory) => memory.revoke(id)).includes(true)
      return session || (await book.revoke(id))
    },
  })
}

function remembered({ id, owner, tool, definitionDigest, since }: ApprovalRecord, scope: RememberedApproval['scope']): RememberedApproval {
  return Object.freeze({ id, owner: Object.freeze({ ...owner, display: displayKey(owner) }), tool, scope, definitionDigest, since })
}
