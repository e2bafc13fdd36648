/** What the executor promises for a host that was killed (abandoned.ts did that when the run began): its servers end, with all they started. */
import { expect, inject, test } from 'vitest'
import { marked, until } from '../connections/fixtures/pool.ts'
import { connectTo } from './codex.ts'

/** ms after the death of a host in which the executor ends its processes; docs/guides/environments.md says 80 s. */
const PROMISED_MS = 80_000
/** for a machine that is busy */
const LEEWAY_MS = 40_000

test('servers of a host that was killed are gone after the time of the executor, which goes on', { timeout: 150_000 }, async () => {
  const { mark, killedAt, left, url } = inject('abandoned')
  const age = (): number => Date.now() - killedAt
  // a server and its child, for a host that comes back
  expect(left).toBe(2)
  await until(() => marked(mark).length === 0, 'they are gone', Math.max(1000, PROMISED_MS + LEEWAY_MS - age()))
  const executor = await connectTo(url)
  expect(await executor.check?.({ signal: new AbortController().signal })).toMatchObject({ platform: 'linux' })
  await executor.dispose()
})
