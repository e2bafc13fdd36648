/** The example server of examples/sandbox-server.mjs, called by the command line, with the real `codex sandbox` as its launcher. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Ended } from '../cases/driver.ts'
import { Case, end, library, said, SLOW, text } from '../cases/driver.ts'
import { codexBinary } from './codex.ts'
import { outsideOfTemporary } from './outside.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const codex = codexBinary()

/** A folder that is neither a working folder nor below a folder for temporary files. */
let outside: string
beforeAll(() => {
  outside = realpathSync(mkdtempSync(join(outsideOfTemporary(), 'sandbox-')))
})
afterAll(() => rmSync(outside, { recursive: true, force: true }))

const shell = (at: Case, script = 'sandbox-server.mjs', ...args: string[]): object => ({
  command: process.execPath,
  args: [join(ROOT, 'examples', script), ...args],
  env: { ...at.servers },
  defaultToolsApprovalMode: 'approve',
})

/** Environments of one executable, each with a folder of its own and the example server. */
function place(profiles: Readonly<Record<string, unknown>>, executable: string = codex): Case {
  const at = new Case()
  const environments = Object.entries(profiles).map(([id, permissions]) => {
    mkdirSync(at.path(id, '.git'), { recursive: true })
    return [id, { cwd: `./${id}`, permissions, codexExecutable: executable, mcpServers: { shell: shell(at) } }]
  })
  at.write('tapline.json', { environments: Object.fromEntries(environments), features: { multi_environment_mcp: true } })
  return at
}
const run = (at: Case, environment: string, script: string, ...args: string[]): Promise<Ended> =>
  at.run([
    'call',
    '--server',
    'shell',
    '--environment',
    environment,
    'run',
    JSON.stringify({ command: 'sh', args: ['-c', script, 'sh', ...args] }),
  ])

/** Writes a file into each folder that it is given and says where that went well. */
const WRITE = 'for d; do (: > "$d/new") 2>/dev/null && echo "$d"; done; :'
async function writable(at: Case, environment: string, folders: Readonly<Record<string, string>>): Promise<string[]> {
  const ended = await run(at, environment, WRITE, ...Object.values(folders))
  expect([environment, ...end(ended)]).toEqual([environment, 0, 'completed', 'yes'])
  const said = text(ended).split('\n')
  expect(said.at(-1)).toBe('exit status 0')
  // what the command says, and what is on the disk
  const written = Object.entries(folders).filter(([, path]) => said.includes(path))
  for (const [name, path] of Object.entries(folders)) {
    expect([name, existsIn(path)]).toEqual([name, written.some(([one]) => one === name)])
    rmSync(join(path, 'new'), { force: true })
  }
  return written.map(([name]) => name)
}
function existsIn(folder: string): boolean {
  try {
    readFileSync(join(folder, 'new'))
    return true
  } catch {
    return false
  }
}

test('commands can write exactly where the profile of the owner says, and nowhere else', SLOW, async () => {
  const strict = { type: 'workspace-write', excludeSlashTmp: true, excludeTmpdirEnvVar: true }
  await using at = place({
    'read-only': 'read-only',
    'workspace-write': 'workspace-write',
    strict,
    roots: { ...strict, writableRoots: ['./extra'] },
    'full-access': 'full-access',
    external: 'external',
  })
  mkdirSync(at.path('extra', '.git'), { recursive: true })
  const expected: Readonly<Record<string, readonly string[]>> = {
    'read-only': [],
    'workspace-write': ['own', 'another', 'extra', 'extra/.git', 'tmp'],
    strict: ['own'],
    roots: ['own', 'extra'],
    'full-access': ['own', 'own/.git', 'another', 'extra', 'extra/.git', 'tmp', 'outside'],
    external: [],
  }
  for (const [id, places] of Object.entries(expected)) {
    const folders = {
      own: at.path(id),
      'own/.git': at.path(id, '.git'),
      another: at.path(id === 'strict' ? 'read-only' : 'strict'),
      extra: at.path('extra'),
      'extra/.git': at.path('extra', '.git'),
      tmp: at.home,
      outside,
    }
    expect([id, await writable(at, id, folders)]).toEqual([id, places])
  }
})

