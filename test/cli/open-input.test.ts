import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openInput } from '../../src/cli/open-input.ts'
import { readToolArguments } from '../../src/cli/tool-arguments.ts'
import { Place } from './tapline.ts'

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'tapline-input-'))))
afterAll(() => rmSync(folder, { recursive: true }))
const all = async (file: string, signal = new AbortController().signal): Promise<string> =>
  text((await openInput(file, signal)) as AsyncIterable<Buffer>)

test('a file, a folder, and nothing', async () => {
  const file = join(folder, 'a')
  writeFileSync(file, 'ä'.repeat(100_000))
  expect(await all(file)).toBe('ä'.repeat(100_000))
  await expect(openInput(folder, new AbortController().signal)).rejects.toThrow('it is a folder')
  await expect(openInput(join(folder, 'b'), new AbortController().signal)).rejects.toMatchObject({ code: 'ENOENT' })
})

describe.runIf(process.platform !== 'win32')('a pipe', () => {
  const pipe = (name: string): string => {
    const file = join(folder, name)
    execFileSync('mkfifo', [file])
    return file
  }

  test('is read until its writer is done', async () => {
    const file = pipe('p')
    const read = all(file)
    const writer = await open(file, 'w')
    await writer.writeFile('x'.repeat(300_000))
    await writer.close()
    expect(await read).toHaveLength(300_000)
  })

  test('that nobody writes to is given up with the signal, and holds no thread', async () => {
    const file = pipe('q')
    const abort = new AbortController()
    const read = readToolArguments(`@${file}`, { cwd: '/', stdin: process.stdin, interrupt: abort })
    const ended = read.catch((error: unknown) => error)
    abort.abort('later')
    expect(await ended).toBe('later')
  })

  test('standard input that stays open is given up with the signal too', async () => {
    const abort = new AbortController()
    const read = readToolArguments('-', { cwd: '/', stdin: new PassThrough(), interrupt: abort })
    const ended = read.catch((error: unknown) => error)
    abort.abort('later')
    expect(await ended).toBe('later')
  })

  test('Ctrl-C ends a command that waits for one', { timeout: 30_000 }, async () => {
    await using at = await Place.make()
    execFileSync('mkfifo', [at.path('p')])
    const { child, done } = at.start(['rollout', 'report', 'p'])
    // it says so once it has begun to wait
    let said = ''
    for await (const chunk of child.stderr!) {
      said += String(chunk)
      if (said.includes('reading traces')) break
    }
    child.kill('SIGINT')
    expect((await done).status).toBe(130)
  })
})
