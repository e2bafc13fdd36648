import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import type { ElicitationQuestion, Runtime, SamplingQuestion, SessionEvent } from '../../src/runtime/types.ts'
import { askingRuntime, codes, form, gate, tell, withdrawn } from './asking.ts'

const runtimes: Runtime[] = []
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((one) => one.close()))
})
async function runtime(...args: Parameters<typeof askingRuntime>): ReturnType<typeof askingRuntime> {
  const made = await askingRuntime(...args)
  runtimes.push(made)
  return made
}
const elicit = (params: object): object => ({ method: 'elicitation/create', params })
const yes = { action: 'accept', content: { ok: true } } as const

test('without handlers nothing but roots is declared, and every other question is refused at once', async () => {
  const session = await (await runtime()).openSession()
  expect(await tell(session, 'asks', 'declared')).toMatchObject({ declared: { roots: {} } })
  expect((await tell(session, 'asks', 'declared')).declared).toEqual({ roots: {} })
  expect(await tell(session, 'asks', 'ask', elicit(form('Write?')))).toEqual({ error: -32601 })
  expect(await tell(session, 'asks', 'ask', { method: 'sampling/createMessage', params: { messages: [] } })).toEqual({ error: -32601 })
  expect(await tell(session, 'asks', 'ask', { method: 'no/such', params: {} })).toEqual({ error: -32601 })
  expect(await tell(session, 'asks', 'ask', { method: 'ping' })).toEqual({})
})

test('roots are the folders of the environment where they are written down, and nothing where they are not', async () => {
  const home = await runtime({ extraRoots: ['/data/a b', '/data'] })
  const session = await home.openSession()
  const { roots } = await tell(session, 'asks', 'ask', { method: 'roots/list' })
  expect(roots.map(({ uri }: { uri: string }) => uri)).toEqual([pathToFileURL(home.folder).href, 'file:///data/a%20b', 'file:///data'])
  expect((await tell(session, 'wide', 'declared')).declared).toEqual({})
  expect(await tell(session, 'wide', 'ask', { method: 'roots/list' })).toEqual({ error: -32601 })
})

test('roots of the host go to servers whose folders nobody wrote down, and a change is told to these alone', async () => {
  const home = await runtime()
  const session = await home.openSession({ onRoots: async ({ owner }) => [{ uri: 'file:///mine', name: String(owner), extra: 1 }] })
  expect(await tell(session, 'wide', 'ask', { method: 'roots/list' })).toEqual({
    roots: [{ uri: 'file:///mine', name: 'wide', extra: 1 }],
  })
  const own = await tell(session, 'asks', 'ask', { method: 'roots/list' })
  expect(own.roots).toMatchObject([{ uri: pathToFileURL(home.folder).href }])
  const broken = await home.openSession({ onRoots: () => Promise.reject(new Error('no folders today')) })
  expect(await tell(broken, 'wide', 'ask', { method: 'roots/list' })).toEqual({ error: -32603 })
  expect(codes(broken)).toContain('question_failed')
  session.rootsChanged()
  expect([(await tell(session, 'wide', 'declared')).rootsChanged, (await tell(session, 'asks', 'declared')).rootsChanged]).toEqual([1, 0])
})

test('a question carries who asks, with every field, and the answer reaches the server', async () => {
  const home = await runtime()
  const asked: ElicitationQuestion[] = []
  const events: SessionEvent[] = []
  const session = await home.openSession({
    id: 's1',
    onElicitation: async (question) => {
      asked.push(question)
      return yes
    },
  })
  session.subscribe((event) => event.type === 'question' && events.push(event))
  const params = { ...form('Write?'), future: { kept: true }, _meta: { 'example.com/a': 1, persist: 'always', approvals_reviewer: 'x' } }
  expect(await tell(session, 'asks', 'ask', elicit(params), { callId: 'call-7' })).toEqual(yes)
  const [question] = asked
  expect(question).toMatchObject({
    callId: 'call-7',
    sessionId: 's1',
    environmentId: 'vm',
    permissions: 'workspace-write',
    message: 'Write?',
    mode: 'form',
    params: { future: { kept: true }, _meta: { 'example.com/a': 1 } },
  })
  expect(String(question?.owner)).toBe('asks (environment vm)')
  expect(question?.params['_meta']).toEqual({ 'example.com/a': 1 })
  expect(events.map((event) => event.type === 'question' && [event.kind, event.state, event.callId])).toEqual([
    ['elicitation', 'asked', 'call-7'],
    ['elicitation', 'answered', 'call-7'],
  ])
  expect((await tell(session, 'asks', 'declared')).declared).toEqual({ elicitation: { form: {}, url: {} }, roots: {} })
})