test('the network is off unless the profile has it', SLOW, async () => {
  await using at = place({
    off: 'workspace-write',
    on: { type: 'workspace-write', networkAccess: true },
    reads: { type: 'read-only', networkAccess: true },
    full: 'full-access',
  })
  const listener = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  try {
    const { port } = listener.address() as { port: number }
    const connect = `require('net').connect(${port}, '127.0.0.1').on('data', (d) => console.log('got ' + d)).on('error', (e) => console.log('no: ' + e.code))`
    const said: Record<string, boolean> = {}
    for (const id of ['off', 'on', 'reads', 'full']) {
      const ended = await run(at, id, `"$0" -e "$1"`.replace('$0', process.execPath), connect)
      expect([id, ...end(ended)]).toEqual([id, 0, 'completed', 'yes'])
      expect(text(ended)).toMatch(/^(?:got hello|no: E\w+)\n/)
      said[id] = text(ended).startsWith('got hello')
    }
    expect(said).toEqual({ off: false, on: true, reads: true, full: true })
  } finally {
    listener.close()
  }
})

test('the status of the command comes through; what is no command, or was killed, is told', SLOW, async () => {
  await using at = place({ e: 'read-only' })
  expect(text(await run(at, 'e', 'echo out; echo err >&2; exit 7'))).toMatch(/^out\n(?:WARNING: .*\n)?err\nexit status 7$/)
  expect(text(await run(at, 'e', 'echo x; exit 1'))).toMatch(/^x\n(?:WARNING: .*\n)?exit status 1$/)
  expect(text(await run(at, 'e', 'exit 1'))).toMatch(/^(?:WARNING: .*\n)?exit status 1, of the command or of the sandbox$/)
  expect(text(await run(at, 'e', 'kill -9 $$'))).toMatch(/^(?:WARNING: .*\n)?exit status 137$/)
  const none = await at.run(['call', '--server', 'shell', 'run', '{"command":"no-such-command"}'])
  expect(end(none)).toEqual([1, 'completed', 'yes'])
  expect(text(none)).toMatch(/^SANDBOX_LAUNCHER_FAILED: the command did not run: .*no-such-command: No such file/)
})

test('the script that npm links is a launcher too, and confines the same', SLOW, async () => {
  const { codex: linked = '' } = JSON.parse(process.env['TAPLINE_REAL_SERVERS'] ?? '{}') as { readonly codex?: string }
  await using at = place({ e: { type: 'workspace-write', excludeSlashTmp: true, excludeTmpdirEnvVar: true } }, linked)
  expect(await writable(at, 'e', { own: at.path('e'), home: at.home, outside })).toEqual(['own'])
})

test('a policy of the host reaches the launcher with the fields that nobody knows, as object and as text', SLOW, async () => {
  await using at = new Case()
  // the real launcher, with somebody in front who writes down what it is given
  const launcher = at.write('launcher', `#!/bin/sh\nprintf '%s' "$3" > "\${0%/*}/state.json"\nexec '${codex}' "$@"\n`)
  chmodSync(launcher, 0o755)
  mkdirSync(at.path('e'))
  const policy = {
    permissionProfile: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { path: { type: 'special', value: { kind: 'root' } }, access: 'read', note: { by: ['host', null, 1.5e-7] } },
          { path: { type: 'path', path: at.path('e') }, access: 'write' },
        ],
        future: { 'ü "quoted"': [] },
      },
      network: 'restricted',
      future: 1,
    },
    sandboxCwd: `file://${at.path('e')}`,
    futureField: { a: { b: ["it's", '$HOME', '\u2028'] } },
  }
  for (const sandboxState of [policy, JSON.stringify(policy, null, 1)]) {
    at.write('tapline.json', {
      environments: {
        e: { cwd: './e', permissions: { type: 'opaque', sandboxState }, codexExecutable: launcher, mcpServers: { shell: shell(at) } },
      },
      features: { multi_environment_mcp: true },
    })
    expect(await writable(at, 'e', { own: at.path('e'), home: at.home, outside })).toEqual(['own'])
    expect(JSON.parse(at.read('state.json'))).toEqual(policy)
  }
})

