// What the tests of the pipeline share: a plugin from a function, one server with the tool `run`, and what reached it.
import type { HookPlugin, HookPorts } from '../../src/plugin.ts'
import type { ScriptedServerSpec, ScriptedTool, SentMessage, TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'

/** Ports whose taps take and return anything, as those of JavaScript do. */
export type LoosePorts = {
  readonly hooks: Readonly<
    Record<
      'resolve' | 'approve' | 'attachMetadata' | 'dispatch' | 'settled',
      Readonly<Record<'tap' | 'tapPromise', (options: unknown, fn: unknown) => void>>
    >
  >
  readonly session: HookPorts['session']
}

export const plugin = (apply: (ports: LoosePorts) => unknown, name = 'p'): HookPlugin => ({
  name,
  apply: apply as unknown as HookPlugin['apply'],
})

export const REQUEST = { server: 's', tool: 'run', arguments: { a: 1 } } as const

/** A runtime with one thread-wide server `s` whose tools need no approval. */
export function open(
  hooks: TestRuntimeOptions['hooks'] = [],
  more: TestRuntimeOptions = {},
  tools: Readonly<Record<string, ScriptedTool>> = { run: {} },
): Promise<TestRuntime> {
  return openTestRuntime({
    threadWide: { s: { tools } satisfies ScriptedServerSpec },
    policies: { s: { defaultToolsApprovalMode: 'approve' } },
    hooks,
    ...more,
  })
}

export const toolCalls = (t: TestRuntime): readonly SentMessage[] => t.sent.filter(({ method }) => method === 'tools/call')
export const initialized = (t: TestRuntime): string[] =>
  t.sent.filter(({ method }) => method === 'initialize').map(({ owner }) => String(owner))

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
export const never = <T>(): Promise<T> => new Promise<T>(() => {})
