/** Executors as code gives them: typed options in, a definition out that an environment can have. */
import { TaplineError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { isJsonObject, snapshot } from '../../json.ts'
import type { InputOf, OutputOf, Schema } from '../../schema.ts'
import type { Executor, ExecutorContext, ExecutorDefinition } from '../executor.ts'
import { BUILT_IN } from './built-in.ts'

// a schema is contravariant in its input and covariant in its output: only `any` stands for all of them
// oxlint-disable-next-line typescript/no-explicit-any
type AnySchema = Schema<any, any>

/** Makes definitions of one kind from options. Given to `executors` of a runtime, it stands for the kind that a configuration file names. */
export type ExecutorFactory<Input> = ((options: Input) => ExecutorDefinition) & ExecutorDefinition

/** A kind of place of one's own. Its options are checked when the definition is made; a mistake in them is CONFIG_INVALID, and so is a kind that is taken. */
export function defineExecutor<S extends AnySchema>(spec: {
  /** the name in configuration files; `local` and the other kinds of ours are taken */
  readonly kind: string
  readonly options: S
  /** called lazily, once an environment instance, and again after `lost` */
  connect(options: OutputOf<S>, context: ExecutorContext): Promise<Executor>
}): ExecutorFactory<InputOf<S>> {
  const { kind, options: schema } = spec
  if (typeof kind !== 'string' || kind === '' || BUILT_IN.some((one) => one.kind === kind) || kind === 'memory')
    throw new TaplineError('CONFIG_INVALID', `an executor of one's own cannot have the kind ${JSON.stringify(kind)}`, {
      remedy: 'Choose another kind.',
    })
  const factory = (given: InputOf<S>): ExecutorDefinition => {
    const options: OutputOf<S> = checked(kind, schema, given)
    return Object.freeze({ kind, ...plain(given), connect: (context: ExecutorContext) => spec.connect(options, context) })
  }
  return Object.freeze(
    Object.assign(factory, {
      kind,
      connect: async (context: ExecutorContext) => spec.connect(checked(kind, schema, context.options), context),
    }),
  )
}

/** A real `codex exec-server` at a ws:// or wss:// URL; the token is read from the variable that is named. */
export function execServer(options: { readonly url: string; readonly bearerTokenEnvVar?: string }): ExecutorDefinition {
  return builtIn('exec-server', options)
}

/** The system's ssh client; a host may not begin with `-`. */
export function ssh(options: {
  readonly host: string
  readonly user?: string
  readonly port?: number
  /** an ssh configuration in place of the user's */
  readonly configFile?: string
}): ExecutorDefinition {
  return builtIn('ssh', options)
}

/** A command that carries stdin and stdout to another place, such as `docker exec -i NAME`. */
export function command(options: {
  readonly prefix: readonly [string, ...string[]]
  /** the far side joins arguments to a line for a shell */
  readonly shell?: boolean
  /** variables of this process that the command gets beside the usual ones */
  readonly envVars?: readonly string[]
}): ExecutorDefinition {
  return builtIn('command', options)
}

/** The options are checked where the environment is read, as those of a file. */
function builtIn(kind: string, options: object): ExecutorDefinition {
  const definition = BUILT_IN.find((one) => one.kind === kind) as ExecutorDefinition
  return Object.freeze({ kind, ...plain(options), connect: (context: ExecutorContext) => definition.connect(context) })
}

/** What of the options a file could say, for the status and the identity of the environment. */
function plain(options: unknown): { readonly options?: JsonObject } {
  try {
    const copy = snapshot(options)
    return isJsonObject(copy) ? { options: copy } : {}
  } catch {
    return {}
  }
}

function checked(kind: string, schema: AnySchema, given: unknown): unknown {
  const result = schema['~standard'].validate(given)
  if (result instanceof Promise)
    throw new TaplineError('CONFIG_INVALID', `the options of the executor "${kind}" are checked asynchronously, which nothing can wait for`)
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(
    ({ path, message }) =>
      `${(path ?? []).map((part) => String((part as { key?: unknown })?.key ?? part)).join('.') || 'options'}: ${message}`,
  )
  throw new TaplineError('CONFIG_INVALID', `the options of the executor "${kind}" are wrong: ${issues.join('; ')}`, {
    remedy: 'Correct the options of the executor.',
  })
}
