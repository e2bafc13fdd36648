/** Reads the events of a hooks file. What would be dropped without a word is a mistake where it could have guarded something. */
import { Fields, didYouMean, objectOf } from '../../documents/fields.ts'
import type { ListValue, Member, ObjectValue, Report, Value } from '../../documents/value.ts'
import { kindName, quoted } from '../../documents/value.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { CommandHook, HookEvent } from './definition.ts'
import { EVENTS } from './definition.ts'
import { EVENTS_OF_OTHERS, HOOK_KEYS, IGNORED_KEYS } from './hook-keys.ts'

/** ms */
const DEFAULT_LIMIT = 30_000
/** characters: what a command names is looked for before anybody trusts it */
const LONGEST_COMMAND = 8192
/** seconds; what is longer counts as this */
const LONGEST_SEC = 3600

export interface ReadHooksContext {
  readonly report: Report
  readonly diagnose: (diagnostic: Diagnostic) => void
  /** of hooks that do not say it themselves */
  readonly onFailure: CommandHook['onFailure']
  /** true: the events may also be at the top, without `hooks` around them */
  readonly isBareAllowed?: boolean
}

/** The hooks in written order. Everything that is wrong is reported. */
export function readHooks(root: Value, context: ReadHooksContext): readonly CommandHook[] {
  const object = objectOf(root, context.report)
  if (object === undefined) return []
  const wrapped = object.members.filter(({ name }) => name === 'hooks')
  const [first, second] = wrapped
  if (second !== undefined) context.report(second.where, 'the key "hooks" is there twice; take one out')
  if (first === undefined && !(context.isBareAllowed === true && object.members.some(({ name }) => isEvent(name)))) {
    const near = object.members.map(({ name }) => didYouMean(name, ['hooks'])).some((hint) => hint !== '')
    context.report(
      object.where,
      `there are no "hooks" in the file${near ? ' (is the key misspelt?)' : ': { "hooks": { "PreToolUse": […] } }'}`,
    )
    return []
  }
  for (const { name, where } of object.members) {
    if (first !== undefined && isEvent(name))
      context.report(where, `the event ${quoted(name)} stands beside "hooks", where its hooks are not read; put it into "hooks"`)
    if (name === 'disableAllHooks')
      context.diagnose({
        code: 'hook_key_unknown',
        severity: 'warning',
        message: `${quoted(name)} has no effect: the hooks of the file run; "mode": "off" at the entry that names it switches them off`,
        where,
      })
  }
  const events = first === undefined ? object : objectOf(first.value, context.report)
  return events === undefined ? [] : readEvents(events, context)
}

function readEvents(events: ObjectValue, context: ReadHooksContext): readonly CommandHook[] {
  const hooks: CommandHook[] = []
  const seen = new Map<string, string>()
  for (const { name, where, value } of events.members) {
    const earlier = seen.get(name)
    if (earlier !== undefined)
      context.report(where, `the event ${quoted(name)} is there twice (first at ${earlier}); put its hooks together`)
    seen.set(name, where)
    if (isEvent(name)) hooks.push(...readGroups(name, value, context))
    else tellEvent({ name, where, value }, context)
  }
  return hooks
}

const isEvent = (name: string): name is HookEvent => (EVENTS as readonly string[]).includes(name)

function tellEvent({ name, where, value }: Member, { diagnose }: ReadHooksContext): void {
  // Codex keeps there which hooks it trusts
  if (name === 'state' && value.kind === 'object') return
  if (EVENTS_OF_OTHERS.has(name)) {
    diagnose({
      code: 'hook_event_skipped',
      severity: 'info',
      message: `hooks of the event ${name} are not run: it is not about a tool call`,
      where,
    })
    return
  }
  const near = didYouMean(name, [...EVENTS, ...EVENTS_OF_OTHERS])
  diagnose({
    code: 'hook_event_unknown',
    // a misspelt event of a tool call is a guard that never runs
    severity: didYouMean(name, EVENTS) === '' ? 'warning' : 'error',
    message: `there is no event ${quoted(name)}${near}: its hooks are not run`,
    where,
  })
}

