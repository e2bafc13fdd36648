/** Hook plugins with one fault each, and the kind that a check must give it. */
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { allow, ask, deny } from '../../src/plugin.ts'
import type { HookPlugin, HookPorts } from '../../src/plugin.ts'
import type { FindingKind } from '../../src/testing/index.ts'

/** A plugin of one `apply`, untyped: the compiler would refuse half of these. */
const plugin = (apply: (ports: any) => unknown): HookPlugin => ({ name: 'planted', apply: apply as (ports: HookPorts) => undefined })

/** the plugin's way to stdout */
const terminal: Console = globalThis.console

/** ms on a processor: on a busy machine the clock of the wall would mostly count the turns of others, which the check leaves out. */
const busy = (ms: number): void => {
  const used = (since?: NodeJS.CpuUsage): NodeJS.CpuUsage => process.cpuUsage(since)
  for (const start = used(); used(start).user + used(start).system < ms * 1000; );
}

/** Each planted fault: its name, the kind, what makes a new plugin with it, and other kinds that are as true of it. */
export const PLANTED: readonly (readonly [string, FindingKind, () => HookPlugin, (readonly FindingKind[])?])[] = [
  // arguments
  [
    'assigns an argument',
    'mutates_arguments',
    () => plugin(({ hooks }) => hooks.approve.tap('t', (call: any) => void (call.arguments.text = 'x'))),
  ],
  [
    'pushes into an argument behind a catch',
    'mutates_arguments',
    () =>
      plugin(({ hooks }) =>
        hooks.resolve.tap('t', (call: any) => {
          try {
            call.arguments.options.tags.push('x')
          } catch {}
        }),
      ),
  ],
  [
    'changes a nested member of a shallow copy',
    'mutates_arguments',
    () =>
      plugin(({ hooks }) =>
        hooks.resolve.tapPromise('t', async (call: any) => {
          const copy = { ...call.arguments }
          Reflect.set(Object(copy.options), 'recursive', false)
          return { arguments: copy }
        }),
      ),
  ],
  [
    'changes the result of next()',
    'mutates_result',
    () =>
      plugin(({ hooks }) =>
        hooks.dispatch.tapPromise('t', async (_call: any, next: any) => {
          const result = await next()
          result.content.push({ type: 'text', text: 'more' })
          return result
        }),
      ),
  ],
  // owner
  [
    'assigns the owner',
    'moves_owner',
    () => plugin(({ hooks }) => hooks.approve.tap('t', (call: any) => void (call.owner = { name: 'db' }))),
  ],
  [
    'returns another environment',
    'moves_owner',
    () => plugin(({ hooks }) => hooks.resolve.tap('t', () => ({ arguments: {}, environment_id: 'beta' }))),
  ],
  [
    'assigns the tool behind a catch, for one tool',
    'moves_owner',
    () =>
      plugin(({ hooks }) =>
        hooks.approve.tap({ name: 't', tools: ['drop_*'] }, (call: any) => {
          try {
            call.tool = 'read'
          } catch {}
        }),
      ),
  ],
  [
    'hands an owner to next()',
    'moves_owner',
    () => plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async (_call: any, next: any) => next({ server: 'db' }))),
  ],
  [
    'assigns the owner when all is over',
    'moves_owner',
    () => plugin(({ hooks }) => hooks.settled.tap('t', ({ call }: any) => void (call && (call.owner = null)))),
  ],
  // returns
  ['returns null', 'bad_return', () => plugin(({ hooks }) => hooks.approve.tap('t', () => null))],
  ['returns true', 'bad_return', () => plugin(({ hooks }) => hooks.approve.tapPromise('t', async () => true))],
  ['returns allow() from resolve', 'bad_return', () => plugin(({ hooks }) => hooks.resolve.tap('t', () => allow()))],
  ['returns a promise from tap', 'bad_return', () => plugin(({ hooks }) => hooks.approve.tap('t', async () => undefined))],
  [
    'forgets the result',
    'bad_return',
    () => plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async (_call: any, next: any) => void (await next()))),
  ],
  [
    'returns null for reads of resources only',
    'bad_return',
    () => plugin(({ hooks }) => hooks.approve.tap({ name: 't', methods: ['resources/read'] }, () => null)),
  ],
  [
    'ignores its failures and returns null',
    'bad_return',
    () => plugin(({ hooks }) => hooks.approve.tap({ name: 't', onFailure: 'continue' }, () => null)),
  ],
  [
    'returns a result whose metadata cannot be read',
    'bad_return',
    () =>
      plugin(({ hooks }) =>
        hooks.dispatch.tapPromise('t', async (_call: any, next: any) => {
          await next()
          return {
            get _meta() {
              throw new Error('unreadable')
            },
          }
        }),
      ),
  ],
  // metadata
  [
    'sets a reserved key',
    'forges_metadata',
    () => plugin(({ hooks }) => hooks.attachMetadata.tap('t', () => ({ 'codex/sandbox-state-meta': {} }))),
  ],
  [
    'sets a key of MCP',
    'forges_metadata',
    () => plugin(({ hooks }) => hooks.attachMetadata.tapPromise('t', async () => ({ 'mcp.dev/x': 1 }))),
  ],
  [
    'puts a reserved key into the result',
    'forges_metadata',
    () =>
      plugin(({ hooks }) =>
        hooks.dispatch.tapPromise('t', async (_call: any, next: any) => ({ ...(await next()), _meta: { 'codex/approved': true } })),
      ),
  ],
  // failures
  [
    'throws',
    'throws',
    () =>
      plugin(({ hooks }) =>
        hooks.approve.tap('t', () => {
          throw new Error('broken')
        }),
      ),
  ],
  [
    'expects a text',
    'throws',
    () => plugin(({ hooks }) => hooks.resolve.tap('t', (call: any) => ({ arguments: { text: call.arguments.text.trim() } }))),
  ],
  ['rejects', 'throws', () => plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async () => Promise.reject(new Error('broken'))))],
  [
    'expects every request to be a call',
    'throws',
    () => plugin(({ hooks }) => hooks.settled.tap('t', ({ call }: any) => void call.owner.name)),
  ],
  // time
  ['hangs', 'hangs', () => plugin(({ hooks }) => hooks.approve.tapPromise('t', () => new Promise(() => {}))), ['swallows_abort']],
  [
    'hangs for one kind of argument',
    'hangs',
    () =>
      plugin(({ hooks }) =>
        hooks.resolve.tapPromise('t', async (call: any) => (call.arguments.text === '' ? new Promise(() => {}) : undefined)),
      ),
  ],
  ['hangs when all is over', 'hangs', () => plugin(({ hooks }) => hooks.settled.tapPromise('t', () => new Promise(() => {})))],
  [
    'goes on after the abort',
    'swallows_abort',
    () =>
      plugin(({ hooks }) =>
        hooks.dispatch.tapPromise('t', async (_call: any, next: any) =>
          next().catch(async (error: unknown) => {
            await sleep(20_000, undefined, { ref: false })
            throw error
          }),
        ),
      ),
    ['hangs'],
  ],
  [
    'waits without the signal',
    'swallows_abort',
    () => plugin(({ hooks }) => hooks.approve.tapPromise('t', () => sleep(600, undefined, { ref: false }))),
    ['slow', 'hangs'],
  ],
  ['blocks the loop', 'blocks_event_loop', () => plugin(({ hooks }) => hooks.approve.tap('t', () => busy(80)))],
  [
    'blocks the loop after an await',
    'blocks_event_loop',
    () =>
      plugin(({ hooks }) =>
        hooks.resolve.tapPromise('t', async () => {
          await Promise.resolve()
          busy(80)
        }),
      ),
  ],
  ['blocks the loop when all is over', 'blocks_event_loop', () => plugin(({ hooks }) => hooks.settled.tap('t', () => busy(80)))],
  [
    'is slow',
    'slow',
    () =>
      plugin(({ hooks }) =>
        hooks.approve.tapPromise('t', async (_call: any, { signal }: any) => {
          await sleep(300, undefined, { signal }).catch(() => {})
        }),
      ),
  ],
  // what is left behind
  [
    'leaks listeners on process',
    'leaks_listeners',
    () => plugin(({ hooks }) => hooks.approve.tap('t', () => void process.on('SIGUSR2', () => {}))),
  ],
  ['leaks a listener for each session', 'leaks_listeners', () => plugin(() => void process.on('SIGUSR2', () => {}))],
  [
    'leaks listeners on the signal of the session',
    'leaks_listeners',
    () => plugin(({ hooks, session }) => hooks.resolve.tap('t', () => session.signal.addEventListener('abort', () => {}))),
  ],
  [
    'leaks listeners on an emitter of its own',
    'leaks_listeners',
    () => {
      const bus = new EventEmitter()
      return plugin(({ hooks }) => hooks.settled.tap('t', () => void bus.on('x', () => {})))
    },
  ],
  [
    'pollutes a prototype',
    'pollutes_prototypes',
    () =>
      plugin(({ hooks }) => {
        const merge = (into: any, from: any): any => {
          for (const key of Object.keys(from).filter((one) => one !== 'constructor')) {
            if (typeof from[key] === 'object' && from[key] !== null) into[key] = merge(into[key] ?? {}, from[key])
            else into[key] = from[key]
          }
          return into
        }
        hooks.approve.tap(
          { name: 't', methods: ['tools/call'] },
          (call: any) => void (JSON.stringify(call.arguments).length < 500 && merge({}, call.arguments)),
        )
      }),
  ],
  // state
  [
    'counts calls and refuses every third',
    'state_between_calls',
    () => {
      let count = 0
      return plugin(({ hooks }) => hooks.approve.tap('t', () => (++count % 3 === 0 ? deny('the third') : undefined)))
    },
  ],
  [
    'numbers calls in their arguments',
    'state_between_calls',
    () => {
      let count = 0
      return plugin(({ hooks }) => hooks.resolve.tap('t', (call: any) => ({ arguments: { ...call.arguments, count: count++ } })))
    },
  ],
  [
    'judges by the call before',
    'state_between_calls',
    () =>
      plugin(({ hooks }) => {
        let last = ''
        hooks.approve.tap('t', (call: any) => {
          const before = last
          last = call.tool
          return before === 'write' ? ask('after a write') : undefined
        })
      }),
  ],
  [
    'mixes up calls that run at the same time',
    'state_between_calls',
    () => {
      let current: any
      return plugin(({ hooks }) =>
        hooks.resolve.tapPromise('t', async (call: any) => {
          current = call.arguments
          await new Promise((done) => setImmediate(done))
          return { arguments: { ...current } }
        }),
      )
    },
  ],
  [
    'does not work once a session has closed',
    'apply_twice',
    () => {
      let isOpen = true
      return plugin(({ hooks }) => {
        hooks.approve.tap('t', () => (isOpen ? undefined : deny('closed')))
        return { [Symbol.dispose]: () => void (isOpen = false) }
      })
    },
    ['state_between_calls', 'not_deterministic'],
  ],
  [
    'throws from apply once a session has closed',
    'apply_twice',
    () => {
      let isOpen = true
      return plugin(({ hooks }) => {
        if (!isOpen) throw new Error('closed')
        hooks.approve.tap('t', () => undefined)
        return { [Symbol.dispose]: () => void (isOpen = false) }
      })
    },
  ],
  [
    'registers its taps once',
    'apply_twice',
    () => {
      let isDone = false
      return plugin(({ hooks }) => {
        if (!isDone) hooks.approve.tap('t', () => undefined)
        isDone = true
      })
    },
  ],
  [
    'decides by chance',
    'not_deterministic',
    () => plugin(({ hooks }) => hooks.approve.tap('t', () => (Math.random() < 0.5 ? deny('bad luck') : undefined))),
  ],
  [
    'writes chance into arguments',
    'not_deterministic',
    () => plugin(({ hooks }) => hooks.resolve.tap('t', (call: any) => ({ arguments: { ...call.arguments, id: crypto.randomUUID() } }))),
  ],
  [
    'writes the time into arguments',
    'not_deterministic',
    () => plugin(({ hooks }) => hooks.resolve.tap('t', (call: any) => ({ arguments: { ...call.arguments, at: Date.now() } }))),
  ],
  [
    'adds chance to results',
    'not_deterministic',
    () =>
      plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async (_call: any, next: any) => ({ ...(await next()), seen: Math.random() }))),
  ],
  // stdout
  ['writes to stdout', 'writes_to_stdout', () => plugin(({ hooks }) => hooks.approve.tap('t', () => void process.stdout.write('hello\n')))],
  [
    'logs to the console, later',
    'writes_to_stdout',
    () =>
      plugin(({ hooks }) =>
        hooks.settled.tapPromise('t', async () => {
          await Promise.resolve()
          terminal.log('hello')
        }),
      ),
  ],
  ['logs to the console in apply', 'writes_to_stdout', () => plugin(() => terminal.info('hello'))],
  // registration
  ['misspells an option', 'bad_registration', () => plugin(({ hooks }) => hooks.approve.tap({ name: 't', tool: ['x'] }, () => undefined))],
  ['misspells a hook', 'bad_registration', () => plugin(({ hooks }) => hooks.aprove.tap('t', () => undefined))],
  ['is registered asynchronously', 'bad_registration', () => plugin(async () => {})],
  // resources
  [
    'guards tools only',
    'blind_to_resources',
    () => plugin(({ hooks }) => hooks.approve.tap('t', (call: any) => (call.owner.environmentId === 'beta' ? deny('no') : undefined))),
  ],
]
