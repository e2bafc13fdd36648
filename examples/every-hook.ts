import { ask, deny, type HookPlugin, type ToolResult } from 'tapline/plugin'

/** One tap on every hook. What `apply` closes over belongs to one session. */
export const everyHook: HookPlugin = {
  name: 'every-hook',
  apply({ hooks, session }) {
    const results = new Map<string, ToolResult>()

    // resolve: other arguments, or a refusal
    hooks.resolve.tap({ name: 'trim', tools: ['add'] }, (call) => {
      const { text } = call.arguments
      return typeof text === 'string' ? { arguments: { ...call.arguments, text: text.trim() } } : undefined
    })

    // approve: allow(), deny() or ask(), on the arguments that resolve has left
    hooks.approve.tap({ name: 'no-empty-notes', tools: ['add'] }, (call) =>
      call.arguments['text'] === '' ? deny('a note needs a text') : undefined,
    )
    hooks.approve.tap({ name: 'ask-before-clearing', tools: ['clear'] }, () => ask('This deletes every note.'))

    // attachMetadata: keys for `_meta`, each with a prefix
    hooks.attachMetadata.tap('session-id', () => ({ 'example.com/session': session.id }))

    // dispatch: around the call itself; here a cache for tools that only read
    hooks.dispatch.tapPromise('cache', async (call, next) => {
      if (call.annotations.readOnlyHint !== true) return next()
      const key = JSON.stringify([call.owner, call.authority, call.tool, call.arguments])
      const result = results.get(key) ?? (await next())
      results.set(key, result)
      return result
    })

    // settled: observes how every call ended
    hooks.settled.tap('forget-after-writes', ({ call, outcome }) => {
      if (call?.method === 'tools/call' && call.annotations.readOnlyHint !== true && outcome.sent !== 'no') results.clear()
    })

    return { [Symbol.dispose]: () => results.clear() }
  },
}