test('defaults are filled in; an answer that does not fit the form, or is none, counts as no', async () => {
  const home = await runtime()
  let answer: unknown
  const session = await home.openSession({ onElicitation: async () => answer as never })
  const properties = { ok: { type: 'boolean' }, size: { type: 'integer', default: 3 }, colour: { type: 'string', enum: ['red', 'blue'] } }
  const ask = (given: unknown): Promise<unknown> => {
    answer = given
    return tell(session, 'asks', 'ask', elicit(form('Which?', properties)))
  }
  expect(await ask({ action: 'accept', content: { ok: true } })).toEqual({ action: 'accept', content: { ok: true, size: 3 } })
  expect(await ask({ action: 'accept', content: { ok: true, size: 5 } })).toMatchObject({ content: { size: 5 } })
  expect(await ask({ action: 'accept', content: { ok: 'yes' } })).toEqual({ action: 'decline' })
  expect(await ask({ action: 'accept', content: { ok: true, colour: 'green' } })).toEqual({ action: 'decline' })
  expect(await ask({ action: 'accept' })).toEqual({ action: 'decline' })
  expect(await ask({ action: 'decline', content: { ok: true } })).toEqual({ action: 'decline' })
  expect(await ask({ action: 'cancel' })).toEqual({ action: 'cancel' })
  for (const none of [undefined, 'yes', { action: 'yes' }, { action: 'accept', content: 7 }, []])
    expect(await ask(none)).toEqual({ action: 'decline' })
  expect(codes(session)).toContain('elicitation_not_answered')
  const marked = { action: 'accept', content: { ok: true }, _meta: { approvals_reviewer: 'auto_review', 'example.com/b': 2 } }
  expect(await ask(marked)).toEqual({ action: 'accept', content: { ok: true, size: 3 }, _meta: { 'example.com/b': 2 } })
})

test('questions that make no sense are refused, and nobody is asked', async () => {
  let asked = 0
  const session = await (await runtime()).openSession({
    onElicitation: async () => {
      asked++
      return yes
    },
  })
  for (const params of [
    {},
    { message: 'x' },
    { message: 'x', requestedSchema: { type: 'string' } },
    { message: 'x', mode: 'voice' },
    { message: 'x', mode: 'url', url: 'javascript:alert(1)', elicitationId: '1' },
    { message: 'x', mode: 'url', url: 'file:///etc/passwd', elicitationId: '1' },
    { message: 'x', requestedSchema: { type: 'object', properties: { a: { type: 'string' } }, $schema: 'urn:unknown' } },
  ])
    expect([params, await tell(session, 'asks', 'ask', elicit(params))]).toEqual([params, { error: -32602 }])
  expect(asked).toBe(0)
})

