/** The flags of a runtime: their sources, and what a session captures of them. */
import { randomUUID } from 'node:crypto'
import type { Said } from '../flags/ask-provider.ts'
import { Captured } from '../flags/captured.ts'
import type { FlagEvaluator } from '../flags/evaluator.ts'
import type { CapturedFlags, Flag, FlagValue } from '../flags/flag.ts'
import type { EvaluationContext } from '../flags/openfeature.ts'
import type { FlagRegistry } from '../flags/registry.ts'
import type { FlagSources, FlagStatement, Statements } from '../flags/statements.ts'
import { fixedStatements, isFailure, isSettled, winnerOf, withProvider } from '../flags/statements.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { VERSION } from '../version.ts'

/** Where the flags of a runtime come from. */
export interface RuntimeFlagSources extends FlagSources {
  readonly registry: FlagRegistry
  /** null without provider and flag file */
  readonly evaluator: FlagEvaluator | null
  /** attributes of every session */
  readonly context: EvaluationContext
  /** who a roll-out is decided for where nobody says; may reject */
  readonly installationId: () => Promise<string>
  readonly redact: (text: string) => string
}

/** For whom flags are evaluated. */
export interface FlagSubject {
  readonly sessionId: string
  readonly environmentIds: readonly string[]
  readonly context?: EvaluationContext
}

/** Values, and the one diagnostic of a provider that failed. */
export interface Capture {
  readonly flags: CapturedFlags
  readonly problem: Diagnostic | null
}

/** ms that the store has for the installation id. */
const STORE_MS = 1000

export class RuntimeFlags {
  readonly #sources: RuntimeFlagSources
  #installation: Promise<string> | null = null

  constructor(sources: RuntimeFlagSources) {
    this.#sources = sources
  }

  get registry(): FlagRegistry {
    return this.#sources.registry
  }

  /** Evaluates every flag. A promise only where there is a provider or a flag file. Throws or rejects with FLAG_UNKNOWN and FLAG_BAD_VALUE. */
  capture(subject: FlagSubject): Capture | Promise<Capture> {
    const fixed = fixedStatements(this.#sources.registry, this.#sources)
    if (this.#sources.evaluator === null) return { flags: new Captured(fixed), problem: null }
    return this.#ask(fixed, subject, false).then(({ statements, failed }) => ({
      flags: new Captured(statements),
      problem: failed.length === 0 ? null : problemOf(failed),
    }))
  }

  /** What every source says of every flag, also where a stronger one has spoken. Rejects as `capture` does. */
  async statements(subject: FlagSubject): Promise<Statements> {
    const fixed = fixedStatements(this.#sources.registry, this.#sources)
    return this.#sources.evaluator === null ? fixed : (await this.#ask(fixed, subject, true)).statements
  }

  /** Called when a provider or the flag file may have other answers. */
  onChange(listener: () => void): Disposable {
    return this.#sources.evaluator?.onChange(listener) ?? { [Symbol.dispose]: () => {} }
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.#sources.evaluator?.close()
  }

  async #ask(
    fixed: Statements,
    subject: FlagSubject,
    all: boolean,
  ): Promise<{ readonly statements: Statements; readonly failed: readonly (readonly [Flag, FlagStatement])[] }> {
    const questions = new Map<Flag, FlagValue>()
    for (const [flag, said] of fixed) if (all || !isSettled(said)) questions.set(flag, winnerOf(said).value)
    const [{ askProvider }, context] = await Promise.all([import('../flags/ask-provider.ts'), this.#contextOf(subject)])
    const evaluator = this.#sources.evaluator as FlagEvaluator
    const answers: ReadonlyMap<Flag, Said> =
      questions.size === 0 ? new Map() : await askProvider(evaluator, questions, context, this.#sources.redact)
    const statements = new Map(
      [...fixed].map(([flag, said]) => {
        const answer = answers.get(flag)
        return [flag, answer ? withProvider(said, answer.statement) : said] as const
      }),
    )
    const failed = [...answers].filter(([, { statement, reported }]) => isFailure(statement) && !reported)
    return { statements, failed: failed.map(([flag, { statement }]) => [flag, statement] as const) }
  }

  /** The attributes of a session: what Tapline knows, then what the host says of all, then of this one. */
  async #contextOf({ sessionId, environmentIds, context }: FlagSubject): Promise<EvaluationContext> {
    const merged = { sessionId, environmentIds: [...environmentIds], version: VERSION, ...this.#sources.context, ...context }
    const given = merged.targetingKey ?? this.#sources.variables?.['TAPLINE_TARGETING_KEY']
    return { ...merged, targetingKey: given || (await (this.#installation ??= this.#installationId())) }
  }

  /** A store that fails or hangs must not keep sessions from opening: then it is an id of this runtime alone. */
  async #installationId(): Promise<string> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => (timer = setTimeout(() => resolve(randomUUID()), STORE_MS)))
    try {
      return await Promise.race([this.#sources.installationId().catch(() => randomUUID()), late])
    } finally {
      clearTimeout(timer)
    }
  }
}

function problemOf(failed: readonly (readonly [Flag, FlagStatement])[]): Diagnostic {
  const flags = failed.map(([flag, { errorCode, errorMessage }]) => `${flag.name} (${errorCode}${errorMessage ? `: ${errorMessage}` : ''})`)
  return {
    code: 'flag_provider_failed',
    severity: 'warning',
    message: `the flag provider gave no usable answer, and weaker sources count: ${flags.join(', ')}`,
  }
}