const REFUSED = /^SANDBOX_UNAVAILABLE: the host offers no sandbox launcher with this call: commands are not run$/
const RAN = /^ran\n(?:WARNING: .*\n)?exit status 0$/
const script = (at: Case, name: string, body: string): string => {
  const file = at.write(name, `#!/bin/sh\n${body}\n`)
  chmodSync(file, 0o755)
  return file
}

test('a launcher that is missing, relative, no program, failing or hanging is not offered, and nothing is run', SLOW, async () => {
  await using at = place({ e: 'full-access' })
  const launchers: Readonly<Record<string, string>> = {
    missing: at.path('gone'),
    relative: './codex',
    bare: 'codex',
    folder: at.path('e'),
    failing: script(at, 'failing', 'exit 1'),
    hanging: script(at, 'hanging', 'sleep 300'),
    'another program': '/bin/false',
  }
  for (const [name, codexExecutable] of Object.entries(launchers)) {
    const config = JSON.parse(at.read('tapline.json')) as { environments: { e: object } }
    config.environments.e = { ...config.environments.e, codexExecutable }
    at.write('tapline.json', config)
    const ended = await run(at, 'e', 'echo ran > ran')
    expect([name, ...end(ended)]).toEqual([name, 1, 'completed', 'yes'])
    expect(text(ended)).toMatch(REFUSED)
    expect([name, at.exists('e/ran')]).toEqual([name, false])
  }
})

test.runIf(process.platform === 'linux')('a launcher in a folder whose name is not UTF-8 is not offered', SLOW, async () => {
  await using at = place({ e: 'full-access' })
  const folder = Buffer.concat([Buffer.from(at.path('bad-')), Buffer.from([0xff])])
  mkdirSync(folder)
  writeFileSync(Buffer.concat([folder, Buffer.from('/codex')]), `#!/bin/sh\nexec '${codex}' "$@"\n`, { mode: 0o755 })
  // a file cannot name it at all
  const [before = '', after = ''] = at.read('tapline.json').split(JSON.stringify(codex))
  at.write('tapline.json', Buffer.concat([Buffer.from(`${before}"`), folder, Buffer.from(`/codex"${after}`)]))
  const ended = await run(at, 'e', 'echo ran > ran')
  expect([ended.status, said(ended)]).toEqual([2, expect.stringContaining('is not UTF-8')])
  // code can: as Node reads such a name, or as halves of surrogate pairs
  const { openRuntime } = await library()
  for (const codexExecutable of [`${folder.toString('utf8')}/codex`, at.path('bad-\udcff', 'codex')]) {
    await using runtime = await openRuntime({
      environments: { e: { cwd: at.path('e'), permissions: 'full-access', codexExecutable, mcpServers: { shell: shell(at) as never } } },
    })
    const session = await runtime.openSession()
    const outcome: any = await session.callTool({
      server: 'shell',
      tool: 'run',
      arguments: { command: 'sh', args: ['-c', 'echo ran > ran'] },
    })
    expect(outcome.result.content[0].text).toMatch(REFUSED)
    await runtime.close()
  }
  expect(at.exists('e/ran')).toBe(false)
})

