/** HTTP servers of an environment behind a real `codex exec-server`: every request leaves from there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execServerExecutor } from '../../src/connections/executors/exec-server/exec-server.ts'
import type { Progress } from '../../src/mcp.ts'
import { Environment } from '../../src/servers/environment.ts'
import { callTool, event, EVENTS, httpConnection, notice, rpc, text } from '../connections/fixtures/http.ts'
import { cleanUp, failure, newPool, server } from '../connections/fixtures/http-kit.ts'
import { until } from '../connections/fixtures/pool.ts'
import { CodexExecutor } from './codex.ts'

cleanUp()
let codex: CodexExecutor
beforeAll(async () => {
  codex = await CodexExecutor.start()
})
afterAll(async () => {
  await codex[Symbol.asyncDispose]()
})

function vm(): Environment {
  return new Environment({
    id: 'vm',
    executor: { kind: 'exec-server', options: { url: codex.url } },
    cwd: '/',
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: 'host',
  })
}

for (const sse of [false, true])
  test(`start, calls at once, progress as it comes, cancel, and a DELETE at the end (${sse ? 'events' : 'JSON'})`, async () => {
    const at = await server({
      sse,
      on: (method, { message, response }) => {
        if (method !== 'tools/call' || message.params.name === 'echo') return false
        response.writeHead(200, EVENTS)
        const { progressToken } = message.params._meta
        response.write(event(notice('notifications/progress', { progressToken, progress: 1 })))
        if (message.params.name === 'read') setTimeout(() => response.end(event(rpc(message.id, text('done')))), 100)
        return true
      },
    })
    const pool = newPool({ more: [execServerExecutor] })
    const connection = httpConnection(pool, at.url, { on: vm() })
    await connection.ready()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => callTool(connection, 'echo', { n })))
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => text(`echo {"n":${n}}`)))
    const seen: Progress[] = []
    expect(await callTool(connection, 'read', {}, { onProgress: (progress) => seen.push(progress) })).toEqual(text('done'))
    expect(seen.map(({ progress }) => progress)).toEqual([1])
    const caller = new AbortController()
    const waiting = failure(callTool(connection, 'again', {}, { signal: caller.signal, onProgress: () => caller.abort() }))
    expect(await waiting).toMatchObject({ code: 'CALL_CANCELLED' })
    await until(() => at.count('notifications/cancelled') === 1, 'the notice')
    // a session that is forgotten is opened again from there too
    at.sessions.clear()
    expect(await failure(callTool(connection, 'echo'))).toMatchObject({ data: { sessionLost: true } })
    await connection.ready()
    expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
    await pool.close()
    expect(at.seen.at(-1)?.method).toBe('DELETE')
    expect(at.sessions.size).toBe(0)
  }, 60_000)

test('what cannot be reached from there says so', async () => {
  const gone = await server()
  await gone.close()
  const pool = newPool({ more: [execServerExecutor] })
  const error = await failure(httpConnection(pool, gone.url, { on: vm() }).ready())
  expect(['SERVER_START_FAILED', 'ENVIRONMENT_UNAVAILABLE']).toContain(error.code)
  expect(error.message).not.toContain('\n')
})
