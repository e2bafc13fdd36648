/** What a command hook said, read strictly: exit status, standard output and standard error become one answer, or a problem. */
import { lossInText } from '../../exact-json.ts'
import { TapProblem } from '../../hooks/tap-problem.ts'
import type { JsonObject } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import { OWNERSHIP_KEYS } from '../../ownership-keys.ts'
import { Secrets } from '../../secrets.ts'
import { answerText } from './answer-text.ts'
import type { HookEvent } from './definition.ts'

/** How the process of a hook ended. */
export interface HookEnd {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** true: standard output has bytes that are no UTF-8 */
  readonly isGarbled?: boolean
  /** why it was ended: then only a refusal counts */
  readonly problem?: TapProblem
}

/** What a hook wants. At most one of `refuse` and the others has an effect: a refusal ends it. */
export interface HookAnswer {
  /** why the call must not run, or its result must not be seen */
  readonly refuse?: string
  /** why a person should be asked */
  readonly ask?: string
  /** the question of the policy is answered with yes */
  readonly allow?: string
  readonly rewrite?: JsonObject
  readonly result?: JsonObject
  /** for the model */
  readonly context?: string
  /** for people */
  readonly message?: string
  /** for the trace */
  readonly note?: string
}

const COMMON = [
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'async',
  'asyncTimeout',
  'decision',
  'reason',
  'hookSpecificOutput',
]
const SPECIFIC: Readonly<Record<HookEvent, readonly string[]>> = {
  PreToolUse: ['hookEventName', 'permissionDecision', 'permissionDecisionReason', 'updatedInput', 'additionalContext'],
  PermissionRequest: ['hookEventName', 'decision'],
  PostToolUse: ['hookEventName', 'additionalContext', 'updatedMCPToolOutput', 'updatedToolOutput'],
  PostToolUseFailure: ['hookEventName', 'additionalContext', 'updatedMCPToolOutput', 'updatedToolOutput'],
}
const DECISION = ['behavior', 'message', 'interrupt', 'updatedPermissions']
/** Characters of what is quoted of an output. */
const QUOTED = 300
const NO_REASON = 'no reason given'

/** What is wrong with an output, with whatever it says in it: not yet for other eyes. */
class BadOutput extends Error {}

/** With the secrets taken out of everything but new arguments. Throws TapProblem: HOOK_FAILED, HOOK_TIMED_OUT, HOOK_BAD_RETURN, HOOK_CHANGED_OWNER. */
export function readAnswer(event: HookEvent, end: HookEnd, secrets: Secrets = new Secrets()): HookAnswer {
  try {
    const { rewrite, result, ...texts } = readEnd(event, { ...end, stderr: secrets.redact(end.stderr) }, secrets)
    return {
      ...secrets.redactJson(texts),
      ...(rewrite !== undefined && { rewrite }),
      ...(result !== undefined && { result: secrets.redactJson(result) }),
    }
  } catch (error) {
    if (!(error instanceof BadOutput)) throw error
    // what is quoted may be half of a secret, and so may what the parser says
    const isClean = secrets.redact(end.stdout) === end.stdout
    throw new TapProblem('HOOK_BAD_RETURN', isClean ? error.message : 'printed what cannot be read (with a secret in it: [redacted])', {
      remedy: 'Correct what the hook prints (docs/reference/command-hooks.md); text that does not begin with { is no opinion.',
      ...(isClean && error.cause !== undefined && { cause: error.cause }),
    })
  }
}

function readEnd(event: HookEvent, { code, signal, stdout, stderr, isGarbled, problem }: HookEnd, secrets: Secrets): HookAnswer {
  const printed = stdout.trim()
  if (code === 2) return { refuse: stderr.trim() || refusalIn(event, printed) || NO_REASON }
  if (code !== 0 || problem !== undefined) {
    // what failed can still have said no; nothing else of it counts
    const refuse = refusalIn(event, printed)
    if (refuse !== null) return { refuse }
    if (problem !== undefined) throw problem
    const how = signal === null ? `ended with exit status ${code}` : `was ended by ${signal}`
    const said = oneLine(stderr)
    throw new TapProblem('HOOK_FAILED', `${how}${said === '' ? '' : `: ${said}`}`, {
      remedy: 'Correct the hook: it exits with 0, or with 2 to refuse. onFailure: "continue" lets calls go on where it fails.',
    })
  }
  const text = answerText(printed)
  // NUL: UTF-16, in which an answer is not seen
  if (printed.includes('\0') || (isGarbled === true && text !== null)) throw bad('printed an answer that is no text in UTF-8')
  if (text === null) return printed === '' ? {} : { note: `printed: ${secrets.redact(printed).slice(0, QUOTED)}` }
  return readOutput(event, parse(text))
}

/** The reason of a refusal that can be read; null where there is none. */
function refusalIn(event: HookEvent, printed: string): string | null {
  try {
    const text = answerText(printed)
    return text === null ? null : (readOutput(event, parse(text)).refuse ?? null)
  } catch {
    return null
  }
}

/** True for a first line by which a hook says that nobody should wait for it. */
export function isDetaching(line: string): boolean {
  if (!line.trimStart().startsWith('{') || !line.includes('"async"')) return false
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) && value['async'] === true && Object.keys(value).every((key) => key === 'async' || key === 'asyncTimeout')
  } catch {
    return false
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw bad(`printed what begins with { and is no JSON (${oneLine(text)})`, error)
  }
  const loss = lossInText(text)
  if (loss !== null) throw bad(`printed JSON that cannot be taken over exactly: ${loss}`)
  return value as JsonObject
}

