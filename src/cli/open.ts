/** The one place where commands meet configuration, store and runtime. All of it is loaded when it is needed. */
import { resolve } from 'node:path'
import type { LoadedConfig } from '../config/config.ts'
import type { ConfigFile } from '../config/load.ts'
import { TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Approvals } from '../runtime/approvals.ts'
import type { Approver, Logger, Runtime, RuntimeOptions, Session, TraceOption } from '../runtime/types.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Store } from '../storage/store.ts'
import type { CliContext } from './context.ts'
import { flagOptions } from './globals.ts'
import { diagnosticText, distinct } from './render/diagnostic.ts'
import { visibleLine, visibleMessage } from './render/escape.ts'

/**
 * Opens runtime and session, runs the work and closes both, whatever happens; afterwards tells the warnings and errors that came up.
 * `diagnostics` gives what is known at that moment. Throws CONFIG_NOT_FOUND, CONFIG_UNTRUSTED, CONFIG_INVALID.
 */
export async function withSession(
  context: CliContext,
  options: { readonly approver?: Approver; readonly trace?: TraceOption },
  work: (session: Session, diagnostics: () => readonly Diagnostic[]) => Promise<number>,
): Promise<number> {
  const { progress, interrupt, out } = context
  const runtime = await openedRuntime(context)
  let session: Session | null = null
  const diagnostics = (): readonly Diagnostic[] => distinct([...runtime.diagnostics, ...(session?.diagnostics ?? [])])
  try {
    interrupt.signal.throwIfAborted()
    session = await runtime.openSession(options)
    return await work(session, diagnostics)
  } finally {
    await progress.during('closing servers', () => runtime.close())
    for (const one of diagnostics()) {
      // a mistake in one server is told with the server, where a command lists those that failed
      const isTold = out.diagnosticsWritten || out.hasTold(visibleMessage(one.message))
      if (one.severity !== 'info' && !isTold) out.note(diagnosticText(one, out.paintErr))
    }
  }
}

/** Opens a runtime without a session, runs the work and closes it, whatever happens. Throws what `withSession` throws. */
export async function withRuntime<T>(context: CliContext, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await openedRuntime(context)
  try {
    return await work(runtime)
  } finally {
    await context.progress.during('closing servers', () => runtime.close())
  }
}

async function openedRuntime(context: CliContext): Promise<Runtime> {
  const files = await configurationFiles(context)
  const { openRuntime } = await import('../runtime/open-runtime.ts')
  const onInput = inputAsker(context)
  return openRuntime({
    config: files,
    flags: flagOptions(context.globals),
    logger: hookLog(context.out),
    ...(onInput && { onInput }),
  })
}

/** The option of a session that writes its records to the file of --trace-file. Throws CLI_USAGE for an empty path. */
export function traceTo(file: string | undefined, { cwd }: CliContext): { readonly trace?: TraceOption } {
  if (file === '') throw new TaplineError('CLI_USAGE', '--trace-file needs the path of a file')
  return file === undefined ? {} : { trace: { file: resolve(cwd, file) } }
}

