// What must not compile: each line below an expectation is a mistake. Run by the type check, never by a test.
import { z } from 'zod'
import type { HookEntry, Runtime, ServerKey, Session, Tool } from '../../src/index.ts'
import { defineFlag, MULTI_ENVIRONMENT_MCP, openRuntime } from '../../src/index.ts'
import { allow, ask, definePlugin, deny } from '../../src/plugin.ts'
import type { CallView, HookPlugin, HookPorts, ResolveTap, ToolCall, Verdict } from '../../src/plugin.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

declare const other: ServerKey
declare const session: Session
declare const runtime: Runtime
declare const tool: Tool
declare const count: () => void
declare const port: HookPorts['hooks']['approve']

export const ownership: HookPlugin = {
  name: 'ownership',
  apply({ hooks }: HookPorts) {
    // @ts-expect-error another owner beside the arguments
    hooks.resolve.tap('a', (call) => ({ arguments: call.arguments, owner: other }))
    // @ts-expect-error the wire name of the environment beside the arguments
    hooks.resolve.tap('a', (call) => ({ arguments: call.arguments, environment_id: 'b' }))
    // @ts-expect-error another server beside the arguments, later
    hooks.resolve.tapPromise('a', async (call) => ({ arguments: call.arguments, server: 'files' }))
    // @ts-expect-error only an environment
    hooks.resolve.tapPromise('a', async () => ({ environmentId: 'b' }))
    // @ts-expect-error the call itself, whose owner would come with it
    hooks.resolve.tap('a', (call) => call)
    // @ts-expect-error ownership through metadata
    hooks.attachMetadata.tap('a', () => ({ environmentId: 'b' }))
    // @ts-expect-error the same beside a good key, later
    hooks.attachMetadata.tapPromise('a', async () => ({ 'example.com/a': 1, server: 'files' }))
    // @ts-expect-error another call for `next`, which is bound to the owner
    hooks.dispatch.tapPromise('a', async (call, next) => next({ ...call, owner: other }))
    hooks.approve.tap('a', (call) => {
      // @ts-expect-error assigns the owner
      call.owner = other
      // @ts-expect-error assigns inside the owner
      call.owner.environmentId = 'b'
      // @ts-expect-error writes into the arguments
      call.arguments['path'] = '/etc/passwd'
      // @ts-expect-error assigns the arguments: a rewrite is returned
      call.arguments = {}
      // @ts-expect-error assigns the tool
      call.tool = 'drop'
      // @ts-expect-error loosens the permissions
      call.authority.permissions = 'full-access'
      // @ts-expect-error loosens the annotations
      call.annotations.readOnlyHint = true
    })
    // @ts-expect-error a key is no object literal
    const forged: ServerKey = {
      name: 'files',
      environmentId: 'b',
      installationId: null,
      toString: () => '',
      toJSON: () => other.toJSON(),
      equals: () => true,
    }
    // @ts-expect-error a call is no object literal
    const fake: ToolCall = { id: '1', method: 'tools/call', owner: forged, tool: 'x' }
    return void fake
  },
}

