import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { localExecutor } from '../../src/connections/executors/local.ts'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import { command, defineExecutor, execServer, openRuntime, openSession, ssh } from '../../src/index.ts'
import type { Executor, Runtime, RuntimeEnvironment, Session } from '../../src/index.ts'
import { alive, until } from '../connections/fixtures/pool.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-environments-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const SERVER = fileURLToPath(new URL('../connections/executors/fixtures/echo.mjs', import.meta.url))
const ON = { features: { multi_environment_mcp: true } }
const server = (env: Record<string, string> = {}): object => ({
  command: process.execPath,
  args: [SERVER],
  env,
  defaultToolsApprovalMode: 'approve',
})
const local = (name: string): RuntimeEnvironment => ({ cwd: folder, mcpServers: { echo: server({ WHO: name }) as never } })
const info = async (session: Session, environmentId: string): Promise<any> => {
  const outcome: any = await session.callTool({ server: 'echo', environmentId, tool: 'info', arguments: {} })
  return outcome.outcome === 'completed' ? JSON.parse(outcome.result.content[0].text) : outcome
}

/** A place of one's own that can be lost. */
function box(): { readonly factory: ReturnType<typeof make>; lose(cause: string): void; readonly connects: unknown[]; disposed: number } {
  const state = { connects: [] as unknown[], disposed: 0, lose: (() => {}) as (cause: string) => void }
  const factory = make(state)
  return Object.assign(state, { factory })
}
function make(state: { connects: unknown[]; disposed: number; lose: (cause: string) => void }) {
  return defineExecutor({
    kind: 'box',
    options: z.object({ size: z.number().default(1) }),
    async connect({ size }, context): Promise<Executor> {
      state.connects.push([size, context.environmentId])
      const place = await localExecutor.connect(context)
      const lost = new Promise<{ cause: string }>((resolve) => (state.lose = (cause) => resolve({ cause })))
      return {
        startStdio: (request, more) => place.startStdio(request, more),
        lost,
        dispose: async () => {
          state.disposed++
          await place.dispose()
        },
      }
    },
  })
}

test('an executor of one’s own: connected when it is needed, once, with checked options; its state is seen', async () => {
  const own = box()
  await using session = await openSession({
    ...ON,
    environments: { vm: { ...local('vm'), executor: own.factory({ size: 3 }) } },
  })
  const [vm] = session.environments
  const states: unknown[] = []
  const servers: string[] = []
  session.subscribe((event) => event.type === 'environment_changed' && states.push(event))
  session.subscribe((event) => event.type === 'server_changed' && servers.push(event.runtimeStatus))
  expect([vm?.executor, vm?.status, own.connects]).toEqual(['box', { state: 'idle' }, []])
  expect((await info(session, 'vm')).env.WHO).toBe('vm')
  expect([vm?.status, own.connects]).toEqual([{ state: 'ready' }, [[3, 'vm']]])
  expect(vm?.spec.executor.options).toEqual({ size: 3 })
  own.lose('somebody pulled the plug')
  await until(() => vm?.status.state === 'lost', 'it is lost')
  expect(vm?.status).toEqual({ state: 'lost', cause: 'somebody pulled the plug' })
  const told = { type: 'environment_changed', environmentId: 'vm' }
  expect(states).toEqual([
    { ...told, state: 'connecting' },
    { ...told, state: 'ready' },
    { ...told, state: 'lost', cause: 'somebody pulled the plug' },
  ])
  // its servers end with it, and it connects again
  await until(() => servers.at(-1) === 'failed', 'its server is gone')
  expect((await info(session, 'vm')).env.WHO).toBe('vm')
  expect(states.slice(3)).toEqual([
    { ...told, state: 'connecting' },
    { ...told, state: 'ready' },
  ])
})

test('a file may name its kind; wrong options and unknown kinds fail that environment with words', async () => {
  const own = box()
  const file = join(folder, 'tapline.json')
  const environment = (executor: object): object => ({ executor, cwd: folder, mcpServers: { echo: server() } })
  writeFileSync(
    file,
    JSON.stringify({
      ...ON,
      environments: {
        good: environment({ kind: 'box', size: 7 }),
        bad: environment({ kind: 'box', size: 'x' }),
        none: environment({ kind: 'nowhere' }),
      },
    }),
  )
  await using runtime = await openRuntime({ config: file, executors: [own.factory] })
  await using session = await runtime.openSession()
  expect((await info(session, 'good')).pid).toBeGreaterThan(0)
  expect(own.connects).toEqual([[7, 'good']])
  expect(await info(session, 'bad')).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('size') })
  expect(await info(session, 'none')).toMatchObject({ code: 'ENVIRONMENT_UNSUPPORTED', message: expect.stringContaining('nowhere') })
  expect(runtime.environments.get('bad')?.status).toMatchObject({ state: 'lost' })
})

test('kinds of ours are taken, and a mistake in options is found when the definition is made', () => {
  const define = (kind: string): unknown =>
    defineExecutor({ kind, options: z.object({}), connect: () => Promise.reject(new Error('never')) })
  for (const kind of ['local', 'memory', 'command', 'ssh', 'exec-server', ''])
    expect(() => define(kind)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  const { factory } = box()
  expect(() => factory({ size: 'x' as unknown as number })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('size') }),
  )
})

