/** The `inputs` of a VS Code mcp.json: values that a person gives, for `${input:ID}`. */
import type { Secrets } from '../secrets.ts'
import type { Variables } from './expand.ts'
import { lookUp } from './expand.ts'
import { didYouMean, Fields, objectOf } from '../documents/fields.ts'
import type { Member, ObjectValue, Report, Value } from '../documents/value.ts'
import { kindName, quoted } from '../documents/value.ts'

/** One question that a configuration file asks, with what may be answered. */
export interface ConfigInput {
  readonly id: string
  /** text of the file for the person who is asked; the id where it has none */
  readonly description: string
  /** true: what is typed must not be seen */
  readonly password: boolean
  /** the possible answers, or null: any text */
  readonly options: readonly { readonly value: string; readonly label: string }[] | null
  /** what holds where nobody answers */
  readonly default: string | null
  /** `file:line:column` */
  readonly where: string
}

/** Asks a person; undefined: no answer, and the default holds. */
export type AskInput = (input: ConfigInput) => Promise<string | undefined>

/** An input of a file; null: it is of a kind that only the editor has. */
export type Input = ConfigInput | null

/** Id → value, or why there is none. */
export type Answers = ReadonlyMap<string, { readonly value: string; readonly default: string | null } | { readonly why: string }>

const KEYS = ['type', 'id', 'description', 'password', 'default', 'options', 'command', 'args']
/** What names of variables begin with that answer an input: `TAPLINE_INPUT_API_KEY` for `api-key`. */
const PREFIX = 'TAPLINE_INPUT_'

/** The inputs by id; what is wrong with one is a mistake of the file. */
export function readInputs(value: Value | undefined, report: Report): ReadonlyMap<string, Input> {
  const inputs = new Map<string, Input>()
  if (value === undefined) return inputs
  if (value.kind !== 'list') {
    report(value.where, `${value.path} must be a list, not ${kindName(value)}`)
    return inputs
  }
  for (const item of value.items) {
    const object = objectOf(item, report)
    if (object !== undefined) readInput(object, inputs, report)
  }
  return inputs
}

function readInput(object: ObjectValue, inputs: Map<string, Input>, report: Report): void {
  const fields = new Fields(object, KEYS, report, { snakeCase: false })
  const id = fields.word('id')?.text
  for (const key of ['id', 'type']) if (!fields.has(key)) report(object.where, `${object.path} needs "${key}"`)
  const type = fields.choice('type', ['promptString', 'pickString', 'command'])
  if (id === undefined || type === undefined) return
  if (inputs.has(id)) return report(object.where, `there are two inputs with the id ${quoted(id)}; take one out`)
  const options = type === 'pickString' ? readOptions(fields, report) : null
  const fallback = fields.text('default')?.text ?? null
  if (options !== null && fallback !== null && !options.some((option) => option.value === fallback))
    fields.reject('default', 'must be one of the options')
  inputs.set(
    id,
    type === 'command'
      ? null
      : {
          id,
          description: fields.text('description')?.text || id,
          password: type === 'promptString' && (fields.boolean('password') ?? false),
          options,
          default: fallback,
          where: object.where,
        },
  )
}

function readOptions(fields: Fields, report: Report): { value: string; label: string }[] {
  const options: { value: string; label: string }[] = []
  const list = fields.list('options')
  if (list === undefined || list.items.length === 0)
    report(list?.where ?? fields.object.where, `${fields.object.path} needs "options": what can be picked`)
  for (const item of list?.items ?? []) {
    if (item.kind === 'text') {
      options.push({ value: item.text, label: item.text })
      continue
    }
    const object = objectOf(item, report)
    const option = object && new Fields(object, ['label', 'value'], report, { snakeCase: false })
    const value = option?.text('value')?.text
    if (option && value !== undefined) options.push({ value, label: option.text('label')?.text || value })
  }
  return options
}

/** Answers the inputs that the enabled servers use, each once: by its variable, by the person, by its default. Values of passwords go to the secrets. */
export async function answerInputs(
  inputs: ReadonlyMap<string, Input>,
  servers: readonly Member[],
  { env, secrets, ask }: { readonly env: Variables; readonly secrets: Secrets; readonly ask: AskInput | undefined },
): Promise<Answers> {
  const used = new Set(servers.filter(({ value }) => isOn(value)).flatMap(({ value }) => [...idsIn(value)]))
  const answers = new Map<string, { value: string; default: string | null } | { why: string }>()
  for (const id of used) {
    const input = inputs.get(id)
    if (input === undefined) answers.set(id, { why: `there is no input ${quoted(id)}${didYouMean(id, inputs.keys())}` })
    else if (input === null) answers.set(id, { why: `the input ${quoted(id)} runs a command of VS Code; make it a promptString` })
    else answers.set(id, await answer(input, env, secrets, ask))
  }
  return answers
}

async function answer(
  input: ConfigInput,
  env: Variables,
  secrets: Secrets,
  ask: AskInput | undefined,
): Promise<{ value: string; default: string | null } | { why: string }> {
  const variable = PREFIX + input.id.toUpperCase().replace(/[^A-Z0-9_]/g, '_')
  const given = lookUp(env, variable) ?? (await ask?.(input)) ?? input.default
  const name = `the input ${quoted(input.id)}`
  if (given === null) return { why: `${name} has no value; set ${variable}, or run the command at a terminal, where it is asked` }
  if (input.password) secrets.add(given)
  if (input.options === null || input.options.some((option) => option.value === given)) return { value: given, default: input.default }
  return { why: `${name} can only be ${input.options.map((option) => quoted(option.value)).join(' or ')}` }
}

function isOn(server: Value): boolean {
  if (server.kind !== 'object') return false
  const says = (name: string, is: boolean): boolean =>
    server.members.some((member) => member.name === name && member.value.kind === 'boolean' && member.value.boolean === is)
  return !says('disabled', true) && !says('enabled', false)
}

function* idsIn(value: Value): Iterable<string> {
  if (value.kind === 'text') for (const [, id] of value.text.matchAll(/\$\{input:([^}]*)\}/g)) yield id as string
  if (value.kind === 'list') for (const item of value.items) yield* idsIn(item)
  if (value.kind === 'object') for (const member of value.members) yield* idsIn(member.value)
}
