/** `tapline status --watch`, in a pipe and at a real terminal. */
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { isAlive, MAIN, Place, server, until } from './tapline.ts'

const LIMIT = { timeout: 60_000 } as const
const CONFIG = { mcpServers: { a: server('A'), b: server('B', 'dies'), off: { ...server('C'), enabled: false } } }

const states = (document: any): string[] => document.data.map((row: any) => row.runtimeStatus)

test('in a pipe: one document for each change, until Ctrl-C; a server that dies is seen', LIMIT, async () => {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  const { child, done } = at.start(['status', '--watch', '--json', '--config', 'c.json'])
  const documents: any[] = []
  let rest = ''
  child.stdout!.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    documents.push(...lines.map((line) => JSON.parse(line)))
  })
  await until(() => documents.length > 0 && states(documents.at(-1)).join() === 'connected,failed,disabled')
  expect(states(documents[0])[0]).toMatch(/starting|connected/)
  await until(() => documents.at(-1).data[0].resources !== null)
  expect(documents.at(-1)).toMatchObject({
    data: [{ tools: { length: 6 }, error: null }, { error: { code: 'SERVER_START_FAILED' } }, {}],
    nextCursor: null,
  })
  const { pid } = documents.at(-1).data[0]
  process.kill(pid, 'SIGKILL')
  await until(() => states(documents.at(-1)).join() === 'failed,failed,disabled')
  expect(documents.at(-1).data[0]).toMatchObject({ error: { code: 'SERVER_EXITED' }, pid: null })
  child.kill('SIGINT')
  expect((await done).status).toBe(130)
  // a change is told once
  for (const [index, document] of documents.entries()) expect(document).not.toEqual(documents[index - 1])
  for (const { pid: one } of at.ledger()) await until(() => !isAlive(one))
})

test('a reader that goes away ends it', LIMIT, async () => {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  const { child, done } = at.start(['status', '--watch', '--config', 'c.json'])
  child.stdout!.once('data', () => child.stdout!.destroy())
  expect((await done).status).toBe(0)
  for (const { pid } of at.ledger()) await until(() => !isAlive(pid))
})

/** `script` of util-linux gives the terminal. */
async function atTerminal(use: (at: Place, shown: () => string, type: (keys: string) => void) => Promise<void>): Promise<number | null> {
  await using at = await Place.make()
  await at.write('c.json', CONFIG)
  const child = spawn('script', ['-qefc', `'${process.execPath}' '${MAIN}' --config c.json status --watch`, '/dev/null'], {
    cwd: at.path('.'),
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', SHELL: '/bin/sh', HOME: at.path('home'), LEDGER: at.ledgerFile },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += String(chunk)))
  const ended = new Promise<number | null>((done) => child.on('close', done))
  try {
    await use(
      at,
      () => shown,
      (keys) => child.stdin.write(keys),
    )
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`shown: ${JSON.stringify(drawing(shown))}`, { cause: error })
  }
  const status = await ended
  // the terminal is as it was: its own screen, with a cursor
  expect(shown).toContain('\u001b[?1049h')
  expect(shown.slice(shown.lastIndexOf('\u001b[?25h'))).toContain('\u001b[?1049l')
  for (const { pid } of at.ledger()) await until(() => !isAlive(pid))
  return status
}
/** the last drawing */
const drawing = (shown: string): string => shown.slice(shown.lastIndexOf('\u001b[H'))

test.runIf(process.platform === 'linux')('at a terminal it is drawn anew, r asks again, q ends it', LIMIT, async () => {
  const status = await atTerminal(async (at, shown, type) => {
    await until(() => /a +.*connected/.test(drawing(shown())) && /b +.*failed/.test(drawing(shown())))
    const [first] = at.ledger().filter(({ name, ev }) => name === 'A' && ev === 'start')
    process.kill(first!.pid, 'SIGKILL')
    await until(() => /failed.* a: a ended/.test(drawing(shown())))
    type('r')
    await until(() => /a +.*connected/.test(drawing(shown())))
    type('q')
  })
  expect(status).toBe(0)
})

test.runIf(process.platform === 'linux')('at a terminal Ctrl-C ends it with 130', LIMIT, async () => {
  const status = await atTerminal(async (_, shown, type) => {
    await until(() => /a +.*connected/.test(drawing(shown())))
    type('\u0003')
  })
  expect(status).toBe(130)
})
