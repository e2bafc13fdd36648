/** A place where servers run, and the permissions and policy that govern what runs there. */
import { randomUUID } from 'node:crypto'
import { TaplineError } from '../errors.ts'
import { lossInValue } from '../exact-json.ts'
import type { JsonObject } from '../json.ts'
import { deepFreeze, sameJson, snapshot } from '../json.ts'
import type { Reviewer } from './approval-question.ts'
import { checkGovernance } from './check-governance.ts'

/** What servers of the environment are told they may do. It confines nothing by itself (docs/security.md). */
export type PermissionProfile =
  | 'read-only'
  | 'workspace-write'
  | 'full-access'
  | 'external'
  | {
      readonly type: 'read-only' | 'workspace-write' | 'full-access' | 'external'
      readonly networkAccess?: boolean
      readonly writableRoots?: readonly string[]
      /** workspace-write: leave /tmp out of the writable places */
      readonly excludeSlashTmp?: boolean
      /** workspace-write: leave $TMPDIR out of the writable places */
      readonly excludeTmpdirEnvVar?: boolean
    }
  /** A ready policy of the host: forwarded unchanged. Never counts as full access. */
  | { readonly type: 'opaque'; readonly sandboxState: string | JsonObject }

/** Whether a call that needs approval is put to somebody (spec 60). */
export type ApprovalPolicy = 'on-request' | 'untrusted' | 'never' | { readonly granular: { readonly mcpElicitations: boolean } }

/** What may change while calls run. Replaced as a whole, so that a call can hold what it was judged by. */
export interface Governance {
  /** null: not set; no sandbox state is sent, and it counts as not full access */
  readonly permissions: PermissionProfile | null
  readonly approvalPolicy: ApprovalPolicy
  /** a second opinion before a person is asked; null: the person is asked directly */
  readonly reviewer: Reviewer | null
}

/** The executor of an environment as a definition names it. */
export interface ExecutorSpec {
  readonly kind: string
  readonly options: JsonObject
}

/** An environment as a configuration defines it, normalised. */
export interface EnvironmentSpec {
  readonly id: string
  readonly executor: ExecutorSpec
  /** absolute on that machine */
  readonly cwd: string
  readonly extraRoots: readonly string[]
  /** true where `cwd` or `extraRoots` are written down: then servers are told of them as roots */
  readonly hasRoots?: boolean
  readonly permissions: PermissionProfile | null
  readonly approvalPolicy: ApprovalPolicy
  /** as written; only `local` offers it to servers, and only where it is absolute and passes the probe */
  readonly codexExecutable: string | null
  /** where plugin packages are looked for, `*` for any name; relative ones are relative to `cwd` */
  readonly pluginRoots?: readonly string[]
  /** also the packages that the executor itself knows of */
  readonly discover?: boolean
  /** `file:line:column` or `host` */
  readonly where: string
}

/** Whether the machine of an environment can be reached. */
export type ExecutorStatus = { readonly state: 'idle' | 'connecting' | 'ready' } | { readonly state: 'lost'; readonly cause: string }

/** For the pool of executors alone. */
export let setStatus: (environment: Environment, status: ExecutorStatus) => void
/** For sessions alone: told of every later status, until it disposes of what it gets. */
export let watchStatus: (environment: Environment, listener: (status: ExecutorStatus) => void) => Disposable
/** For the runtime alone. */
export let markReplaced: (environment: Environment) => void

/** One live instance of an environment. Replacing an environment makes another instance; changing its governance does not. */
export class Environment {
  readonly id: string
  readonly instanceId: string = randomUUID()
  readonly spec: EnvironmentSpec
  #governance: Governance
  #status: ExecutorStatus = { state: 'idle' }
  #replaced = false
  readonly #watchers = new Set<(status: ExecutorStatus) => void>()

  static {
    setStatus = (environment, status) => {
      environment.#status = Object.freeze(status)
      for (const listener of environment.#watchers) listener(status)
    }
    watchStatus = (environment, listener) => {
      environment.#watchers.add(listener)
      return { [Symbol.dispose]: () => void environment.#watchers.delete(listener) }
    }
    markReplaced = (environment) => {
      environment.#replaced = true
    }
  }

  /** A reviewer comes from code; no file can name one. */
  constructor(spec: EnvironmentSpec, reviewer: Reviewer | null = null) {
    this.id = spec.id
    this.spec = spec
    this.#governance = frozenGovernance({ permissions: spec.permissions, approvalPolicy: spec.approvalPolicy, reviewer })
  }

  /** the instance where its servers run: this one, unless a session only governs it otherwise */
  get base(): Environment {
    return this
  }

  get cwd(): string {
    return this.spec.cwd
  }

  /** Whether its machine can be reached, as far as anybody had to know. */
  get status(): ExecutorStatus {
    return this.#status
  }

  /** True once another instance has its id: sessions that were open then keep this one. */
  get replaced(): boolean {
    return this.#replaced
  }

  /** kind of the executor */
  get executor(): string {
    return this.spec.executor.kind
  }

  get permissions(): PermissionProfile | null {
    return this.governance.permissions
  }

  get approvalPolicy(): ApprovalPolicy {
    return this.governance.approvalPolicy
  }

  get reviewer(): Reviewer | null {
    return this.governance.reviewer
  }

  /** Permissions, policy and reviewer at this moment: one frozen object until the next change. */
  get governance(): Governance {
    return this.#governance
  }

  /** Changes permissions, policy or reviewer at once; the next write of every call sees it. Throws CALL_INVALID_REQUEST, TypeError for what is not JSON, SANDBOX_POLICY_UNREADABLE for an opaque policy that JSON would change. */
  update(change: Partial<Governance>): void {
    checkGovernance(change)
    this.#governance = frozenGovernance({ ...this.#governance, ...saidGovernance(change) })
  }
}

/** What a change says: undefined counts as left out. */
export function saidGovernance(change: Partial<Governance>): Partial<Governance> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

/** A frozen copy. Throws TypeError, SANDBOX_POLICY_UNREADABLE. */
export function frozenGovernance({ reviewer, ...judged }: Governance): Governance {
  const { permissions } = judged
  if (typeof permissions === 'object' && permissions?.type === 'opaque' && typeof permissions.sandboxState !== 'string') {
    // the copy below would lose it without a word
    const loss = lossInValue(permissions.sandboxState)
    if (loss !== null) throw new TaplineError('SANDBOX_POLICY_UNREADABLE', `the sandbox policy cannot be kept unchanged: it has ${loss}`)
  }
  return Object.freeze({ ...(deepFreeze(snapshot(judged)) as unknown as Omit<Governance, 'reviewer'>), reviewer })
}

/** True where both say the same; taken by value, since setting the same policy again changes nothing. */
export function sameGovernance(a: Governance, b: Governance): boolean {
  if (a === b) return true
  return a.reviewer === b.reviewer && sameJson(a.permissions, b.permissions) && sameJson(a.approvalPolicy, b.approvalPolicy)
}

/** True for the two full-access forms; unset, external and opaque policies are not full access. */
export function isFullAccess(permissions: PermissionProfile | null): boolean {
  return permissions === 'full-access' || (typeof permissions === 'object' && permissions !== null && permissions.type === 'full-access')
}

/** The id of the environment that always exists. */
export const LOCAL = 'local'