/** Who answers the inputs of a VS Code mcp.json: a person at the terminal, or nobody (then undefined). */
function inputAsker(context: CliContext): RuntimeOptions['onInput'] {
  const { stdin, interrupt, progress } = context
  if (stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined
  return async (input) => {
    const resume = progress.pause()
    try {
      interrupt.signal.throwIfAborted()
      const { askInput } = await import('./ask-input.ts')
      const answer = await askInput(input, { signal: interrupt.signal, stdin, stderr: process.stderr })
      if (answer === null && !interrupt.signal.aborted) interrupt.pressed()
      interrupt.signal.throwIfAborted()
      return answer ?? undefined
    } finally {
      resume()
    }
  }
}

/** Lines of hooks (`context.log`) go to stderr; diagnostics are told at the end and not here. */
function hookLog(out: CliContext['out']): Logger {
  const silent = (): void => {}
  return { debug: silent, warn: silent, error: silent, info: (data, line) => ('session' in data ? out.note(visibleLine(line)) : undefined) }
}

/** The configuration of a command line, and its form for people and JSON: with the place of everything, secrets redacted. */
export interface Configuration {
  readonly loaded: LoadedConfig
  readonly describe: () => Promise<JsonObject>
}

/** Reads and merges the files of `configurationFiles`; nothing is started, nothing imported. */
export async function readConfiguration(context: CliContext): Promise<Configuration> {
  const files = await configurationFiles(context)
  const [{ loadConfig }, { Secrets }] = await Promise.all([import('../config/load.ts'), import('../secrets.ts')])
  const secrets = new Secrets()
  const loaded = await loadConfig({ files, env: context.env, secrets, cwd: context.cwd })
  return { loaded, describe: async () => (await import('../config/describe.ts')).describeConfig(loaded, secrets) }
}

/** Trusts what is found from the folder; gives the absolute paths. Throws CONFIG_NOT_FOUND where nothing is found. */
export async function trust(context: CliContext, folder: string | undefined): Promise<readonly string[]> {
  const { trustFolder } = await import('../config/trust.ts')
  return trustFolder(await openStore(context), resolve(context.cwd, folder ?? '.'))
}

/** What trusted files may now do, as they write it: nothing of it is expanded. */
export interface Allowed {
  /** display form of the server, and its command line or url */
  readonly servers: readonly { readonly server: string; readonly starts: string }[]
  /** hook modules that are imported */
  readonly hooks: readonly string[]
  /** hooks files, whose commands need trust of their own */
  readonly commandHooks: readonly string[]
  /** folders of plugin packages, with the environment in front where it is not `local` */
  readonly plugins: readonly string[]
}

/** Reads the files that were just trusted; empty lists where they cannot be read, which every other command tells. */
export async function allowedBy(context: CliContext, files: readonly string[]): Promise<Allowed> {
  const [{ loadConfig }, { Secrets }, { displayKey }] = await Promise.all([
    import('../config/load.ts'),
    import('../secrets.ts'),
    import('../servers/key.ts'),
  ])
  const found = files.map((path): ConfigFile => ({ path, kind: 'found' }))
  try {
    const { registrations, hooks, packages } = await loadConfig({
      files: found,
      env: context.env,
      secrets: new Secrets(),
      cwd: context.cwd,
    })
    return {
      servers: registrations.map(({ key, template }) => ({ server: displayKey(key), starts: startOf(template) })),
      hooks: hooks.filter(({ kind }) => kind !== 'commandHooks').map(({ module }) => module),
      commandHooks: hooks.filter(({ kind }) => kind === 'commandHooks').map(({ module }) => module),
      plugins: packages.map(({ path, environmentId }) => (environmentId === 'local' ? path : `${environmentId}:${path}`)),
    }
  } catch {
    return { servers: [], hooks: [], commandHooks: [], plugins: [] }
  }
}

function startOf(template: Json): string {
  const { command, args, url } = (template ?? {}) as { readonly command?: Json; readonly args?: Json; readonly url?: Json }
  if (typeof command !== 'string') return typeof url === 'string' ? url : ''
  return [command, ...(Array.isArray(args) ? args.map(String) : [])].join(' ')
}

/** Takes trust back; gives the absolute paths that were trusted. */
export async function untrust(context: CliContext, folder: string | undefined): Promise<readonly string[]> {
  const { untrustFolder } = await import('../config/trust.ts')
  return untrustFolder(await openStore(context), resolve(context.cwd, folder ?? '.'))
}

/** The files of --config, else those that were found, weakest first. Throws CONFIG_NOT_FOUND where there is none, CONFIG_UNTRUSTED where one that was found is not trusted. */
export async function configurationFiles(context: CliContext): Promise<readonly ConfigFile[]> {
  const { globals, cwd, env } = context
  if (globals.config.length > 0) return globals.config.map((file) => ({ path: resolve(cwd, file), kind: 'named' }))
  const { discoverConfig, FOUND_NAMES, userConfigPath } = await import('../config/discover.ts')
  const found = await discoverConfig(cwd, env)
  if (found.length === 0) {
    const names = FOUND_NAMES.toReversed().join(' or ')
    throw new TaplineError(
      'CONFIG_NOT_FOUND',
      `no configuration: there is no ${names} in ${cwd} or a folder above it, and no ${userConfigPath(env)} (or .toml)`,
    )
  }
  const { assertTrusted } = await import('../config/trust.ts')
  return assertTrusted(await openStore(context), found)
}

/** The approvals of the store that the configuration names; nothing is started, and files that were only found have no say in it. Throws CONFIG_… for the others. */
export async function openApprovals(context: CliContext): Promise<Approvals> {
  const { globals, cwd, env, out } = context
  const { discoverConfig } = await import('../config/discover.ts')
  // a project file cannot name a store, and a broken one must not keep anybody from revoking
  const files =
    globals.config.length > 0 ? await configurationFiles(context) : (await discoverConfig(cwd, env)).filter(({ kind }) => kind === 'user')
  const [{ loadConfig }, { Secrets }, { fileStore }, { ApprovalBook }, { runtimeApprovals }] = await Promise.all([
    import('../config/load.ts'),
    import('../secrets.ts'),
    import('../storage/file-store.ts'),
    import('../pipeline/approval-book.ts'),
    import('../runtime/approvals.ts'),
  ])
  const { storeFolder } = await loadConfig({ files, env, secrets: new Secrets(), cwd })
  const store = storeFolder === null ? await openStore(context) : fileStore(storeFolder)
  const unreadable = (id: string): void => out.note(`the approval ${visibleLine(id)} cannot be read and does not count`)
  return runtimeApprovals(new ApprovalBook(store, unreadable))
}

/** The store of the user: trust is always looked up there, whatever a file says about the store. */
export async function openStore({ env }: CliContext): Promise<Store> {
  const [{ fileStore }, { defaultStoreFolder }] = await Promise.all([
    import('../storage/file-store.ts'),
    import('../storage/default-folder.ts'),
  ])
  return fileStore(defaultStoreFolder(env))
}
