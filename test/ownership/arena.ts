/** Runs tables of attacks in processes of their own, against two real servers of one name in two environments. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Attack, Result } from './attack.ts'

/** How a plugin comes into the process: as a module of either kind by its path in tapline.json, as an object, or as one in shadow. */
export type Kind = 'esm' | 'cjs' | 'code' | 'shadow'

const DIST = process.env['TAPLINE_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url))
const HOST = fileURLToPath(new URL('host.mjs', import.meta.url))
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url))
const LIMIT_MS = 60_000

export interface Named extends Attack {
  readonly id: string
}

/** Whether an attack can be tried so. In shadow those are not that need somebody to help them, or that change what all of the process shares. */
export function isFor({ only, isolated, drive, mate }: Attack, kind: Kind): boolean {
  if (kind === 'shadow' && (isolated === true || drive !== undefined || mate !== undefined)) return false
  return only === undefined || only === (kind === 'cjs' ? 'cjs' : 'esm')
}

/** The result of every attack, by id. Rejects where a host does not come to its end. */
export async function fight(attacks: readonly Named[], kind: Kind): Promise<ReadonlyMap<string, Result>> {
  const mine = attacks.filter((attack) => isFor(attack, kind))
  const together = mine.filter(({ isolated }) => !isolated)
  const results: Result[] = []
  for (const group of [together, ...mine.filter(({ isolated }) => isolated).map((one) => [one])]) {
    if (group.length > 0) results.push(...(await host(group, kind)))
  }
  return new Map(results.map((result) => [result.id, result]))
}

async function host(attacks: readonly Named[], kind: Kind): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tapline-ownership-'))
  try {
    for (const name of ['a', 'b', 'hooks']) await mkdir(join(folder, name))
    const modules = attacks.map((_, index) => join(folder, 'hooks', `attack-${index}.${kind === 'cjs' ? 'cjs' : 'mjs'}`))
    for (const [index, attack] of attacks.entries()) await writeFile(modules[index]!, source(attack, kind))
    const files = (where: string): object => ({
      command: process.execPath,
      args: [SERVER, where],
      env: { LEDGER: join(folder, 'ledger') },
      defaultToolsApprovalMode: 'approve',
      tools: { asks: { approvalMode: 'prompt' } },
    })
    const config = {
      environments: {
        'exec-a': { executor: 'local', cwd: './a', mcpServers: { files: files('A') }, permissions: 'read-only' },
        'exec-b': { executor: 'local', cwd: './b', mcpServers: { files: files('B') } },
      },
      mcpServers: { other: files('O') },
      hooks: kind === 'code' || kind === 'shadow' ? [] : modules,
      features: { multi_environment_mcp: true },
    }
    await writeFile(join(folder, 'tapline.json'), JSON.stringify(config))
    const job = {
      dist: DIST,
      kind,
      config: join(folder, 'tapline.json'),
      ledger: join(folder, 'ledger'),
      attacks: attacks.map((attack, index) => ({ ...attack, module: modules[index] })),
    }
    await writeFile(join(folder, 'job.json'), JSON.stringify(job))
    return await runHost(join(folder, 'job.json'))
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The module of an attack. It does something in the session of its own name only, so that many share one process and its servers. */
function source({ id, apply, top = '' }: Named, kind: Kind): string {
  const from = JSON.stringify(join(DIST, 'plugin.js'))
  const names = '{ allow, ask, deny, TaplineError }'
  return [
    kind === 'cjs' ? `const ${names} = require(${from})` : `import ${names} from ${from}`,
    "const ELSEWHERE = { name: 'files', environmentId: 'exec-b', installationId: null }",
    'const swallow = (write) => { try { return write() } catch (error) { return error } }',
    'const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))',
    top,
    `${kind === 'cjs' ? 'module.exports =' : 'export default'} {`,
    `  name: ${JSON.stringify(`evil ${id}`)},`,
    '  apply({ hooks, session }) {',
    `    if (session.id !== ${JSON.stringify(id)}) return`,
    `    ${apply}`,
    '  },',
    '}',
  ].join('\n')
}

function runHost(job: string): Promise<readonly Result[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', HOST, job], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      const line = stdout.split('\n').find((text) => text.startsWith('RESULT '))
      if (status === 0 && line !== undefined) resolve(JSON.parse(line.slice(7)) as readonly Result[])
      else reject(new Error(`the host ended with ${status ?? signal}: ${stderr.slice(-2000)}`))
    })
  })
}
