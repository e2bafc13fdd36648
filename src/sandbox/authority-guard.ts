/** Keeps the authority of the call that started something long-lived, so that no other call uses it. */
import { authorityText, type CallMeta } from './call-authority.ts'
import { SandboxAuthorityChangedError, SandboxContradictionError } from './sandbox-errors.ts'

/** Make one with the `_meta` of the call that starts a process or fills a cache; ask it before every later use. It compares state and launcher by value, unknown fields included. */
export class AuthorityGuard {
  readonly #held: string

  /** Throws SANDBOX_CONTRADICTION as `readSandbox` does; a call without state is an authority too. */
  constructor(meta: CallMeta) {
    this.#held = authorityText(meta)
  }

  /** Throws SANDBOX_AUTHORITY_CHANGED where state or launcher of this call are other ones, or contradict themselves. */
  assertSame(meta: CallMeta): void {
    if (!this.same(meta)) throw new SandboxAuthorityChangedError()
  }

  /** True where this call has the same state and launcher. */
  same(meta: CallMeta): boolean {
    try {
      return authorityText(meta) === this.#held
    } catch (error) {
      if (error instanceof SandboxContradictionError) return false
      throw error
    }
  }
}