export const returns: HookPlugin = {
  name: 'returns',
  apply({ hooks }) {
    // @ts-expect-error an unknown key beside the arguments
    hooks.resolve.tap('a', (call) => ({ arguments: call.arguments, reason: 'tidied' }))
    // @ts-expect-error arguments that are no object
    hooks.resolve.tap('a', () => ({ arguments: ['x'] }))
    // @ts-expect-error arguments that are not JSON
    hooks.resolve.tap('a', () => ({ arguments: { at: new Date() } }))
    // @ts-expect-error a misspelt key
    hooks.resolve.tap('a', (call) => ({ argument: call.arguments }))
    // @ts-expect-error `null` is not "no opinion"
    hooks.resolve.tap('a', () => null)
    // @ts-expect-error asking is for approve
    hooks.resolve.tap('a', () => ask('really?'))
    // @ts-expect-error allowing is for approve
    hooks.resolve.tapPromise('a', async () => allow())
    // @ts-expect-error an async function in `tap`
    hooks.resolve.tap('a', async (call) => ({ arguments: call.arguments }))
    // @ts-expect-error a plain function in `tapPromise`
    hooks.resolve.tapPromise('a', (call) => ({ arguments: call.arguments }))
    // @ts-expect-error the new arguments themselves
    hooks.resolve.tap('a', () => ({ path: '/tmp' }))
    // @ts-expect-error an async guard in `tap`
    hooks.approve.tap('a', async (call) => (call.tool === 'drop' ? deny('no') : undefined))
    // @ts-expect-error `null` is no verdict
    hooks.approve.tap('a', () => null)
    // @ts-expect-error a boolean is no verdict
    hooks.approve.tap('a', (call) => call.tool === 'read')
    // @ts-expect-error a word is no verdict
    hooks.approve.tap('a', () => 'deny')
    // @ts-expect-error a look-alike is no verdict
    hooks.approve.tap('a', () => ({ decision: 'allow' }))
    // @ts-expect-error a closer look-alike is no verdict
    hooks.approve.tapPromise('a', async () => ({ reason: 'fine' }))
    // @ts-expect-error the function itself, not what it makes
    hooks.approve.tap('a', () => allow)
    // @ts-expect-error arguments are for resolve
    hooks.approve.tap('a', (call) => ({ arguments: call.arguments }))
    // @ts-expect-error a reserved key
    hooks.attachMetadata.tap('a', () => ({ 'codex/sandbox-state-meta': {} }))
    // @ts-expect-error a prefix of MCP
    hooks.attachMetadata.tap('a', () => ({ 'io.modelcontextprotocol/related-task': {} }))
    // @ts-expect-error the other prefix of MCP, later
    hooks.attachMetadata.tapPromise('a', async () => ({ 'mcp/x': 1 }))
    // @ts-expect-error the same as one label of several
    hooks.attachMetadata.tap('a', () => ({ 'com.mcp.tools/x': 1 }))
    // @ts-expect-error a key without a prefix
    hooks.attachMetadata.tap('a', () => ({ ticket: 'T-1' }))
    // @ts-expect-error the token of the pipeline
    hooks.attachMetadata.tap('a', () => ({ progressToken: 1 }))
    // @ts-expect-error trace context is a text
    hooks.attachMetadata.tap('a', () => ({ traceparent: 1 }))
    // @ts-expect-error a verdict is for approve
    hooks.attachMetadata.tap('a', () => deny('no'))
    // @ts-expect-error an async function in `tap`
    hooks.attachMetadata.tap('a', async () => ({ 'example.com/a': 1 }))
    // @ts-expect-error a list is no patch
    hooks.attachMetadata.tap('a', () => ['example.com/a'])
    // @ts-expect-error a value that is not JSON
    hooks.attachMetadata.tap('a', () => ({ 'example.com/a': new Map() }))
    // @ts-expect-error `undefined` is not JSON either
    hooks.attachMetadata.tap('a', () => ({ 'example.com/a': undefined }))
    // @ts-expect-error forgets to return the result
    hooks.dispatch.tapPromise('a', async (_call, next) => {
      await next()
    })
    // @ts-expect-error the result of another method
    hooks.dispatch.tapPromise({ name: 'a', methods: ['resources/read'] }, async () => ({ content: [] }))
    // @ts-expect-error a verdict is for approve
    hooks.dispatch.tapPromise('a', async () => deny('no'))
    // @ts-expect-error an async observer in `tap`
    hooks.settled.tap('a', async () => {
      count()
    })
    // @ts-expect-error an observer cannot vote
    hooks.settled.tap('a', () => deny('too late'))
    // @ts-expect-error nor later
    hooks.settled.tapPromise('a', async () => deny('too late'))
  },
}