test('execServer, ssh and command are what a file says, and are checked the same way', async () => {
  await using runtime = await openRuntime({
    environments: {
      a: { executor: execServer({ url: 'ws://127.0.0.1:9', bearerTokenEnvVar: 'T' }), cwd: '/x' },
      b: { executor: ssh({ host: 'h', port: 22 }), cwd: '/x' },
      c: { executor: command({ prefix: ['docker', 'exec', '-i', 'box'] }), cwd: '/x' },
    },
  })
  expect([...runtime.environments].map(({ spec }) => spec.executor).slice(0, 3)).toEqual([
    { kind: 'exec-server', options: { url: 'ws://127.0.0.1:9', bearerTokenEnvVar: 'T' } },
    { kind: 'ssh', options: { host: 'h', port: 22 } },
    { kind: 'command', options: { prefix: ['docker', 'exec', '-i', 'box'] } },
  ])
  const wrong = (executor: NonNullable<RuntimeEnvironment['executor']>): Promise<Runtime> =>
    openRuntime({ environments: { a: { executor, cwd: '/x' } } })
  await expect(wrong(execServer({ url: 'http://x' }))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('ws://'),
  })
  await expect(wrong(ssh({ host: '-x' }))).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('host') })
  await expect(openRuntime({ environments: { local: { executor: ssh({ host: 'h' }), cwd: '/x' } } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  })
})

test('an environment is added while sessions run: later ones may select it; disposing of it ends its servers', async () => {
  await using runtime = await openRuntime({ ...ON, environments: { a: local('a') } })
  await using before = await runtime.openSession()
  const added = runtime.environments.add('b', local('b'))
  expect([...runtime.environments].map(({ id }) => id)).toEqual(['a', 'local', 'b'])
  expect(() => runtime.environments.add('b', local('b'))).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  expect(() => runtime.environments.add('c', { executor: 'ssh', cwd: '/x' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('host') }),
  )
  expect(await info(before, 'b')).toMatchObject({ outcome: 'invalid_request' })
  await using later = await runtime.openSession({ environments: ['b', 'a'] })
  const { pid, env } = await info(later, 'b')
  expect([env.WHO, (await info(later, 'a')).env.WHO]).toEqual(['b', 'a'])
  await added[Symbol.asyncDispose]()
  expect(alive(pid)).toBe(false)
  expect(runtime.environments.get('b')).toBe(undefined)
  await expect(runtime.openSession({ environments: ['b'] })).rejects.toMatchObject({ code: 'ENVIRONMENT_UNKNOWN' })
  expect((await info(later, 'a')).env.WHO).toBe('a')
})

test('a replaced environment: sessions that are open keep theirs, later ones see the new one, its executor goes with its last connection', async () => {
  const own = box()
  await using runtime = await openRuntime({ ...ON, idleCloseMs: 50, environments: { vm: { ...local('old'), executor: own.factory({}) } } })
  const before = await runtime.openSession()
  const first = await info(before, 'vm')
  const old = runtime.environments.get('vm')
  const made = runtime.environments.replace('vm', local('new'))
  expect([made.instanceId === old?.instanceId, old?.replaced, made.replaced, runtime.environments.get('vm') === made]).toEqual([
    false,
    true,
    false,
    true,
  ])
  await using later = await runtime.openSession()
  expect((await info(later, 'vm')).env.WHO).toBe('new')
  const again = await info(before, 'vm')
  expect([again.env.WHO, again.pid, own.disposed]).toEqual(['old', first.pid, 0])
  await before.close()
  await until(() => own.disposed === 1, 'the old executor is let go')
  expect(alive(first.pid)).toBe(false)
  expect(() => runtime.environments.replace('nowhere', local('x'))).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_UNKNOWN' }))
  expect(() => runtime.environments.replace('local', { executor: ssh({ host: 'h' }), cwd: '/' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  )
})

test('a call that is on its way while its environment is replaced is stopped; the next one goes to the old instance', async () => {
  const runtime = await openRuntime({
    ...ON,
    environments: {
      vm: { ...local('old'), mcpServers: { echo: { ...server({ WHO: 'old' }), defaultToolsApprovalMode: 'prompt' } as never } },
    },
  })
  let replaced = false
  await using session = await runtime.openSession({
    approver: () => {
      if (!replaced) runtime.environments.replace('vm', local('new'))
      replaced = true
      return Promise.resolve({ action: 'accept' })
    },
  })
  expect(await info(session, 'vm')).toMatchObject({ outcome: 'authority_changed', what: 'environment', sent: 'no' })
  expect((await info(session, 'vm')).env.WHO).toBe('old')
  await runtime.close()
})

test('what an executor cannot do is refused, never done here', async () => {
  const memory = { ...memoryExecutor({}), kind: 'tiny' }
  await using session = await openSession({
    ...ON,
    environments: { vm: { executor: memory, cwd: '/', mcpServers: { echo: { url: 'http://127.0.0.1:9/mcp' } } } },
  })
  expect(await info(session, 'vm')).toMatchObject({ outcome: 'server_failed', sent: 'no' })
})