function readOutput(event: HookEvent, output: JsonObject): HookAnswer {
  const specific = member(output, 'hookSpecificOutput', 'object') ?? {}
  const decided = event === 'PermissionRequest' ? (member(specific, 'decision', 'object') ?? {}) : {}
  for (const part of [output, specific, decided]) assertNoOwner(part)
  assertKnown(output, COMMON, 'the output')
  assertKnown(specific, SPECIFIC[event], 'hookSpecificOutput')
  const named = member(specific, 'hookEventName', 'string')
  if (named !== undefined && named !== event) throw bad(`answered for the event ${JSON.stringify(named)} in place of ${event}`)

  const goesOn = member(output, 'continue', 'boolean') ?? true
  const stopReason = member(output, 'stopReason', 'string')
  const reason = member(output, 'reason', 'string')
  const message = member(output, 'systemMessage', 'string')
  member(output, 'suppressOutput', 'boolean')
  member(output, 'async', 'boolean')
  member(output, 'asyncTimeout', 'number')
  const context = event === 'PermissionRequest' ? undefined : member(specific, 'additionalContext', 'string')
  const answer = event === 'PermissionRequest' ? permission(decided, output) : tool(event, specific, output, reason)
  const refuse = goesOn ? answer.refuse : stopReason || answer.refuse || reason || ''
  return {
    ...answer,
    // who is refused should be told something that helps
    ...(refuse !== undefined && { refuse: refuse || message || NO_REASON }),
    ...(context !== undefined && { context }),
    ...(message !== undefined && { message }),
  }
}

/** PreToolUse and what comes after the call. */
function tool(event: HookEvent, specific: JsonObject, output: JsonObject, reason: string | undefined): HookAnswer {
  const legacy = choice(output, 'decision', event === 'PreToolUse' ? ['block', 'approve'] : ['block'])
  const block = legacy === 'block' ? { refuse: reason ?? '' } : {}
  if (event !== 'PreToolUse') {
    const result = member(specific, 'updatedMCPToolOutput', 'object') ?? member(specific, 'updatedToolOutput', 'object')
    return { ...block, ...(result !== undefined && { result }) }
  }
  const decision = choice(specific, 'permissionDecision', ['allow', 'deny', 'ask'])
  const why = member(specific, 'permissionDecisionReason', 'string')
  const rewrite = member(specific, 'updatedInput', 'object')
  return {
    ...(rewrite !== undefined && { rewrite }),
    ...(decision === 'ask' && { ask: why ?? '' }),
    ...block,
    ...(decision === 'deny' && { refuse: why ?? reason ?? '' }),
    ...(decision === 'allow' && why !== undefined && { note: `allow: ${why.slice(0, QUOTED)}` }),
  }
}

function permission(decision: JsonObject, output: JsonObject): HookAnswer {
  if (member(decision, 'updatedInput', 'any') !== undefined)
    throw bad('answered a PermissionRequest with updatedInput: what is asked about cannot change any more; rewrite in PreToolUse')
  assertKnown(decision, [...DECISION, 'updatedInput'], 'decision')
  const behavior = choice(decision, 'behavior', ['allow', 'deny'])
  const message = member(decision, 'message', 'string')
  member(decision, 'interrupt', 'boolean')
  const kept = member(decision, 'updatedPermissions', 'any')
  if (behavior === undefined && Object.keys(decision).length > 0) throw bad('answered a PermissionRequest with a decision without behavior')
  const legacy = choice(output, 'decision', ['block'])
  if (legacy === 'block') return { refuse: member(output, 'reason', 'string') ?? '' }
  if (behavior === 'deny') return { refuse: message ?? '' }
  if (behavior !== 'allow') return {}
  return { allow: message ?? '', ...(kept !== undefined && { note: 'updatedPermissions are not kept: the answer is for this call' }) }
}

interface Types {
  readonly string: string
  readonly boolean: boolean
  readonly number: number
  readonly object: JsonObject
  readonly any: unknown
}

/** A member of this type; null counts as left out. */
function member<T extends keyof Types>(object: JsonObject, key: string, type: T): Types[T] | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  if (value === undefined || value === null) return undefined
  const fits = type === 'any' || (type === 'object' ? isJsonObject(value) : typeof value === type)
  if (!fits) throw bad(`printed ${key} that is no ${type}`)
  return value as Types[T]
}

function choice<T extends string>(object: JsonObject, key: string, choices: readonly T[]): T | undefined {
  const value = member(object, key, 'string')
  if (value === undefined || choices.includes(value as T)) return value as T | undefined
  throw bad(`printed ${key} ${JSON.stringify(value.slice(0, 40))}; it can be ${choices.map((one) => `"${one}"`).join(' or ')}`)
}

function assertNoOwner(object: JsonObject): void {
  const key = Object.keys(object).find((one) => OWNERSHIP_KEYS.has(one))
  if (key !== undefined)
    throw new TapProblem('HOOK_CHANGED_OWNER', `named ${key} in its output: hook cannot change the tool environment (${key})`, { key })
}

function assertKnown(object: JsonObject, known: readonly string[], what: string): void {
  const key = Object.keys(object).find((one) => !known.includes(one))
  if (key !== undefined) throw bad(`printed ${what} with the unknown key ${JSON.stringify(key.slice(0, 60))}`)
}

const bad = (problem: string, cause?: unknown): BadOutput => new BadOutput(problem, cause === undefined ? undefined : { cause })

const oneLine = (text: string): string =>
  text
    .trim()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, QUOTED)
