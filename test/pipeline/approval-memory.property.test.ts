/** Random decisions, revocations, restarts and changes, over two runtimes on one store: a call runs without a question only where a person said so about exactly this. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import type { Session } from '../../src/runtime/types.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { ScriptedTool } from '../../src/testing/index.ts'
import { scriptedServer } from '../../src/testing/index.ts'
import { launchRuntime } from './launches.ts'

const ENVIRONMENTS = ['near', 'away'] as const
const TOOLS = ['drop', 'wipe', 'asks'] as const
const PERMISSIONS = ['read-only', 'workspace-write', 'external'] as const
/** What an approver may do; the first three are a yes. */
const ANSWERS = ['once', 'session', 'always', 'decline', 'cancel', 'garbage', 'throw', 'withdrawn', 'tightened'] as const
type Answer = (typeof ANSWERS)[number]

const at = fc.record({
  runtime: fc.nat(1),
  session: fc.nat(1),
  environment: fc.constantFrom(...ENVIRONMENTS),
  tool: fc.constantFrom(...TOOLS),
})
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('call' as const), at, answer: fc.constantFrom(...ANSWERS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revoke' as const), runtime: fc.nat(1), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), runtime: fc.nat(1), args: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('redefine' as const), version: fc.nat(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('permit' as const),
      runtime: fc.nat(1),
      environment: fc.constantFrom(...ENVIRONMENTS),
      permissions: fc.constantFrom(...PERMISSIONS),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const toolsOf = (version: number): Record<string, ScriptedTool> =>
  Object.fromEntries(TOOLS.map((name) => [name, { description: `${name}, version ${version}` }]))

const configOf = (args: number): Config => {
  const db = { command: 'db', args: [`args-${args}`], tools: { asks: { approvalMode: 'prompt' } } } as const
  return {
    environments: {
      near: { permissions: 'workspace-write', mcpServers: { db } },
      away: { executor: { kind: 'far', host: 'a.example' }, cwd: '/', permissions: 'workspace-write', mcpServers: { db } },
    },
    features: { multi_environment_mcp: true },
  }
}

/** One process with two sessions, and what the model knows about it. */
interface Host {
  readonly runtime: LiveRuntime
  readonly sessions: readonly Session[]
  readonly args: number
  /** what holds for each environment */
  readonly permissions: Record<string, string>
  /** id → what was approved, for each session */
  readonly remembered: readonly Map<string, string>[]
}

class Run {
  readonly #store = memoryStore()
  readonly #server = scriptedServer({ tools: toolsOf(0) })
  readonly #always = new Map<string, string>()
  readonly #hosts: Host[] = []
  #version = 0
  #asked = 0
  #answer: (host: Host, environment: string, controller: AbortController) => unknown = () => undefined
  #controller = new AbortController()
  #environment = ''

  async open(): Promise<void> {
    for (const at of [0, 1]) this.#hosts[at] = await this.#host(0)
  }

  async close(): Promise<void> {
    for (const { runtime } of this.#hosts) await runtime.close()
  }

  async #host(args: number): Promise<Host> {
    const runtime = await launchRuntime(this.#store, this.#server, configOf(args))
    const approver = (): never => {
      this.#asked++
      return this.#answer(host, this.#environment, this.#controller) as never
    }
    const sessions = [await runtime.openSession({ approver }), await runtime.openSession({ approver })]
    const host: Host = {
      runtime,
      sessions,
      args,
      permissions: { near: 'workspace-write', away: 'workspace-write' },
      remembered: [new Map(), new Map()],
    }
    await this.#listed(host)
    return host
  }

  /** The lists are as the server has them now. */
  async #listed({ sessions }: Host): Promise<void> {
    for (const session of sessions) {
      for (;;) {
        const { tools } = await session.listTools()
        if (tools.length === 6 && tools.every(({ description }) => description.endsWith(`version ${this.#version}`))) break
        await new Promise((done) => setTimeout(done, 1))
      }
    }
  }

  async step(one: Step): Promise<void> {
    if (one.do === 'call') return this.#call(one)
    if (one.do === 'revoke') return this.#revoke(one)
    if (one.do === 'restart') {
      await this.#hosts[one.runtime]!.runtime.close()
      this.#hosts[one.runtime] = await this.#host(one.args)
    } else if (one.do === 'redefine') {
      this.#version = one.version
      this.#server.replaceTools(toolsOf(one.version))
      for (const host of this.#hosts) await this.#listed(host)
    } else this.#permit(this.#hosts[one.runtime]!, one.environment, one.permissions)
  }

  #permit({ runtime, permissions }: Host, environment: string, to: (typeof PERMISSIONS)[number]): void {
    runtime.environments.get(environment)!.update({ permissions: to })
    permissions[environment] = to
  }

  async #revoke({ runtime, which }: { readonly runtime: number; readonly which: number }): Promise<void> {
    const host = this.#hosts[runtime]!
    const listed = await host.runtime.approvals.list()
    const known = [...this.#always.keys(), ...host.remembered.flatMap((ids) => [...ids.keys()])]
    assert.deepEqual(listed.map(({ id }) => id).sort(), known.sort())
    const chosen = listed[which % Math.max(1, listed.length)]
    if (chosen === undefined) return
    assert.equal(await host.runtime.approvals.revoke(chosen.id), true)
    assert.equal(await host.runtime.approvals.revoke(chosen.id), false)
    this.#always.delete(chosen.id)
    for (const ids of host.remembered) ids.delete(chosen.id)
  }

  async #call({ at: { runtime, session, environment, tool }, answer }: Extract<Step, { do: 'call' }>): Promise<void> {
    const host = this.#hosts[runtime]!
    const own = host.remembered[session]!
    const bound = JSON.stringify([environment, tool, this.#version, host.args, host.permissions[environment]])
    const isRemembered = tool !== 'asks' && [...this.#always.values(), ...own.values()].includes(bound)
    const before = new Set((await host.runtime.approvals.list()).map(({ id }) => id))
    this.#asked = 0
    this.#answer = (from, place, controller) => this.#say(answer, from, place, controller)
    this.#environment = environment
    this.#controller = new AbortController()
    const outcome = await host.sessions[session]!.callTool(
      { server: 'db', environmentId: environment, tool, arguments: {} },
      { signal: this.#controller.signal },
    )
    const yes = ['once', 'session', 'always'].includes(answer)
    assert.deepEqual(
      { asked: this.#asked, ran: outcome.outcome === 'completed', sent: outcome.sent },
      {
        asked: isRemembered ? 0 : 1,
        ran: isRemembered || yes,
        sent: isRemembered || yes ? 'yes' : 'no',
      },
    )
    const added = (await host.runtime.approvals.list()).filter(({ id }) => !before.has(id))
    const remembers = !isRemembered && tool !== 'asks' && (answer === 'session' || answer === 'always')
    assert.deepEqual(
      added.map(({ scope, tool: name, owner }) => [scope, name, owner.environmentId]),
      remembers ? [[answer, tool, environment]] : [],
    )
    for (const { id } of added) (answer === 'always' ? this.#always : own).set(id, bound)
  }

  #say(answer: Answer, host: Host, environment: string, controller: AbortController): unknown {
    switch (answer) {
      case 'once':
        return Promise.resolve({ action: 'accept' })
      case 'session':
      case 'always':
        return Promise.resolve({ action: 'accept', remember: answer })
      case 'decline':
      case 'cancel':
        return Promise.resolve({ action: answer, remember: 'always' })
      case 'garbage':
        return Promise.resolve({ action: 'accept', remember: 'forever' })
      case 'throw':
        throw new Error('no answer')
      case 'withdrawn':
        controller.abort()
        return Promise.resolve({ action: 'accept', remember: 'always' })
      default: {
        const other = PERMISSIONS.find((one) => one !== host.permissions[environment])!
        this.#permit(host, environment, other)
        return Promise.resolve({ action: 'accept', remember: 'always' })
      }
    }
  }
}

test('never an unintended yes', { timeout: 180_000 }, async () => {
  const checked = fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 40 }), async (steps) => {
      const run = new Run()
      try {
        await run.open()
        for (const one of steps) await run.step(one)
      } finally {
        await run.close()
      }
    }),
    { numRuns: 60, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false },
  )
  await expect(checked).resolves.toBeUndefined()
})
