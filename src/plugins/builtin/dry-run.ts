/** Answers calls without sending them. */
import type { CallView } from '../../hooks/call-view.ts'
import { definePlugin } from '../../hooks/define-plugin.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { STAGE_LAST } from '../../hooks/stages.ts'
import type { JsonObject } from '../../json.ts'
import type { Method, ResultOf } from '../../mcp.ts'
import { type CallRule, type CallTest, readCallRules } from './call-rules.ts'
import { optionSchema } from './option-reader.ts'

/** Options of `dryRun`. */
export interface DryRunOptions {
  /** `writes`: what only reads is sent (resources, prompts, and tools whose `readOnlyHint` is trusted); default `all` */
  readonly calls?: 'all' | 'writes'
  /** calls that are sent all the same */
  readonly send?: readonly (string | CallRule)[]
}

interface Choice {
  readonly calls: 'all' | 'writes'
  readonly send: CallTest | null
}

/** Key of the `_meta` of an answer that no server gave: `{ owner, method, params }` of the request that was not sent. */
const MARK = 'tapline/dryRun'

/** Sends no call, and answers each with a result that says so; the outcome is `completed` with `sent: 'no'`. A mistake in the options is HOOK_BAD_PLUGIN. */
export const dryRun: (options?: DryRunOptions) => HookPlugin = definePlugin({
  name: 'dry-run',
  options: optionSchema<DryRunOptions, Choice>(['calls', 'send'], (options) => ({
    calls: options.choice('calls', 'all', ['all', 'writes']),
    send: readCallRules(options, 'send'),
  })),
  apply({ hooks }, choice) {
    // innermost, so that every other plugin does what it would do
    hooks.dispatch.tapPromise({ name: 'answer', stage: STAGE_LAST, methods: ALL_METHODS }, (call, next) =>
      isSent(choice, call) ? next() : Promise.resolve(answer(call)),
    )
  },
})

function isSent({ calls, send }: Choice, call: CallView): boolean {
  if (send?.(call) === true) return true
  if (calls === 'all') return false
  return call.method !== 'tools/call' || (call.annotationsTrusted && call.annotations.readOnlyHint === true)
}

/** In the form of the method, with nothing in it but the news. */
function answer(call: CallView): ResultOf<Method> {
  const what = call.method === 'tools/call' ? call.tool : call.method
  // without the arguments: a plugin may have put something into them that the model must not read
  const text = `Dry run: ${what} of ${String(call.owner)} was not called. Nothing was sent.`
  const params: JsonObject = call.method === 'tools/call' ? { name: call.tool, arguments: call.arguments } : call.arguments
  const { name, environmentId, installationId } = call.owner
  const _meta = { [MARK]: { owner: { name, environmentId, installationId }, method: call.method, params } }
  switch (call.method) {
    case 'tools/call':
      return { content: [{ type: 'text', text }], _meta }
    case 'resources/list':
      return { resources: [], _meta }
    case 'resources/templates/list':
      return { resourceTemplates: [], _meta }
    case 'resources/read':
      return { contents: [{ uri: call.uri, mimeType: 'text/plain', text }], _meta }
    case 'prompts/list':
      return { prompts: [], _meta }
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text } }], _meta }
    case 'completion/complete':
      return { completion: { values: [] }, _meta }
  }
}
