/** Takes values out of what is sent and out of what comes back. */
import { isTaplineError, messageOf } from '../../errors.ts'
import { definePlugin } from '../../hooks/define-plugin.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { STAGE_LAST } from '../../hooks/stages.ts'
import type { Json, JsonObject } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import type { Method } from '../../mcp.ts'
import { deny } from '../../verdicts.ts'
import { type OptionReader, optionSchema } from './option-reader.ts'
import { type Redaction, Redactor } from './redactor.ts'
import { hostPattern, linearPattern, type TextPattern } from './text-pattern.ts'

/** Options of `redact`: `patterns`, `keys`, `paths` or several of them. */
export interface RedactOptions {
  /** every match in a text, a number or the name of a member. A text is a pattern of RE2, which is linear in time; a RegExp runs as it is */
  readonly patterns?: readonly (string | RegExp)[]
  /** names of members whose values are replaced whole, in any case; `*` and `?` are wildcards */
  readonly keys?: readonly string[]
  /** JSON Pointers of members whose values are replaced whole, such as `/user/token`; `*` is any one member or item */
  readonly paths?: readonly string[]
  /** default true: what is sent */
  readonly arguments?: boolean
  /** default true: what comes back */
  readonly results?: boolean
  /** what comes instead; a function gets the match, or the value as text. Default `[redacted]` */
  readonly replace?: string | ((text: string) => string)
}

interface Settings extends Redaction {
  readonly arguments: boolean
  readonly results: boolean
}

const KEYS = ['patterns', 'keys', 'paths', 'arguments', 'results', 'replace'] as const
/** Methods whose arguments are those of the tool or prompt. What others send is an address, and another one would mean something else. */
const REWRITTEN: readonly Method[] = ['tools/call', 'prompts/get']
const ADDRESSED: readonly Method[] = ALL_METHODS.filter((method) => !REWRITTEN.includes(method))

/** Replaces values in arguments before anybody judges or sends them, and in results before anybody else sees them. A mistake in the options is HOOK_BAD_PLUGIN. */
export const redact: (options: RedactOptions) => HookPlugin = definePlugin({
  name: 'redact',
  options: optionSchema<RedactOptions, Settings>(KEYS, readSettings),
  apply({ hooks }, settings) {
    const redactor = new Redactor(settings)
    if (settings.arguments) {
      hooks.resolve.tap({ name: 'arguments', stage: STAGE_LAST, methods: REWRITTEN }, (call) => {
        const redacted = redactor.redact(call.arguments, true) as JsonObject
        return redacted === call.arguments ? undefined : { arguments: redacted }
      })
      hooks.resolve.tap({ name: 'addresses', stage: STAGE_LAST, methods: ADDRESSED }, (call) =>
        redactor.redact(call.arguments, true) === call.arguments ? undefined : deny(`${call.method} names something that must not be sent`),
      )
    }
    if (settings.results)
      hooks.dispatch.tapPromise({ name: 'results', stage: STAGE_LAST, methods: ALL_METHODS }, async (_, next) => {
        const result = await next().catch((error: unknown) => {
          throw withheld(redactor, error)
        })
        return redactor.redactResult(result as JsonObject)
      })
  },
})

/** An error keeps its outcome, unless what it says has to be taken out: then the outcome is `result_withheld`. */
function withheld(redactor: Redactor, error: unknown): unknown {
  const { rawResult = null, rpcData = null } = (isTaplineError(error) ? (error.data ?? {}) : {}) as Readonly<Record<string, Json>>
  const said = messageOf(error)
  // paths count in a result that was not accepted as in every other
  const raw = isJsonObject(rawResult) ? redactor.redactResult(rawResult) : redactor.redact(rawResult, true)
  const isClean = redactor.redact(said, true) === said && redactor.redact(rpcData, true) === rpcData && raw === rawResult
  return isClean ? error : new Error('the error of the server says what must not be seen')
}

function readSettings(options: OptionReader): Settings {
  if (!['patterns', 'keys', 'paths'].some((key) => options.has(key))) options.fail('', 'must have patterns, keys or paths')
  const replace = options.value('replace') ?? '[redacted]'
  if (typeof replace !== 'string' && typeof replace !== 'function') options.fail('replace', 'must be a text or a function')
  return {
    patterns: readPatterns(options),
    keys: (options.texts('keys') ?? []).map((key) => key.toLowerCase()),
    paths: readPaths(options),
    arguments: options.truth('arguments', true),
    results: options.truth('results', true),
    instead: typeof replace === 'function' ? (replace as (text: string) => string) : () => replace as string,
  }
}

function readPatterns(options: OptionReader): readonly TextPattern[] {
  const items = options.list('patterns') ?? []
  if (options.has('patterns') && items.length === 0) options.fail('patterns', 'must not be empty')
  return items.flatMap((item, index) => {
    if (item instanceof RegExp) return [hostPattern(item)]
    if (typeof item !== 'string' || item === '') {
      options.fail(['patterns', index], 'must be a text or a RegExp')
      return []
    }
    try {
      return [linearPattern(item)]
    } catch (error) {
      options.fail(['patterns', index], messageOf(error))
      return []
    }
  })
}

function readPaths(options: OptionReader): readonly (readonly string[])[] {
  return (options.texts('paths') ?? []).map((path, index) => {
    if (!path.startsWith('/')) options.fail(['paths', index], 'must begin with /')
    return path
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  })
}