test('a URL is shown with its full host and opened by nobody; a mode that was not declared is refused', async () => {
  const home = await runtime()
  const asked: ElicitationQuestion[] = []
  const onElicitation = async (question: ElicitationQuestion): Promise<{ action: 'accept'; content: object }> => {
    asked.push(question)
    return { action: 'accept', content: { never: 'sent' } }
  }
  const url = { mode: 'url', message: 'Log in', url: 'https://login.example.com:8443/a?b=c', elicitationId: 'e1' }
  const both = await home.openSession({ onElicitation: onElicitation as never })
  expect(await tell(both, 'asks', 'ask', elicit(url))).toEqual({ action: 'accept' })
  expect(asked).toMatchObject([{ mode: 'url', host: 'login.example.com:8443', url: url.url, elicitationId: 'e1' }])
  const forms = await home.openSession({ onElicitation: onElicitation as never, declares: { elicitation: {} } })
  expect((await tell(forms, 'asks', 'declared')).declared.elicitation).toEqual({})
  expect(await tell(forms, 'asks', 'ask', elicit(url))).toEqual({ error: -32602 })
  expect(asked).toHaveLength(1)
})

test('the policy of the owner, live: never and granular false decline without asking', async () => {
  const home = await runtime()
  let asked = 0
  const session = await home.openSession({
    onElicitation: async () => {
      asked++
      return yes
    },
  })
  const vm = home.environments.get('vm')!
  vm.update({ approvalPolicy: 'never' })
  expect(await tell(session, 'asks', 'ask', elicit(form('x')))).toEqual({ action: 'decline' })
  vm.update({ approvalPolicy: { granular: { mcpElicitations: false } } })
  expect(await tell(session, 'asks', 'ask', elicit(form('x')))).toEqual({ action: 'decline' })
  expect(asked).toBe(0)
  vm.update({ approvalPolicy: { granular: { mcpElicitations: true } } })
  expect(await tell(session, 'asks', 'ask', elicit(form('x')))).toEqual(yes)
  // the policy of another environment is none of its business
  home.environments.get('local')!.update({ approvalPolicy: 'never' })
  expect(await tell(session, 'asks', 'ask', elicit(form('x')))).toEqual(yes)
})

test('a model is asked with every field, and what it says comes back whole; a no is an error for the server', async () => {
  const home = await runtime()
  const asked: SamplingQuestion[] = []
  const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' }, stopReason: 'endTurn', future: 1 } as const
  const session = await home.openSession({
    onSampling: async (question) => {
      asked.push(question)
      if (asked.length > 1) throw new Error('not today')
      return result
    },
  })
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], maxTokens: 5, odd: { kept: 1 } }
  const ask = { method: 'sampling/createMessage', params }
  expect(await tell(session, 'asks', 'ask', ask)).toEqual(result)
  expect(asked[0]).toMatchObject({ environmentId: 'vm', request: params })
  expect(await tell(session, 'asks', 'ask', ask)).toEqual({ error: -1 })
  expect((await tell(session, 'asks', 'declared')).declared).toEqual({ sampling: {}, roots: {} })
})

test('a session that answers has processes of its own; the others share', async () => {
  const home = await runtime()
  const pid = async (options: object): Promise<number> => (await tell(await home.openSession(options), 'asks', 'declared')).pid
  const onElicitation = async (): Promise<typeof yes> => yes
  const [a, b, c, d] = [await pid({}), await pid({}), await pid({ onElicitation }), await pid({ onElicitation })]
  expect(a).toBe(b)
  expect(new Set([a, c, d]).size).toBe(3)
})

test('sharing "runtime": one process; a question that fits calls of two sessions is declined, with one it is routed', async () => {
  const home = await runtime({}, { sharing: 'runtime' })
  const asked: string[] = []
  const open = (id: string): ReturnType<Runtime['openSession']> =>
    home.openSession({
      id,
      onElicitation: async ({ sessionId }) => {
        asked.push(sessionId)
        return yes
      },
    })
  const [a, b] = [await open('a'), await open('b')]
  expect((await tell(a, 'asks', 'declared')).pid).toBe((await tell(b, 'asks', 'declared')).pid)
  expect(await tell(b, 'asks', 'ask', elicit(form('x')))).toEqual(yes)
  const waits = new AbortController()
  const hanging = a.callTool({ server: 'asks', tool: 'hang' }, { signal: waits.signal })
  expect(await tell(b, 'asks', 'ask', elicit(form('x')))).toEqual({ action: 'decline' })
  expect(asked).toEqual(['b'])
  expect([...codes(a), ...codes(b)]).toContain('ELICITATION_UNROUTABLE')
  waits.abort()
  expect((await hanging).outcome).toBe('cancelled')
  expect(await tell(b, 'asks', 'ask', elicit(form('x')))).toEqual(yes)
})

