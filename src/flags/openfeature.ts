/** What is used of OpenFeature, as structural types: whoever compiles against ours needs none of its packages. */

/** A value of an evaluation context. */
export type EvaluationContextValue =
  | string
  | number
  | boolean
  | null
  | Date
  | EvaluationContextValue[]
  | { [name: string]: EvaluationContextValue }

/** Attributes that decide a roll-out; `targetingKey` names who or what it is decided for. */
export type EvaluationContext = { targetingKey?: string } & Record<string, EvaluationContextValue>

/** What a provider or client says of one flag. */
export interface FlagResolution<T> {
  readonly value: T
  readonly variant?: string | undefined
  readonly reason?: string | undefined
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
}

/** Where a provider writes its log. */
export interface OpenFeatureLogger {
  error(...args: unknown[]): void
  warn(...args: unknown[]): void
  info(...args: unknown[]): void
  debug(...args: unknown[]): void
}

/** An OpenFeature provider for servers, as far as it is used. */
export interface OpenFeatureProvider {
  readonly metadata: { readonly name: string }
  resolveBooleanEvaluation(
    flagKey: string,
    defaultValue: boolean,
    context: EvaluationContext,
    logger: OpenFeatureLogger,
  ): Promise<FlagResolution<boolean>>
  resolveStringEvaluation(
    flagKey: string,
    defaultValue: string,
    context: EvaluationContext,
    logger: OpenFeatureLogger,
  ): Promise<FlagResolution<string>>
  resolveNumberEvaluation(
    flagKey: string,
    defaultValue: number,
    context: EvaluationContext,
    logger: OpenFeatureLogger,
  ): Promise<FlagResolution<number>>
}

/** An OpenFeature client that the host has set up, as far as it is used. */
export interface OpenFeatureClient {
  getBooleanDetails(flagKey: string, defaultValue: boolean, context?: EvaluationContext): Promise<FlagResolution<boolean>>
  getStringDetails(flagKey: string, defaultValue: string, context?: EvaluationContext): Promise<FlagResolution<string>>
  getNumberDetails(flagKey: string, defaultValue: number, context?: EvaluationContext): Promise<FlagResolution<number>>
}

/** True for a client. */
export function isOpenFeatureClient(value: unknown): value is OpenFeatureClient {
  return hasMethods(value, ['getBooleanDetails', 'getStringDetails', 'getNumberDetails'])
}

/** True for a provider. */
export function isOpenFeatureProvider(value: unknown): value is OpenFeatureProvider {
  return hasMethods(value, ['resolveBooleanEvaluation', 'resolveStringEvaluation', 'resolveNumberEvaluation'])
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function')
}
