/** Opens the sources of flags: a provider, a client or a flag file is loaded only where there is one. */
import path from 'node:path'
import type { FlagEvaluator } from '../flags/evaluator.ts'
import type { FlagRegistry } from '../flags/registry.ts'
import type { FlagSources } from '../flags/statements.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Store } from '../storage/store.ts'
import type { FlagOptions } from './flag-options.ts'
import { installationId } from './installation-id.ts'
import { RuntimeFlags } from './runtime-flags.ts'

/** What is needed beside the options of the host. */
export interface FlagSetting {
  readonly registry: FlagRegistry
  readonly variables: FlagSources['variables']
  readonly features: NonNullable<FlagSources['features']>
  /** of the configuration files; the one of the options takes its place */
  readonly flagFile: string | null
  readonly store: Store
  readonly secrets: Secrets
  /** gets what is wrong with a flag file, also later */
  readonly report: (diagnostic: Diagnostic) => void
}

/** A flag file is read before this resolves, a provider is started and not waited for. A file that cannot be used is a diagnostic. */
export async function openFlags(options: FlagOptions, setting: FlagSetting): Promise<RuntimeFlags> {
  const { registry, variables, features, store, secrets } = setting
  return new RuntimeFlags({
    registry,
    override: options.override ?? {},
    ...(variables && { variables }),
    features,
    evaluator: await openEvaluator(options, setting),
    context: options.evaluationContext ?? {},
    installationId: () => installationId(store),
    redact: (text) => secrets.redact(text),
  })
}

async function openEvaluator({ provider, flagd }: FlagOptions, { flagFile, report }: FlagSetting): Promise<FlagEvaluator | null> {
  if (provider !== undefined) {
    const { openClient } = await import('../flags/client-evaluator.ts')
    return openClient(provider)
  }
  const file = flagd === undefined ? flagFile : path.resolve(flagd)
  if (file === null) return null
  const { openFlagFile } = await import('../flags/flagd-evaluator.ts')
  return openFlagFile(file, {
    onProblem: (message, where) => report({ code: 'flag_file_unusable', severity: 'error', message, where }),
    onRecovered: () =>
      report({ code: 'flag_file_usable', severity: 'info', message: `the flag file ${file} can be used again`, where: file }),
  })
}