test('two questions of one call each get their own answer, whichever comes first', async () => {
  const first = gate()
  const session = await (await runtime()).openSession({
    onElicitation: async ({ message }) => {
      if (message === 'one') await first.opened
      else first.open()
      return { action: 'accept', content: { ok: message === 'one' } }
    },
  })
  const answers = await tell(session, 'asks', 'ask_twice', { method: 'elicitation/create', first: form('one'), second: form('two') })
  expect(answers).toEqual([
    { action: 'accept', content: { ok: true } },
    { action: 'accept', content: { ok: false } },
  ])
})

test('a question is withdrawn when its server takes it back, dies, its call ends, or the session closes', async () => {
  const home = await runtime()
  const ends: string[] = []
  const asked = [gate(), gate(), gate(), gate()]
  let count = 0
  const session = await home.openSession({
    onElicitation: async ({ message }, { signal }) => {
      const gone = withdrawn(signal).catch(() => void ends.push(message))
      asked[count++]!.open()
      await gone
      return yes
    },
  })
  const params = (message: string): object => ({ method: 'elicitation/create', params: form(message) })
  const back = tell(session, 'asks', 'ask_and_withdraw', params('taken back'))
  await asked[0]!.opened
  await tell(session, 'asks', 'release')
  expect(await back).toBe('withdrawn')

  const cancel = new AbortController()
  const cancelled = session.callTool({ server: 'asks', tool: 'ask', arguments: params('cancelled') }, { signal: cancel.signal })
  await asked[1]!.opened
  cancel.abort()
  expect((await cancelled).outcome).toBe('cancelled')

  const died = session.callTool({ server: 'asks', tool: 'ask', arguments: params('died') })
  await asked[2]!.opened
  expect((await session.callTool({ server: 'asks', tool: 'exit' })).outcome).toBe('server_failed')
  expect((await died).outcome).toBe('server_failed')

  const closed = session.callTool({ server: 'asks', tool: 'ask', arguments: params('closed') })
  await asked[3]!.opened
  await session.close()
  expect((await closed).outcome).toBe('cancelled')
  expect(ends).toEqual(['taken back', 'cancelled', 'died', 'closed'])
})

test('the time that a person takes counts against no limit of the call, but has one of its own', async () => {
  const home = await runtime({}, { toolTimeoutSec: 1 })
  const session = await home.openSession({
    approvalTimeoutMs: 8000,
    onElicitation: async ({ message }, { signal }) => {
      await (message === 'never' ? withdrawn(signal) : new Promise((resolve) => setTimeout(resolve, 2500)))
      return yes
    },
  })
  expect(await tell(session, 'asks', 'ask', elicit(form('slow')), { timeoutMs: 1500 })).toEqual(yes)
  expect(await tell(session, 'asks', 'ask', elicit(form('never')), { timeoutMs: 1500 })).toEqual({ action: 'cancel' })
  const hanging = await session.callTool({ server: 'asks', tool: 'hang' })
  expect([hanging.outcome, hanging.code]).toEqual(['timed_out', 'CALL_TIMED_OUT'])
}, 60_000)

test('a flood of questions is bounded', async () => {
  const release = gate()
  let open = 0
  const session = await (await runtime()).openSession({
    onElicitation: async () => {
      open++
      await release.opened
      return yes
    },
  })
  const calls = Array.from({ length: 80 }, () => tell(session, 'asks', 'ask', elicit(form('x'))))
  const refused = await Promise.race(calls)
  expect(refused).toEqual({ error: -32603 })
  release.open()
  const answers = await Promise.all(calls)
  expect(answers.filter((one) => one.action === 'accept')).toHaveLength(64)
  expect(open).toBe(64)
}, 30_000)

