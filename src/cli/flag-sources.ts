/** Where the flags of a command line come from. */
import type { LoadedConfig } from '../config/config.ts'
import type { TaplineError } from '../errors.ts'
import type { Flag, FlagDetails } from '../flags/flag.ts'
import type { FlagStatement } from '../flags/statements.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { CliContext } from './context.ts'
import { flagOptions } from './globals.ts'
import { readConfiguration } from './open.ts'

/** A flag, what every source says of it, strongest first, and what comes out. */
export interface EvaluatedFlag {
  readonly flag: Flag
  readonly statements: readonly FlagStatement[]
  readonly details: FlagDetails
}

/** Every flag of a configuration (null: none) as a session would capture it now, and what is wrong with the flag file. Throws FLAG_…. */
export async function evaluateFlags(
  { globals, env }: Pick<CliContext, 'globals' | 'env'>,
  loaded: LoadedConfig | null,
): Promise<{ readonly flags: readonly EvaluatedFlag[]; readonly diagnostics: readonly Diagnostic[] }> {
  const [{ openFlags }, { FlagRegistry }, { detailsOf }, { fileStore }, { defaultStoreFolder }, { Secrets }, { declareModeFlags }] =
    await Promise.all([
      import('../runtime/open-flags.ts'),
      import('../flags/registry.ts'),
      import('../flags/statements.ts'),
      import('../storage/file-store.ts'),
      import('../storage/default-folder.ts'),
      import('../secrets.ts'),
      import('../runtime/hook-entry.ts'),
    ])
  const registry = new FlagRegistry()
  declareModeFlags(registry, loaded?.hooks ?? [])
  const diagnostics: Diagnostic[] = []
  const store = fileStore(loaded?.storeFolder ?? defaultStoreFolder(env))
  const sources = await openFlags(flagOptions(globals), {
    registry,
    variables: env,
    features: loaded?.features ?? [],
    flagFile: loaded?.flagFile ?? null,
    store,
    secrets: new Secrets(),
    report: (diagnostic) => void diagnostics.push(diagnostic),
  })
  try {
    const said = await sources.statements({ sessionId: 'flags', environmentIds: loaded?.selectedEnvironments ?? [] })
    const flags = [...said].map(([flag, statements]) => ({ flag, statements, details: detailsOf(flag, statements) }))
    return { flags, diagnostics }
  } finally {
    await sources.close()
    await store.close()
  }
}

/** A source that should have a say and has none. One that cannot be used at all has told so itself. */
function failedSource({ flag, statements, details }: EvaluatedFlag): readonly Diagnostic[] {
  return statements
    .filter(({ errorCode }) => errorCode !== undefined && errorCode !== 'FLAG_NOT_FOUND' && errorCode !== 'PROVIDER_NOT_READY')
    .map(({ source, errorCode, errorMessage }) => ({
      code: 'flag_provider_failed',
      severity: 'warning',
      message: `the ${source} has no say in ${flag.name}, which is ${String(details.value)} (${details.source}): ${errorMessage ?? errorCode}`,
    }))
}

/** The flags of the configuration of a command line; without a configuration those of Tapline. Throws FLAG_… and CONFIG_…. */
export async function readFlags(context: CliContext): ReturnType<typeof evaluateFlags> {
  const loaded = await readConfiguration(context).then(
    (configuration) => configuration.loaded,
    (error: TaplineError) => {
      if (error.code === 'CONFIG_NOT_FOUND' && context.globals.config.length === 0) return null
      throw error
    },
  )
  const { flags, diagnostics } = await evaluateFlags(context, loaded)
  // a flag file in a project file that was only found has no say, and this is where people wonder why
  const ignored = loaded?.diagnostics.filter(({ code, message }) => code === 'ignored_key' && message.startsWith('"flags"')) ?? []
  return { flags, diagnostics: [...ignored, ...diagnostics, ...flags.flatMap(failedSource)] }
}
