// The file of an audit log on a disk that fails.
import fs from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { AuditFile } from '../../../src/plugins/builtin/audit-file.ts'
import { newFolder } from '../../new-folder.ts'

test('a disk that takes a part of a line and then nothing: the record of the gap begins a line', async () => {
  const file = path.join(newFolder('tapline-audit-'), 'audit.jsonl')
  const sink = new AuditFile(file, { maxBytes: null, keep: null })
  const probe = await fs.promises.open(file, 'a')
  const handles = Object.getPrototypeOf(probe) as fs.promises.FileHandle
  await probe.close()
  const real = handles.write
  const full = (): Promise<never> => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
  const spy = vi.spyOn(handles, 'write')
  spy.mockImplementationOnce(function (this: fs.promises.FileHandle, bytes: Buffer) {
    return Reflect.apply(real, this, [bytes, 0, 5]) as never
  } as never)
  spy.mockImplementationOnce(full).mockImplementationOnce(full)
  try {
    for (const n of [0, 1]) await expect(sink.write(`{"n":${n}}\n`)).rejects.toThrow('no space left')
  } finally {
    spy.mockRestore()
  }
  await sink.write('{"n":2}\n')
  await expect(sink.close()).rejects.toThrow('has lost 2 lines')
  const [torn, ...lines] = fs.readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(torn).toBe('{"n":')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ v: 1, lost: 2 }, { n: 2 }])
})
