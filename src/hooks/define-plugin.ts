/** Plugins with checked options. */
import { TaplineError } from '../errors.ts'
import type { InputOf, OutputOf, Schema } from '../schema.ts'
import type { HookPlugin, HookPorts } from './plugin.ts'

// a schema is contravariant in its input and covariant in its output: only `any` stands for all of them
// oxlint-disable-next-line typescript/no-explicit-any
type AnySchema = Schema<any, any>
type Applied = ReturnType<HookPlugin['apply']>

/** Makes a plugin from options. */
export type HookPluginFactory<Input> = (options: Input) => HookPlugin

/** A plugin whose options a schema checks, once, when the plugin is made. A mistake in them is HOOK_BAD_PLUGIN. */
export function definePlugin<S extends AnySchema>(spec: {
  readonly name: string
  readonly options: S
  apply(ports: HookPorts, options: OutputOf<S>): Applied
}): HookPluginFactory<InputOf<S>>
/** A plugin without options. */
export function definePlugin(spec: {
  readonly name: string
  readonly options?: never
  apply(ports: HookPorts): Applied
}): HookPluginFactory<void>
export function definePlugin(spec: {
  readonly name: string
  readonly options?: AnySchema
  apply(ports: HookPorts, options: unknown): Applied
}): HookPluginFactory<unknown> {
  return (given) => {
    const options = spec.options === undefined ? undefined : check(spec.name, spec.options, given)
    return Object.freeze({ name: spec.name, apply: (ports: HookPorts) => spec.apply(ports, options) })
  }
}

function check(name: string, schema: AnySchema, given: unknown): unknown {
  const result = schema['~standard'].validate(given)
  if (result instanceof Promise)
    throw new TaplineError('HOOK_BAD_PLUGIN', `the options of plugin "${name}" are checked asynchronously, which a plugin cannot wait for`)
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(
    ({ path, message }) =>
      `${(path ?? []).map((part) => String((part as { key?: unknown })?.key ?? part)).join('.') || 'options'}: ${message}`,
  )
  throw new TaplineError('HOOK_BAD_PLUGIN', `the options of plugin "${name}" are wrong: ${issues.join('; ')}`, {
    remedy: 'Correct the options of the plugin.',
  })
}
