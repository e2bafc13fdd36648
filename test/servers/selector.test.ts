import { describe, expect, test } from 'vitest'
import { selectServer } from '../../src/servers/selector.ts'
import type { SelectorParts } from '../../src/servers/selector.ts'
import { catalogOf, registration } from './registrations.ts'

const catalog = catalogOf([
  registration({ name: 'files' }),
  registration({ name: 'files', environmentId: 'exec-a' }),
  registration({ name: 'files', environmentId: 'exec-b' }),
  registration({ name: 'db', environmentId: 'exec-a' }),
  registration({ name: 'db', environmentId: 'exec-a', installationId: 'two' }),
  registration({ name: 'hidden', environmentId: 'exec-c' }),
])
const scoped = catalog.view('scoped', ['exec-a', 'exec-b'])
const unscoped = catalog.view('unscoped', ['exec-a', 'exec-b'])

describe('in a scoped view', () => {
  test.each<[SelectorParts, string]>([
    [{ server: 'files', environmentId: 'exec-b' }, 'files (environment exec-b)'],
    [{ server: 'files', environmentId: null }, 'files'],
    [{ server: 'files', environmentId: 'thread-wide' }, 'files'],
    [{ server: 'db', installationId: 'two' }, 'db (environment exec-a, installation two)'],
    [{ server: 'db', environmentId: '', installationId: null }, 'db (environment exec-a)'],
    [{ server: 'db', environmentId: 'exec-a', installationId: 'default' }, 'db (environment exec-a)'],
  ])('%j selects %s', (selector, expected) => {
    expect(String(selectServer(scoped, selector).entry?.key)).toBe(expected)
  })

  test('several that fit are an error that lists them all, and only them', () => {
    const { error, candidates } = selectServer(scoped, { server: 'files' })
    expect(error).toMatchObject({
      code: 'AMBIGUOUS_SERVER',
      message: '"files" fits 3 servers: files, files (environment exec-a), files (environment exec-b)',
    })
    expect(candidates?.map(({ key }) => String(key))).toEqual(['files', 'files (environment exec-a)', 'files (environment exec-b)'])
    expect(selectServer(scoped, { server: 'db', environmentId: 'exec-a' }).error?.code).toBe('AMBIGUOUS_SERVER')
    for (const empty of ['', undefined])
      expect(selectServer(scoped, { server: 'files', environmentId: empty, installationId: empty }).error?.code).toBe('AMBIGUOUS_SERVER')
  })

  test.each<[SelectorParts, string]>([
    [{ server: 'fiels' }, 'no server is named "fiels": did you mean "files"?'],
    [{ server: 'nothing-like-it' }, 'no server is named "nothing-like-it"'],
    [{ server: '__proto__' }, 'no server is named "__proto__"'],
    [{ server: 'hidden' }, 'no server is named "hidden"'],
    [
      { server: 'db', environmentId: 'exec-b' },
      'no server "db" is in the environment "exec-b"; there is db (environment exec-a), db (environment exec-a, installation two)',
    ],
    [
      { server: 'db', environmentId: null, installationId: 'x' },
      'no server "db" is thread-wide and has the installation id "x"; there is db (environment exec-a), db (environment exec-a, installation two)',
    ],
    [
      { server: 'files', installationId: 'two\nlines' },
      'no server "files" has the installation id "two\\nlines"; there is files, files (environment exec-a), files (environment exec-b)',
    ],
  ])('%j is unknown', (selector, message) => {
    expect(selectServer(scoped, selector).error).toMatchObject({ code: 'UNKNOWN_SERVER', message })
  })

  test('what is not text is an invalid request, and a huge name is cut', () => {
    for (const selector of [
      { server: 7 },
      { server: null },
      { server: 'files', environmentId: 7 },
      { server: 'files', installationId: {} },
    ]) {
      expect(selectServer(scoped, selector as unknown as SelectorParts).error?.code).toBe('CALL_INVALID_REQUEST')
    }
    expect(selectServer(scoped, { server: 'x'.repeat(1_000_000) }).error?.message.length).toBeLessThan(300)
  })
})

describe('in an unscoped view', () => {
  test('the bare name is enough, and null or empty counts as left out', () => {
    for (const nothing of [undefined, null, '']) {
      expect(String(selectServer(unscoped, { server: 'files', environmentId: nothing, installationId: nothing }).entry?.key)).toBe('files')
      expect(String(selectServer(unscoped, { server: 'db', environmentId: nothing }).entry?.key)).toBe('db (environment exec-a)')
    }
    expect(selectServer(unscoped, { server: 'dbb' }).error?.code).toBe('UNKNOWN_SERVER')
  })

  test('an environment or installation that is given is UNKNOWN_ARGUMENT, the right one and the reserved words included', () => {
    for (const value of ['exec-a', 'exec-b', 'nope', 'thread-wide', 'default']) {
      expect(selectServer(unscoped, { server: 'db', environmentId: value }).error?.code).toBe('UNKNOWN_ARGUMENT')
      expect(selectServer(unscoped, { server: 'db', installationId: value }).error?.code).toBe('UNKNOWN_ARGUMENT')
      expect(selectServer(unscoped, { server: 'unknown', environmentId: value }).error?.code).toBe('UNKNOWN_ARGUMENT')
    }
  })
})
