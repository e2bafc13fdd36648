import { expect, test } from 'vitest'
import { shownArguments } from '../../src/pipeline/shown-arguments.ts'

test.each([
  ['server.mjs --port 80 --verbose', 'server.mjs --port 80 --verbose'],
  ['--api-key=sk-1 --more', '--api-key=… --more'],
  ['--token sk-1 --more', '--token … --more'],
  ['--token --more', '--token --more'],
  ['--password: hunter2', '--password: …'],
  ['DB_PASSWORD=hunter2', 'DB_PASSWORD=…'],
  ['postgres://me:hunter2@db/x', 'postgres://…@db/x'],
  ['--authToken=a=b', '--authToken=…'],
])('%s is shown as %s', (words, shown) => {
  expect(shownArguments(words.split(' ')).join(' ')).toBe(shown)
})

test('a header in one word', () => {
  expect(shownArguments(['--header', 'Authorization: Bearer sk-1'])).toEqual(['--header', 'Authorization: …'])
  expect(shownArguments(['X-Api-Key: sk\n1'])).toEqual(['X-Api-Key: …'])
})