export const registration: HookPlugin = {
  name: 'registration',
  apply({ hooks, session: at }) {
    // @ts-expect-error no such hook
    hooks.preToolUse.tap('a', () => undefined)
    // @ts-expect-error a tap without a name
    hooks.approve.tap({ stage: 10 }, () => undefined)
    // @ts-expect-error only a function
    hooks.approve.tap(() => undefined)
    // @ts-expect-error no function
    hooks.approve.tap('a')
    // @ts-expect-error an unknown option
    hooks.approve.tap({ name: 'a', priority: 1 }, () => undefined)
    // @ts-expect-error an unknown option beside a rewrite
    hooks.resolve.tap({ name: 'a', async: true }, () => undefined)
    // @ts-expect-error a stage is a number
    hooks.approve.tap({ name: 'a', stage: 'guard' }, () => undefined)
    // @ts-expect-error a failure blocks or continues
    hooks.approve.tap({ name: 'a', onFailure: 'ignore' }, () => undefined)
    // @ts-expect-error one environment is a list of one
    hooks.approve.tap({ name: 'a', environments: 'prod' }, () => undefined)
    // @ts-expect-error a server is named by text, not by its key
    hooks.approve.tap({ name: 'a', servers: [other] }, () => undefined)
    // @ts-expect-error no such method
    hooks.approve.tap({ name: 'a', methods: ['tools/list'] }, () => undefined)
    // @ts-expect-error dispatch wraps: it has no synchronous tap
    hooks.dispatch.tap('a', () => ({ content: [] }))
    // @ts-expect-error no callbacks
    hooks.approve.tapAsync('a', () => undefined)
    // @ts-expect-error no interception: it could replace other taps
    hooks.approve.intercept({ register: (tap: unknown) => tap })
    // @ts-expect-error the taps of others are not to be seen
    void hooks.approve.taps
    // @ts-expect-error only the pipeline fires a hook
    void hooks.approve.promise({})
    // @ts-expect-error an observer never blocks
    hooks.settled.tap({ name: 'a', onFailure: 'block' }, () => undefined)
    // @ts-expect-error an observer sees every method
    hooks.settled.tap({ name: 'a', methods: ['tools/call'] }, () => undefined)
    // @ts-expect-error an observer has no place in an order
    hooks.settled.tap({ name: 'a', stage: 1 }, () => undefined)
    // @ts-expect-error a port is not replaced
    hooks.approve = port
    // @ts-expect-error the session of a plugin is facts only
    void at.callTool({ name: 'x' })
    // @ts-expect-error the selection is not the plugin's
    at.environmentIds.push('b')
  },
}

export const views: HookPlugin = {
  name: 'views',
  apply({ hooks }) {
    // @ts-expect-error a resource read has no tool
    hooks.approve.tap({ name: 'a', methods: ['tools/call', 'resources/read'] }, (call) => (call.tool === 'x' ? allow() : undefined))
    // @ts-expect-error a tool call has no uri
    hooks.approve.tap('a', (call) => (call.uri === 'x' ? allow() : undefined))
    // @ts-expect-error a prompt is not a tool
    hooks.attachMetadata.tap({ name: 'a', methods: ['prompts/get'] }, (call) => void call.tool)
    // @ts-expect-error a request that never became a call has no owner
    hooks.settled.tap('a', ({ owner }) => void owner.name)
    // @ts-expect-error an outcome has a result only where it completed
    hooks.settled.tap('a', ({ outcome }) => void outcome.result)
    // @ts-expect-error an argument may be anything
    hooks.approve.tap('a', (call) => (call.arguments['path'].endsWith('.env') ? deny('no') : undefined))
    // @ts-expect-error the core's call has a connection, a tap's view has none
    hooks.dispatch.tapPromise('a', (call) => call.connection.request())
    // @ts-expect-error a refusal says why
    hooks.approve.tap('a', () => deny())
    // @ts-expect-error a reason is text
    hooks.approve.tap('a', () => deny({ code: 7 }))
  },
}

// @ts-expect-error a verdict is made by a function only
export const verdict: Verdict = { reason: 'no' }
// @ts-expect-error a function that is declared apart is held to the same
export const apart: ResolveTap = async () => ask('really?')
// @ts-expect-error no such method
export type NoView = CallView<'tools/list'>

// @ts-expect-error a plugin without a name
export const nameless: HookPlugin = { apply() {} }
// @ts-expect-error a plugin that does nothing
export const idle: HookPlugin = { name: 'idle' }
// @ts-expect-error `apply` is synchronous: later taps would be lost
export const late: HookPlugin = { name: 'late', async apply() {} }
// @ts-expect-error `apply` gives back what can be disposed of, or nothing
export const handle: HookPlugin = { name: 'handle', apply: () => ({ close: count }) }
export class LatePlugin implements HookPlugin {
  readonly name = 'late'
  // @ts-expect-error the same in a class
  async apply(): Promise<void> {}
}