test('what servers log is an event, redacted, down to the level that the session wants', async () => {
  process.env['TAPLINE_TEST_SECRET'] = 'a-secret-of-the-log'
  const { asking } = await import('./asking.ts')
  const { openRuntime } = await import('../../src/runtime/open-runtime.ts')
  const home = await openRuntime({ mcpServers: { asks: asking({ env: { TOKEN: '${TAPLINE_TEST_SECRET}' } }) } })
  runtimes.push(home)
  delete process.env['TAPLINE_TEST_SECRET']
  const logs: unknown[] = []
  const session = await home.openSession()
  session.subscribe((event) => event.type === 'log' && logs.push([String(event.owner), event.level, event.logger, event.data]))
  const say = (level: unknown, data: unknown): Promise<unknown> => tell(session, 'asks', 'say', { params: { level, logger: 'l', data } })
  expect((await tell(session, 'asks', 'declared')).level).toBe(null)
  await say('debug', { token: 'it is a-secret-of-the-log', n: 1 })
  await say('loud', 'odd level')
  session.setLogLevel('warning')
  expect((await tell(session, 'asks', 'declared')).level).toBe('warning')
  await say('info', 'too quiet')
  await say('error', 'heard')
  expect(logs).toEqual([
    ['asks', 'debug', 'l', { token: 'it is [redacted]', n: 1 }],
    ['asks', 'info', 'l', 'odd level'],
    ['asks', 'error', 'l', 'heard'],
  ])
  expect(() => session.setLogLevel('loud' as never)).toThrow(expect.objectContaining({ code: 'CALL_INVALID_REQUEST' }))
  // of two sessions on one process the one that wants more decides
  const other = await home.openSession({ logLevel: 'debug' })
  expect((await tell(other, 'asks', 'declared')).level).toBe('debug')
})

test('changed resources and prompts, and what was asked for by URL and is done, are events', async () => {
  const session = await (await runtime()).openSession()
  const events: unknown[] = []
  session.subscribe((event) => {
    if (event.type === 'resources_changed' || event.type === 'prompts_changed') events.push(event.type)
    if (event.type === 'elicitation_complete') events.push(event.elicitationId)
  })
  for (const method of ['notifications/resources/list_changed', 'notifications/prompts/list_changed'])
    await tell(session, 'asks', 'notify', { method })
  await tell(session, 'asks', 'notify', { method: 'notifications/elicitation/complete', params: { elicitationId: 'e9' } })
  expect(events).toEqual(['resources_changed', 'prompts_changed', 'e9'])
})

test('handlers that are none are refused', async () => {
  const home = await runtime()
  for (const bad of [{ onElicitation: 'yes' }, { onSampling: 1 }, { onRoots: {} }, { logLevel: 'loud' }, { declares: 7 }])
    await expect(home.openSession(bad as never)).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
})

test('a yes to a question counts as no where what governs its server changed meanwhile; a no stays a no', async () => {
  await using runtime = await askingRuntime({ approvalPolicy: 'on-request' })
  const vm = runtime.environments.get('vm')!
  const policies = [
    { approvalPolicy: 'never' },
    { approvalPolicy: { granular: { mcpElicitations: false } } },
    { approvalPolicy: 'on-request', permissions: 'read-only' },
  ] as const
  await using session = await runtime.openSession({
    onElicitation: async () => {
      vm.update(policies[asked++ % 3]!)
      return asked > 3 ? { action: 'decline' } : yes
    },
  })
  let asked = 0
  for (let i = 1; i <= 4; i++) {
    vm.update({ approvalPolicy: 'on-request', permissions: 'workspace-write' })
    expect([asked, await tell(session, 'asks', 'ask', elicit(form('x')))]).toEqual([i - 1, { action: 'decline' }])
  }
  expect(codes(session)).toContain('elicitation_not_answered')
})
