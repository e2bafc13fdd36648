/** Executors that code makes are functions, which no configuration carries: they are taken out of the definitions. */
import { optionsOf } from '../config/executor-options.ts'
import type { EnvironmentDefinition } from '../config/config.ts'
import type { ExecutorDefinition } from '../connections/executor.ts'
import { isJsonObject } from '../json.ts'

/** An environment as code gives it: its executor may be made by `execServer`, `ssh`, `command` or a factory of `defineExecutor`. */
export type RuntimeEnvironment = Omit<EnvironmentDefinition, 'executor'> & {
  readonly executor?: EnvironmentDefinition['executor'] | ExecutorDefinition
}

type Given = Readonly<Record<string, RuntimeEnvironment>> | undefined

/** The definitions with executors as a file would name them, and those that no kind of ours stands for. */
export function takeExecutors(given: Given): {
  readonly definitions: Readonly<Record<string, EnvironmentDefinition>> | undefined
  readonly executors: ReadonlyMap<string, ExecutorDefinition>
} {
  const executors = new Map<string, ExecutorDefinition>()
  // what is no object is for the reader of the configuration to say
  if (!isJsonObject(given)) return { definitions: given as never, executors }
  const definitions = Object.entries(given as NonNullable<Given>).map(([id, definition]): [string, EnvironmentDefinition] => {
    const executor: unknown = isJsonObject(definition) ? (definition as RuntimeEnvironment).executor : undefined
    if (!isDefinition(executor)) return [id, definition as EnvironmentDefinition]
    const { kind, options = {} } = executor
    if (optionsOf(kind) === undefined && kind !== 'local') executors.set(id, executor)
    return [id, { ...definition, executor: { ...options, kind } }]
  })
  return { definitions: Object.fromEntries(definitions), executors }
}

function isDefinition(value: unknown): value is ExecutorDefinition {
  const given = value as Partial<ExecutorDefinition> | null | undefined
  return (
    (typeof given === 'object' || typeof given === 'function') &&
    given !== null &&
    typeof given.connect === 'function' &&
    typeof given.kind === 'string'
  )
}