const limited = definePlugin({ name: 'limited', options: z.object({ max: z.number() }), apply() {} })
// @ts-expect-error options of the wrong type
limited({ max: '3' })
// @ts-expect-error options left out
limited()
// @ts-expect-error options of a plugin that takes none
definePlugin({ name: 'plain', apply() {} })({ max: 3 })
// @ts-expect-error the schema has no such option
definePlugin({ name: 'odd', options: z.object({ max: z.number() }), apply: (_ports, options) => void options.min })
// @ts-expect-error options are a schema, not values
definePlugin({ name: 'values', options: { max: 3 }, apply() {} })
// @ts-expect-error asynchronous `apply`
definePlugin({ name: 'late', async apply() {} })
// @ts-expect-error a factory is not a plugin
export const uncalled: HookPlugin = limited
// @ts-expect-error nor is a class
const unmade: HookEntry = LatePlugin
void unmade

// @ts-expect-error an unknown option of an entry
export const entry: HookEntry = { plugin: ownership, stage: 3 }
// @ts-expect-error a mode that there is not
export const observed: HookEntry = { plugin: ownership, mode: 'observe' }
// @ts-expect-error a mode by flag needs a default
export const noDefault: HookEntry = { plugin: ownership, mode: { flag: 'guard_mode' } }
// @ts-expect-error a default that is no mode
export const oddDefault: HookEntry = { plugin: ownership, mode: { flag: 'guard_mode', default: 'on' } }
// @ts-expect-error the name of a flag is no mode
export const flagName: HookEntry = { plugin: ownership, mode: 'guard_mode' }
// @ts-expect-error a switch has no modes
export const switched: HookEntry = { plugin: ownership, mode: MULTI_ENVIRONMENT_MCP }
const onOff = defineFlag({ name: 'm', variants: ['off', 'on'], default: 'on', description: '' })
// @ts-expect-error nor has a flag with other variants
export const otherVariants: HookEntry = { plugin: ownership, mode: onOff }
// @ts-expect-error a plugin is switched by its name
runtime.setPluginMode(ownership, 'off')
// @ts-expect-error to a mode that there is
runtime.setPluginMode('ownership', 'disabled')
// @ts-expect-error a session shows its modes; the runtime sets them
session.hookPlugins[0]!.mode = 'off'
// @ts-expect-error an entry of the filter alone
export const filterOnly: HookEntry = { environments: ['prod'] }
// @ts-expect-error a trace goes to an object with `file` or `sink`, not to a path
void openRuntime({ trace: 't.jsonl' })
// @ts-expect-error a sink gets one record at a time, with `type` to tell them apart
void openRuntime({ trace: { sink: (record) => void record.outcome } })
// @ts-expect-error a request names a visible tool or a server, not both
void session.callTool({ name: 'mcp__files__read', server: 'files', tool: 'read' })
// @ts-expect-error an environment alone names nothing
void session.callTool({ environmentId: 'a', tool: 'read' })
// @ts-expect-error the owner is a key, not its name
void session.callTool({ owner: 'files', tool: tool.tool })
// @ts-expect-error a default that is none of the variants
defineFlag({ name: 'odd', variants: ['off', 'on'], default: 'maybe', description: '' })

// @ts-expect-error a provider of the web SDK answers at once and takes no context
void openTestRuntime({ flags: { provider: { metadata: { name: 'web' }, resolveBooleanEvaluation: () => ({ value: true }) } } })
// @ts-expect-error a targeting key is text
void openTestRuntime({ flags: { evaluationContext: { targetingKey: 7 } } })
// @ts-expect-error a function is no attribute
void openTestRuntime({ session: { evaluationContext: { team: () => 'core' } } })

// @ts-expect-error a test runtime reads no files
void openTestRuntime({ config: 'tapline.json' })
// @ts-expect-error how a scripted server is started is not said
void openTestRuntime({ threadWide: { db: {} }, policies: { db: { command: 'node' } } })
// @ts-expect-error a server is told by what it has, not by how it is started
void openTestRuntime({ environments: { prod: { db: { command: 'node' } } } })
// @ts-expect-error a tool answers with text or a result
scriptedServer({ tools: { count: { run: () => 7 } } })
