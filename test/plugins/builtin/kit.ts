// What the tests of the built-in plugins share.
import type { HookPlugin, HookPorts } from '../../../src/plugin.ts'
import type { ScriptedServer, SentMessage, TestRuntime } from '../../../src/testing/index.ts'
import { scriptedServer } from '../../../src/testing/index.ts'

export const plugin = (name: string, apply: (ports: HookPorts) => void): HookPlugin => ({ name, apply })

/** The tool calls that reached a server. */
export const toolCalls = (t: TestRuntime): readonly SentMessage[] => t.sent.filter(({ method }) => method === 'tools/call')

/** Resolves when a server of the session is no longer connected. */
export const goneDown = (t: TestRuntime): Promise<void> =>
  new Promise((resolve) => {
    const subscription = t.session.subscribe((event) => {
      if (event.type !== 'server_changed' || event.runtimeStatus === 'connected') return
      subscription[Symbol.dispose]()
      resolve()
    })
  })

/** A server with a tool that runs, one that guards refuse, and one that fails. */
export const threeEnds: ScriptedServer = scriptedServer({
  tools: {
    run: {},
    drop: {},
    fails: {
      run: () => {
        throw new Error('broken')
      },
    },
  },
  resources: { 'a:b': 'text' },
  prompts: { ask: () => 'ask' },
})
