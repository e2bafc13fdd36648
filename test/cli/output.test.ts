import { PassThrough, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Output } from '../../src/cli/output.ts'
import { Progress } from '../../src/cli/progress.ts'

function sink(more: { isTTY?: boolean } = {}): PassThrough & { isTTY?: boolean; columns?: number; said: () => string } {
  const stream = new PassThrough({ highWaterMark: 1 << 30 })
  return Object.assign(stream, more, { said: () => String(stream.read() ?? '') })
}
const PLAIN = { json: false, quiet: false, color: true }

test('a document is one line of JSON for a pipe, indented for a terminal, and written once', async () => {
  const piped = { stdout: sink(), stderr: sink() }
  const out = new Output({ ...PLAIN, json: true }, piped)
  expect(out.documentWritten).toBe(false)
  await out.result({ json: () => ({ a: '\u009b\u001b' }), text: () => 'not this' })
  expect(piped.stdout.said()).toBe('{"a":"\\u009b\\u001b"}\n')
  expect([out.documentWritten, out.diagnosticsWritten, piped.stderr.said()]).toEqual([true, false, ''])
  const terminal = { stdout: sink({ isTTY: true }), stderr: sink() }
  const other = new Output(PLAIN, terminal)
  await other.document({ diagnostics: [] })
  expect([terminal.stdout.said(), other.diagnosticsWritten]).toEqual(['{\n  "diagnostics": []\n}\n', true])
})

test('colours only on a terminal, and only where they are wanted', () => {
  const paints = (color: boolean, isTTY: boolean): string =>
    new Output({ ...PLAIN, color }, { stdout: sink({ isTTY }), stderr: sink() }).paint.red('x')
  expect(paints(true, true)).not.toBe('x')
  expect([paints(false, true), paints(true, false)]).toEqual(['x', 'x'])
})

test('quiet silences notes, not lines', () => {
  const streams = { stdout: sink(), stderr: sink() }
  const out = new Output({ ...PLAIN, quiet: true }, streams)
  out.note('note')
  out.line('line')
  expect(streams.stderr.said()).toBe('line\n')
})

test('a slow reader is waited for, and gets every character', async () => {
  const text = '😀x'.repeat(1_500_000)
  const got: Buffer[] = []
  let waiting = 0
  const slow = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      waiting = Math.max(waiting, this.writableLength)
      got.push(chunk)
      setTimeout(done, 1)
    },
  })
  await new Output(PLAIN, { stdout: slow, stderr: sink() }).text(text)
  expect(Buffer.concat(got).toString('utf8') === `${text}\n`).toBe(true)
  expect(waiting).toBeLessThan(8 << 20)
})

test('a reader that went away ends the writing quietly', async () => {
  let writes = 0
  const broken = new Writable({
    write(_chunk, _encoding, done) {
      writes++
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })
  const out = new Output(PLAIN, { stdout: broken, stderr: sink() })
  await out.text('x'.repeat(3 << 20))
  await out.text('more')
  expect(writes).toBe(1)
})

test('progress is told after half a second only: plainly in a pipe, redrawn and erased on a terminal', async () => {
  const pipe = sink()
  const plain = new Progress({ stream: pipe, quiet: false, animated: false })
  await plain.during('quick', async () => {})
  expect(pipe.said()).toBe('')
  await plain.during('slow \u001b[31m', () => sleep(900))
  expect(pipe.said()).toBe('slow \\u001b[31m …\n')

  const terminal = sink({ isTTY: true })
  const animated = new Progress({ stream: terminal, quiet: false, animated: true })
  await animated.during('slow', async () => {
    await sleep(800)
    animated.update('half\u001b]0;x\u0007way')
    animated.pause()()
  })
  const said = terminal.said()
  expect(said).toContain('slow')
  expect(said).toContain('half\\u001b]0;x\\u0007way')
  expect(said.endsWith('\r\u001b[K')).toBe(true)

  const silent = sink()
  await new Progress({ stream: silent, quiet: true, animated: true }).during('slow', () => sleep(700))
  expect(silent.said()).toBe('')
})
