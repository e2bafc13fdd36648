import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { LocalProcess } from '../../../src/connections/executors/local-process.ts'
import { processTable } from '../../../src/connections/executors/process-tree.ts'
import { alive } from '../fixtures/pool.ts'

const watch = { add() {}, delete() {} }

test.each(['kill', 'terminate'] as const)(
  '%s ends a process that is younger than the last look at /proc, and what it has started by then',
  async (how) => {
    for (let turn = 0; turn < 10; turn++) {
      const child = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
      processTable()
      await once(child, 'spawn')
      const one = new LocalProcess(child, watch)
      const kid = turn % 2 === 0 ? null : Number(String((await once(child.stdout, 'data'))[0]))
      await one.kill(how)
      expect((await one.exited).signal).toBe(how === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await one.swept
      expect([alive(one.pid), kid !== null && alive(kid)]).toEqual([false, false])
    }
  },
)

test.runIf(process.platform === 'linux')('a table of processes is never older than it is wanted', () => {
  const first = processTable()
  expect(processTable(performance.now() + 1)).not.toBe(first)
})
