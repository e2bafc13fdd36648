/** Who reads slowly behind a real `codex exec-server`, host or server: nothing is lost or reordered, memory stays bounded, others go on. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Executor, StdioProcess } from '../../src/connections/executor.ts'
import { CodexExecutor, connectTo } from './codex.ts'

const PROGRAM = fileURLToPath(new URL('flow-server.mjs', import.meta.url))
const MIB = 1024 * 1024
const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'tapline-slow-'))
let codex: CodexExecutor
let executor: Executor
beforeAll(async () => {
  codex = await CodexExecutor.start()
  executor = await connectTo(codex.url)
})
afterAll(async () => {
  await executor.dispose()
  await codex[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const start = (...args: string[]): Promise<StdioProcess> =>
  executor.startStdio({ command: process.execPath, args: [PROGRAM, ...args], cwd: '/', env: {}, label: args[0] as string }, { signal })

/** As the transport of a server reads: every chunk when it comes, within its turn. */
function listen(process: StdioProcess, take: (chunk: Buffer) => void): void {
  ;(process.stdout as unknown as NodeJS.ReadableStream).on('data', take)
}

/** Round trips of a line, one after the other, until it is enough. */
async function roundTrips(until: () => boolean): Promise<number> {
  const echo = await start('echo')
  let heard: () => void = () => {}
  listen(echo, () => heard())
  let count = 0
  const trip = async (): Promise<number> => {
    const back = new Promise<void>((resolve) => (heard = resolve))
    await echo.write(Buffer.from('hello\n'))
    await back
    count++
    return until() ? count : trip()
  }
  await trip()
  await echo.kill('kill')
  return count
}

test('a server floods a host that is slow: every line in its place, host and executor do not grow with it, another server answers', async () => {
  const LINES = 40_000
  const flood = await start('flood', String(LINES))
  let next = 0
  let rest: Buffer = Buffer.alloc(0)
  let wrong: string | null = null
  let most = { host: 0, executor: 0 }
  const before = { host: process.memoryUsage().rss, executor: codex.memory() }
  const all = new Promise<void>((resolve) => {
    listen(flood, (chunk) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (; bytes.length - at >= 4096; at += 4096) {
        const head = bytes.toString('latin1', at, at + 10)
        if (head !== `${String(next).padStart(9, '0')} `) wrong ??= `${head} in place of ${next}`
        // now and then the host has something else to do
        if (++next % 1000 === 0) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
          most = {
            host: Math.max(most.host, process.memoryUsage().rss - before.host),
            executor: Math.max(most.executor, codex.memory() - before.executor),
          }
        }
        if (next === LINES) resolve()
      }
      rest = bytes.subarray(at)
    })
  })
  await flood.write(Buffer.from('go\n'))
  const trips = await roundTrips(() => next === LINES)
  await all
  expect([wrong, next, rest.length]).toEqual([null, LINES, 0])
  expect(trips).toBeGreaterThan(5)
  // of 156 MiB
  expect(most.executor).toBeLessThan(40 * MIB)
  expect(most.host).toBeLessThan(110 * MIB)
  await flood.kill('kill')
})

test('a host writes to a server that does not read: another server answers meanwhile, and later all of it arrives in order', async () => {
  const go = join(folder, 'go')
  const deaf = await start('deaf', go)
  const answer = new Promise<string>((resolve) => {
    let said = ''
    listen(deaf, (chunk) => {
      said += chunk.toString()
      if (said.includes(`${SIZE} `) && said.endsWith('\n')) resolve(said.trim().split('\n').at(-1) as string)
    })
  })
  const SIZE = 12 * MIB
  const data = Buffer.concat([Buffer.from(randomBytes((SIZE * 3) / 4 - 3).toString('base64')), Buffer.from('end\n')])
  expect(data).toHaveLength(SIZE)
  let written = false
  const writes = Promise.all(Array.from({ length: 96 }, (_, n) => deaf.write(data.subarray((n * SIZE) / 96, ((n + 1) * SIZE) / 96)))).then(
    () => (written = true),
  )
  let more = 20
  await roundTrips(() => --more === 0)
  writeFileSync(go, '')
  await writes
  expect([written, await answer]).toEqual([true, `${SIZE} ${createHash('sha256').update(data).digest('hex')}`])
  await deaf.kill('kill')
})
