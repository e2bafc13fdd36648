/** An environment of the runtime as one session governs it: the same instance, the same connections, permissions and policy of its own. */
import { checkGovernance } from './check-governance.ts'
import type { ExecutorStatus, Governance } from './environment.ts'
import { Environment, frozenGovernance, saidGovernance } from './environment.ts'

/** What the session does not say is as the runtime has it, at every moment. */
export class GovernedEnvironment extends Environment {
  override readonly instanceId: string
  readonly #base: Environment
  #said: Partial<Governance>
  #made: { readonly of: Governance; readonly governance: Governance } | null = null

  /** Throws CALL_INVALID_REQUEST, SANDBOX_POLICY_UNREADABLE, TypeError like `update`. */
  constructor(base: Environment, change: Partial<Governance>) {
    checkGovernance(change)
    super(base.spec, base.reviewer)
    this.instanceId = base.instanceId
    this.#base = base
    this.#said = saidGovernance(change)
    this.#made = this.#make(this.#said)
  }

  override get base(): Environment {
    return this.#base
  }

  override get status(): ExecutorStatus {
    return this.#base.status
  }

  override get replaced(): boolean {
    return this.#base.replaced
  }

  override get governance(): Governance {
    if (this.#made?.of !== this.#base.governance) this.#made = this.#make(this.#said)
    return this.#made.governance
  }

  /** For this session alone. */
  override update(change: Partial<Governance>): void {
    checkGovernance(change)
    const said = { ...this.#said, ...saidGovernance(change) }
    this.#made = this.#make(said)
    this.#said = said
  }

  #make(said: Partial<Governance>): { readonly of: Governance; readonly governance: Governance } {
    const of = this.#base.governance
    // a copy, so that what the host does to its object later changes nothing
    return { of, governance: frozenGovernance({ ...of, ...said }) }
  }
}