function readGroups(event: HookEvent, value: Value, context: ReadHooksContext): readonly CommandHook[] {
  const groups = listOf(value, context.report)
  return groups.items.flatMap((item, index) => {
    const object = objectOf(item, context.report)
    if (object === undefined) return []
    const fields = new Fields(object, ['matcher', 'hooks'], context.report, {
      nullIsAbsent: true,
      onUnknown: unknownKey(['matcher', 'hooks'], context),
    })
    const matcher = fields.text('matcher')?.text ?? ''
    if (!fields.has('hooks')) context.report(object.where, `${object.path || event} needs "hooks": a list of hooks`)
    const hooks = fields.value('hooks')
    if (hooks === undefined) return []
    return listOf(hooks, context.report).items.flatMap(
      (hook, at) => readHook(hook, { event, id: `${event}[${index}].hooks[${at}]`, matcher }, context) ?? [],
    )
  })
}

function readHook(value: Value, place: Pick<CommandHook, 'event' | 'id' | 'matcher'>, context: ReadHooksContext): CommandHook | null {
  const { report, onFailure } = context
  const object = objectOf(value, report)
  if (object === undefined) return null
  const type = object.members.find(({ name }) => name === 'type')
  if (type === undefined || type.value.kind !== 'text' || type.value.text !== 'command') {
    const what =
      type === undefined ? 'has no type' : `has the type ${type.value.kind === 'text' ? quoted(type.value.text) : kindName(type.value)}`
    report(
      (type?.value ?? object).where,
      `the hook ${place.id} ${what}: only hooks of the type "command" can be run, and none is left out silently`,
    )
    return null
  }
  const fields = new Fields(object, [...HOOK_KEYS, ...IGNORED_KEYS, 'if'], report, {
    snakeCase: true,
    nullIsAbsent: true,
    onUnknown: unknownKey([...HOOK_KEYS, ...IGNORED_KEYS], context),
  })
  if (fields.has('if')) fields.reject('if', 'is not known here; say in the matcher which calls are meant')
  if (!fields.has('command')) report(object.where, `the hook ${place.id} needs "command"`)
  const command = fields.word('command')
  const windows = fields.word('commandWindows')
  for (const [name, value] of Object.entries({ command, commandWindows: windows }))
    if (value !== undefined && value.text.length > LONGEST_COMMAND)
      fields.reject(name, `must be at most ${LONGEST_COMMAND} characters; put the rest into a script`)
  const shell = fields.choice('shell', ['bash', 'powershell'])
  if (shell === 'powershell' && process.platform !== 'win32') fields.reject('shell', 'can be "powershell" on Windows only')
  const timeoutMs = limitOf(fields)
  const isAsync = fields.boolean('async') === true || fields.boolean('asyncRewake') === true
  const failure = fields.choice('onFailure', ['block', 'continue'])
  if (command === undefined) return null
  const line = process.platform === 'win32' && windows !== undefined ? windows.text : command.text
  return {
    ...place,
    command: line,
    timeoutMs,
    isAsync,
    onFailure: failure ?? onFailure,
    written: JSON.stringify([place.event, place.matcher, line, timeoutMs, isAsync, failure ?? null]),
    where: object.where,
  }
}

function limitOf(fields: Fields): number {
  const value = fields.value('timeout')
  if (value === undefined) return DEFAULT_LIMIT
  if (value.kind !== 'number' || !(value.number >= 0)) {
    fields.reject('timeout', 'must be a number of seconds')
    return DEFAULT_LIMIT
  }
  // 0 is one second to others as well
  return Math.round(Math.min(value.number === 0 ? 1 : value.number, LONGEST_SEC) * 1000) || 1
}

function listOf(value: Value, report: Report): Pick<ListValue, 'items'> {
  if (value.kind === 'list') return value
  report(value.where, `${value.path} must be a list, not ${kindName(value)}`)
  return { items: [] }
}

const unknownKey =
  (known: readonly string[], { diagnose }: ReadHooksContext) =>
  ({ name, where }: Member): void =>
    diagnose({
      code: 'hook_key_unknown',
      severity: 'warning',
      message: `the key ${quoted(name)} of a hook is not known${didYouMean(name, known)} and has no effect`,
      where,
    })
