/** What a person meets at a real terminal. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive, MAIN, Place, server, until } from './tapline.ts'

const CONFIG = { mcpServers: { files: { ...server('A'), defaultToolsApprovalMode: 'prompt' } } }

/** Types each of the keys once the question stands (again). */
async function answer(keys: string, given = '{"a":"\\u001b[2J"}'): Promise<{ status: number | null; shown: string }> {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  return await typed(at, [keys], given)
}

async function typed(at: Place, keys: readonly string[], given: string): Promise<{ status: number | null; shown: string }> {
  const line = `'${process.execPath}' '${MAIN}' --config c.json call --server files echo '${given}'`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: at.path('.'),
    env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', HOME: at.path('home'), LEDGER: at.ledgerFile },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += String(chunk)))
  const ended = new Promise<number | null>((done) => child.on('close', done))
  for (const key of keys) {
    const from = shown.length
    await until(() => shown.includes('Run this tool?', from) && shown.includes('Enter', from))
    child.stdin.write(key)
  }
  return { status: await ended, shown }
}

test.runIf(process.platform === 'linux')(
  'the question shows owner and arguments, and Enter alone runs nothing',
  { timeout: 60_000 },
  async () => {
    const { status, shown } = await answer('\r')
    expect(status).toBe(3)
    expect(shown).toContain('CALL_DECLINED')
    // what a model gave is shown, and not obeyed
    expect(shown).toContain('\\u001b[2J')
    expect(shown).not.toContain('\u001b[2J')
  },
)

test.runIf(process.platform === 'linux')('a yes runs the tool', { timeout: 60_000 }, async () => {
  const { status, shown } = await answer('\u001b[A\r')
  expect([status, shown.includes('"a"')]).toEqual([0, true])
})

test.runIf(process.platform === 'linux')('Ctrl-C at the question ends with 130', { timeout: 60_000 }, async () => {
  const { status, shown } = await answer('\u0003')
  expect([status, shown.includes('CALL_CANCELLED')]).toEqual([130, true])
})

test.runIf(process.platform === 'linux')('a terminal that is closed at the question is no yes', { timeout: 60_000 }, async () => {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  const line = `echo $$ > shell.pid; exec '${process.execPath}' '${MAIN}' --config c.json call --server files echo '{"a":"b"}'`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: at.path('.'),
    env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', HOME: at.path('home'), LEDGER: at.ledgerFile },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += String(chunk)))
  await until(() => shown.includes('Run this tool?') && shown.includes('Enter'))
  const pid = Number(readFileSync(at.path('shell.pid'), 'utf8'))
  expect(isAlive(pid)).toBe(true)
  child.kill('SIGKILL')
  await until(() => !isAlive(pid))
  const said = JSON.stringify(at.ledger())
  expect([said.includes('tools/list'), said.includes('tools/call')]).toEqual([true, false])
})

const VSCODE = {
  inputs: [
    { type: 'promptString', id: 'key', description: 'The key of \u001b[2J', password: true },
    { type: 'pickString', id: 'who', description: 'Who', options: ['one', 'two'], default: 'two' },
    { type: 'promptString', id: 'word', description: 'Word', default: 'standard' },
  ],
  servers: {
    files: {
      ...server('A'),
      args: [...(server('A')['args'] as string[]), '${input:who}', '${input:word}'],
      env: { KEY: '${input:key}' },
    },
  },
}

/** Answers the inputs in the order of their use, one after the other. */
async function answerInputs(
  steps: readonly (readonly [until: string, keys: string])[],
): Promise<{ status: number | null; shown: string; ledger: string }> {
  await using at = await Place.make()
  await at.write('mcp.json', VSCODE)
  const line = `'${process.execPath}' '${MAIN}' --config mcp.json --json tools`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: at.path('.'),
    env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', HOME: at.path('home'), LEDGER: at.ledgerFile },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += String(chunk)))
  const ended = new Promise<number | null>((done) => child.on('close', done))
  for (const [text, keys] of steps) {
    await until(() => shown.includes(text))
    child.stdin.write(keys)
  }
  const status = await ended
  return { status, shown, ledger: JSON.stringify(at.ledger()) }
}

test.runIf(process.platform === 'linux')(
  'inputs of VS Code are asked once each; a password is not shown',
  { timeout: 60_000 },
  async () => {
    const { status, shown } = await answerInputs([
      ['(input "who")', '\u001b[A\r'],
      ['(input "word")', '\r'],
      ['(input "key")', 'typed-secret\r'],
    ])
    expect(status).toBe(0)
    expect(shown).not.toContain('typed-secret')
    expect(shown).not.toContain('\u001b[2J')
    expect(shown).toContain('echo')
  },
)

test.runIf(process.platform === 'linux')('Ctrl-C at an input ends with 130 and starts nothing', { timeout: 60_000 }, async () => {
  const { status, ledger } = await answerInputs([['(input "who")', '\u0003']])
  expect([status, ledger]).toEqual([130, '[]'])
})

test.runIf(process.platform === 'linux')(
  'a key shows all of a long argument; always is chosen once and asked about no more, until the tool is started otherwise',
  { timeout: 120_000 },
  async () => {
    await using at = await Place.make()
    const auto = (...args: string[]): object => ({
      store: { file: 'store' },
      mcpServers: { files: { ...server('A', ...args), defaultToolsApprovalMode: 'auto', trustAnnotations: false } },
    })
    await at.write('c.json', auto())
    const long = JSON.stringify({ a: `HEAD${'x'.repeat(2000)}NEEDLE${'x'.repeat(2000)}` })
    const first = await typed(at, ['a', '\u001b[A\r'], long)
    expect([first.status, first.shown.includes('a shows all of it'), first.shown.includes('NEEDLE')]).toEqual([0, true, true])
    // no question: nothing is typed
    const second = await typed(at, [], '{"a":"b"}')
    expect([second.status, second.shown.includes('Run this tool?')]).toEqual([0, false])
    const changed = auto() as { mcpServers: { files: { args: string[] } } }
    changed.mcpServers.files.args.push('--more')
    await at.write('c.json', changed)
    const third = await typed(at, ['\r'], '{"a":"b"}')
    expect([third.status, third.shown.includes('changed since it was last allowed'), third.shown.includes('--more')]).toEqual([
      3,
      true,
      true,
    ])
  },
)
