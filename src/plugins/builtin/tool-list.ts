/** Lists of what may be called and what may not. */
import { definePlugin } from '../../hooks/define-plugin.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { STAGE_GUARD } from '../../hooks/stages.ts'
import type { Method } from '../../mcp.ts'
import { deny } from '../../verdicts.ts'
import { type CallRule, type CallTest, readCallRules, readMethods } from './call-rules.ts'
import { optionSchema } from './option-reader.ts'

/** Options of `toolList`; `allow`, `deny` or both. A text is the name of a tool, as its server gives it, on any server; `*` and `?` are wildcards. */
export interface ToolListOptions {
  /** what may be called; everything else is refused, resources and prompts too. An empty list refuses everything */
  readonly allow?: readonly (string | CallRule)[]
  /** what is refused, whatever `allow` says. Without `allow` it must not be empty, and each rule must mean one of `methods` */
  readonly deny?: readonly (string | CallRule)[]
  /** what the lists are about; default: every method */
  readonly methods?: readonly Method[]
}

interface Lists {
  readonly allow: CallTest | null
  readonly deny: CallTest | null
  readonly methods: readonly Method[]
}

/** Refuses what `deny` lists, and what `allow` does not list. A mistake in the options is HOOK_BAD_PLUGIN. */
export const toolList: (options: ToolListOptions) => HookPlugin = definePlugin({
  name: 'tool-list',
  options: optionSchema<ToolListOptions, Lists>(['allow', 'deny', 'methods'], (options) => {
    if (!options.has('allow') && !options.has('deny')) options.fail('', 'must have allow, deny or both')
    const denied = options.value('deny')
    if (!options.has('allow') && Array.isArray(denied) && denied.length === 0) options.fail('deny', 'must not be empty without allow')
    const methods = readMethods(options, 'methods') ?? ALL_METHODS
    return {
      allow: readCallRules(options, 'allow'),
      deny: readCallRules(options, 'deny', methods),
      methods,
    }
  }),
  apply({ hooks }, lists) {
    hooks.approve.tap({ name: 'lists', stage: STAGE_GUARD, methods: lists.methods }, (call) => {
      const what = call.method === 'tools/call' ? call.tool : call.method
      if (lists.deny?.(call) === true) return deny(`${what} is on the deny list of ${String(call.owner)}`)
      if (lists.allow?.(call) === false) return deny(`${what} is not on the allow list of ${String(call.owner)}`)
      return undefined
    })
  },
})
