import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultStoreFolder } from '../../src/storage/default-folder.ts'

test('is under $XDG_STATE_HOME, else under the home folder', () => {
  expect(defaultStoreFolder({ XDG_STATE_HOME: '/state', HOME: '/home/me' })).toBe('/state/tapline')
  expect(defaultStoreFolder({ HOME: '/home/me' })).toBe('/home/me/.local/state/tapline')
  expect(defaultStoreFolder({ XDG_STATE_HOME: '', HOME: '/home/me' })).toBe('/home/me/.local/state/tapline')
  expect(defaultStoreFolder({ XDG_STATE_HOME: 'relative', HOME: '/home/me' })).toBe('/home/me/.local/state/tapline')
  expect(defaultStoreFolder({})).toBe(join(homedir(), '.local/state/tapline'))
})
