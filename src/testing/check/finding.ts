/** What the conformance kit can find wrong with a hook plugin. */
import type { HookName } from '../../errors.ts'

/** Kinds of findings; stable. */
export type FindingKind =
  | 'bad_registration'
  | 'apply_twice'
  | 'bad_return'
  | 'moves_owner'
  | 'mutates_arguments'
  | 'mutates_result'
  | 'forges_metadata'
  | 'throws'
  | 'hangs'
  | 'slow'
  | 'swallows_abort'
  | 'blocks_event_loop'
  | 'leaks_listeners'
  | 'state_between_calls'
  | 'not_deterministic'
  | 'writes_to_stdout'
  | 'pollutes_prototypes'
  | 'blind_to_resources'

/** The request that showed it. */
export interface CheckedCall {
  readonly method: string
  /** server for people, or empty for a list over all servers */
  readonly owner: string
  /** raw tool name, uri or prompt; null for lists */
  readonly target: string | null
  /** JSON, shortened to 200 characters */
  readonly arguments: string
}

/** One thing that is wrong with a plugin; each kind is told once a tap. */
export interface CheckFinding {
  readonly kind: FindingKind
  /** a warning leaves the report `ok` */
  readonly level: 'error' | 'warning'
  readonly plugin: string
  /** null where it is about the plugin as a whole */
  readonly hook: HookName | null
  readonly tap: string | null
  /** one line */
  readonly message: string
  /** what to do, one line */
  readonly remedy: string
  readonly call: CheckedCall | null
}

/** A tap that the check saw, and how often it ran. */
export interface CheckedTap {
  readonly hook: HookName
  readonly tap: string
  readonly runs: number
}

/** What `checkPlugin` gives. */
export interface CheckReport {
  /** false where there is a finding of the level `error` */
  readonly ok: boolean
  readonly findings: readonly CheckFinding[]
  /** the name of the plugin */
  readonly plugin: string
  readonly taps: readonly CheckedTap[]
  /** requests that were made */
  readonly calls: number
  /** give it again to see the same findings */
  readonly seed: number
}

/** Kind → what an author should do. */
export const FINDING_REMEDIES: Readonly<Record<FindingKind, string>> = {
  bad_registration: 'Correct what apply registers; docs/reference/hooks.md lists the options of a tap.',
  apply_twice: 'apply runs once for each session: register the same taps every time, and keep what belongs to a session inside of it.',
  bad_return: 'Return only what the hook allows; docs/reference/hooks.md has the table.',
  moves_owner: 'Take the ownership field out of what the tap returns, assigns or hands to next(): a hook can never move a call.',
  mutates_arguments: 'Change a copy (structuredClone), and return it from resolve as { arguments }.',
  mutates_result: 'Change a copy of what next() gave, and return that.',
  forges_metadata: 'Use keys with a prefix of your own, such as example.com/ticket, and leave the reserved ones to Tapline and MCP.',
  throws: 'Expect arguments of any JSON type: they come from a model. To refuse a call return deny(reason).',
  hangs: 'End every tap: give a limit to what it waits for, and pass context.signal on.',
  slow: 'Do less in the tap, keep what was computed, or give the check a larger budgetMs.',
  swallows_abort: 'Pass context.signal to what the tap waits for, and stop when it is aborted.',
  blocks_event_loop: 'Use asynchronous calls, or move the work to a worker thread: one blocked tap stops every call of the process.',
  leaks_listeners: 'Take every listener away again: { once: true }, removeEventListener, or a disposable that apply returns.',
  state_between_calls: 'Key state by call.id, or allow it: allow: ["state_between_calls"] where the state is meant (a limiter, a quota).',
  not_deterministic: 'Decide by the call alone; chance and time belong into metadata. Where it is meant: allow: ["not_deterministic"].',
  writes_to_stdout: 'Use context.log or console.error: stdout belongs to the result of the command line.',
  pollutes_prototypes: 'Do not merge arguments into objects by assignment: skip the key __proto__, or use Object.fromEntries.',
  blind_to_resources: 'Add methods: ALL_METHODS (or resources/read). Where only tools are meant, say so: methods: ["tools/call"].',
}