test('a launcher that is replaced between two calls is probed again: a bad one is not offered, a good one is', SLOW, async () => {
  await using at = new Case()
  mkdirSync(at.path('e'))
  const good = `#!/bin/sh\nexec '${codex}' "$@"\n`
  const launcher = at.path('launcher')
  const put = (body: string): void => {
    writeFileSync(`${launcher}.new`, body, { mode: 0o755 })
    renameSync(`${launcher}.new`, launcher)
  }
  put(good)
  const { openRuntime } = await library()
  await using runtime = await openRuntime({
    environments: {
      e: { cwd: at.path('e'), permissions: 'workspace-write', codexExecutable: launcher, mcpServers: { shell: shell(at) as never } },
    },
  })
  const session = await runtime.openSession()
  const call = async (): Promise<string> => {
    const outcome: any = await session.callTool({ server: 'shell', tool: 'run', arguments: { command: 'sh', args: ['-c', 'echo ran'] } })
    return outcome.result.content[0].text
  }
  expect(await call()).toMatch(RAN)
  put('#!/bin/sh\necho "$@"\nexit 3\n')
  expect(await call()).toMatch(REFUSED)
  rmSync(launcher)
  expect(await call()).toMatch(REFUSED)
  put(good)
  expect(await call()).toMatch(RAN)
  await runtime.close()
})

test('the state of a call is the one of its moment: 200 changes of the profile, each holds for the very next command', {
  timeout: 300_000,
}, async () => {
  await using at = new Case()
  mkdirSync(at.path('e'))
  const { openRuntime } = await library()
  await using runtime = await openRuntime({
    environments: {
      e: { cwd: at.path('e'), permissions: 'read-only', codexExecutable: codex, mcpServers: { shell: shell(at) as never } },
    },
  })
  const session = await runtime.openSession()
  const environment = runtime.environments.get('e')!
  const profiles = [
    ['read-only', false],
    ['workspace-write', true],
    ['external', false],
    ['full-access', true],
    [{ type: 'workspace-write', networkAccess: true }, true],
    [{ type: 'read-only', networkAccess: true }, false],
  ] as const
  const wrong: string[] = []
  for (let trial = 0; trial < 200; trial++) {
    const [permissions, mayWrite] = profiles[(trial * 5 + (trial >> 4)) % profiles.length]!
    environment.update({ permissions })
    const outcome: any = await session.callTool({
      server: 'shell',
      tool: 'run',
      arguments: { command: 'sh', args: ['-c', `: > f${trial}; :`] },
    })
    if (outcome.outcome !== 'completed') wrong.push(`${trial}: ${outcome.outcome}`)
    if (at.exists(`e/f${trial}`) !== mayWrite) wrong.push(`${trial}: ${JSON.stringify(permissions)}`)
  }
  expect(wrong).toEqual([])
  await runtime.close()
})

test('a subprocess and a cache are used again under the same authority, and never under another', SLOW, async () => {
  await using at = new Case()
  mkdirSync(at.path('e'))
  const { openRuntime } = await library()
  await using runtime = await openRuntime({
    environments: {
      e: {
        cwd: at.path('e'),
        permissions: 'workspace-write',
        codexExecutable: codex,
        mcpServers: { repl: shell(at, 'sandbox-repl.mjs') as never },
      },
    },
  })
  const session = await runtime.openSession()
  const call = async (tool: string, line?: string): Promise<string> => {
    const outcome: any = await session.callTool({ server: 'repl', tool, arguments: line === undefined ? {} : { line } })
    expect(outcome.outcome).toBe('completed')
    return outcome.result.content[0].text
  }
  expect(await call('line', 'x=kept; : > one')).toBe('-- 0')
  expect(await call('line', 'echo "$x"')).toBe('kept\n-- 0')
  expect([await call('files'), await call('files')]).toEqual(['listed 1 times: one\n', 'listed 1 times: one\n'])
  runtime.environments.get('e')!.update({ permissions: 'read-only' })
  expect(await call('line', 'echo "x is $x"; touch two')).toBe('x is \n-- 1')
  expect(at.exists('e/two')).toBe(false)
  expect(await call('files')).toBe('listed 2 times: one\n')
  await runtime.close()
})
