/** What a host says about flags. */
import type { Flag, FlagValue } from '../flags/flag.ts'
import type { EvaluationContext, OpenFeatureClient, OpenFeatureProvider } from '../flags/openfeature.ts'

export interface FlagOptions {
  /** flags of the host and of its hook plugins */
  readonly define?: readonly Flag[]
  /** strongest source: the same as --enable, --disable and --flag */
  readonly override?: Readonly<Record<string, FlagValue>>
  /** An OpenFeature provider, which is started under a domain of our own and shut down with the runtime, or a client that the host has set up. All flags of a session together wait 100 ms for it */
  readonly provider?: OpenFeatureProvider | OpenFeatureClient
  /** A flagd definition file, followed while the runtime is open; relative to the working directory. Takes the place of one that a configuration file names, and excludes `provider` */
  readonly flagd?: string
  /** attributes of every session; those of a session are stronger */
  readonly evaluationContext?: EvaluationContext
}
