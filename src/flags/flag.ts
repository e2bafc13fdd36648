/** What a flag is, and what a session knows of its value. */

export type FlagValue = boolean | string | number

/** A declared flag. */
export interface Flag<V extends FlagValue = FlagValue> {
  readonly name: string
  readonly default: V
  readonly description: string
  readonly stage: 'experimental' | 'stable' | 'deprecated' | 'removed'
  readonly variants?: readonly V[]
}

/** Evaluation details as OpenFeature names them, plus where the value came from. */
export interface FlagDetails<V extends FlagValue = FlagValue> {
  readonly flagKey: string
  readonly value: V
  readonly variant?: string
  readonly reason: string
  readonly errorCode?: string
  readonly errorMessage?: string
  /** strongest first: override, environment variable, provider, configuration, default */
  readonly source: 'override' | 'environment_variable' | 'provider' | 'configuration' | 'default'
}

/** What a session captured when it was opened; it never changes afterwards. */
export interface CapturedFlags {
  get<V extends FlagValue>(flag: Flag<V>): V
  details<V extends FlagValue>(flag: Flag<V>): FlagDetails<V>
  /** all of them, sorted by name */
  all(): readonly FlagDetails[]
}
