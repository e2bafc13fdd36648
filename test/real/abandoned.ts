/**
 * A host that dies while its servers run on a real `codex exec-server`. The executor keeps them for a host that comes back, 80 s long; so
 * the host dies when the run begins, and abandoned.test.ts, whenever its turn comes, looks what became of them.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { marked } from '../connections/fixtures/pool.ts'
import { CodexExecutor } from './codex.ts'

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url))
const SERVER = fileURLToPath(new URL('family-server.mjs', import.meta.url))

declare module 'vitest' {
  interface ProvidedContext {
    readonly abandoned: {
      /** in the environment of the server and of what it started */
      readonly mark: string
      /** ms since 1970 at which the host was killed */
      readonly killedAt: number
      /** processes that were there right after it */
      readonly left: number
      readonly url: string
    }
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const codex = await CodexExecutor.start()
  const mark = `tapline-abandoned-${randomUUID()}`
  const config = path.join(codex.home, 'tapline.json')
  writeFileSync(
    config,
    JSON.stringify({
      features: { multi_environment_mcp: true },
      environments: {
        vm: {
          executor: { kind: 'exec-server', url: codex.url },
          cwd: codex.home,
          mcpServers: { family: { command: process.execPath, args: [SERVER], env: { TAPLINE_TEST_MARK: mark } } },
        },
      },
    }),
  )
  const host = spawn(process.execPath, [HOST, 'wait', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: codex.home },
  })
  try {
    const said = await new Promise<string>((resolve, reject) => {
      host.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()))
      host.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
    })
    if (!said.startsWith('connected 1 0')) throw new Error(`the host said ${said}`)
  } finally {
    const gone = host.exitCode === null ? new Promise((resolve) => host.once('exit', resolve)) : null
    host.kill('SIGKILL')
    await gone
  }
  project.provide('abandoned', { mark, killedAt: Date.now(), left: marked(mark).length, url: codex.url })
  return async () => {
    await codex[Symbol.asyncDispose]()
    // a run of other tests alone is over sooner than the executor ends them
    for (const pid of marked(mark)) process.kill(pid, 'SIGKILL')
  }
}
