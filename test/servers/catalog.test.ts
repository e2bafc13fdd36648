import { describe, expect, test } from 'vitest'
import type { CatalogEntry } from '../../src/servers/catalog-entry.ts'
import { displayKey, KeyRegistry } from '../../src/servers/key.ts'
import { catalogOf, codes, registration } from './registrations.ts'

const shown = (entries: readonly CatalogEntry[]): readonly string[] => entries.map(({ key }) => String(key))

describe('the catalog', () => {
  test('has one entry per exact key, in the order of keys, with interned keys', () => {
    const keys = new KeyRegistry()
    const catalog = catalogOf(
      [
        registration({ name: 'b' }),
        registration({ name: 'a', environmentId: 'exec-b' }),
        registration({ name: 'a', environmentId: 'exec-a', installationId: 'second' }),
        registration({ name: 'a' }),
        registration({ name: 'a', environmentId: 'exec-a' }),
        registration({ name: 'B', environmentId: 'z' }),
      ],
      keys,
    )
    expect(shown(catalog.entries)).toEqual([
      'B (environment z)',
      'a',
      'a (environment exec-a)',
      'a (environment exec-a, installation second)',
      'a (environment exec-b)',
      'b',
    ])
    for (const entry of catalog.entries) {
      expect(keys.owns(entry.key)).toBe(true)
      expect(catalog.get(entry.key)).toBe(entry)
    }
    expect(catalog.get(new KeyRegistry().intern({ name: 'b', environmentId: null, installationId: null }))).toBe(undefined)
    expect(catalog.generation).toBe(1)
  })

  test('is frozen through and through', () => {
    const catalog = catalogOf([registration({ name: 'a' }), registration({ name: 'a' }), registration({ name: 'A' })])
    const view = catalog.view('unscoped', [])
    for (const part of [
      catalog,
      catalog.entries,
      ...catalog.entries,
      ...catalog.entries.map((entry) => entry.provenances),
      catalog.diagnostics,
      ...catalog.diagnostics,
    ]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    for (const part of [view, view.servers, view.named('a'), view.named('nothing'), view.diagnostics])
      expect(Object.isFrozen(part)).toBe(true)
  })

  test('a weaker source is shadowed, in whatever order they come, and named with both places', () => {
    const host = registration({ name: 'a', provenance: { source: 'host', where: 'host' } })
    const file = registration({ name: 'a', provenance: { where: 'tapline.json:3:5' } })
    const plugin = registration({ name: 'a', provenance: { source: 'discovered', where: '/plugins/x', pluginId: 'x', root: '/plugins/x' } })
    for (const order of [
      [host, file, plugin],
      [plugin, file, host],
      [file, plugin, host],
    ]) {
      const catalog = catalogOf(order)
      expect(catalog.entries.map((entry) => entry.registration)).toEqual([host])
      expect(codes(catalog.diagnostics)).toEqual(['shadowed', 'shadowed'])
      expect(catalog.diagnostics.map(({ message }) => message)).toEqual([
        'a of tapline.json:3:5 is replaced by a of host, which is the stronger source',
        'a of /plugins/x is replaced by a of host, which is the stronger source',
      ])
      expect(catalog.diagnostics[0]).toMatchObject({ owner: { name: 'a', environmentId: null }, where: 'tapline.json:3:5' })
    }
  })

  test('a higher file shadows a lower one, also with the very same launch', () => {
    const user = registration({ name: 'a', environmentId: 'e', provenance: { rank: 1, where: 'user.json:1:1' } })
    const project = registration({ name: 'a', environmentId: 'e', provenance: { rank: 2, where: 'project.json:1:1' } })
    const catalog = catalogOf([user, project])
    expect(catalog.entries[0]?.registration).toBe(project)
    expect(catalog.entries[0]?.provenances).toEqual([project.provenance])
    expect(catalog.diagnostics).toMatchObject([
      { code: 'shadowed', message: expect.stringMatching(/a \(environment e\) of user\.json:1:1 .* project\.json:1:1/) },
    ])
  })

  test('of two with equal strength the first stays, and the second is a conflict', () => {
    const [first, second] = [registration({ name: 'a', args: ['1'] }), registration({ name: 'a', args: ['2'] })]
    const catalog = catalogOf([first, second])
    expect(catalog.entries[0]?.registration).toBe(first)
    expect(catalog.diagnostics).toMatchObject([{ code: 'conflict', where: second.provenance.where }])
    expect(catalog.diagnostics[0]?.message).toContain(first.provenance.where)
  })

  describe('an installation of a plugin', () => {
    const plugin = { source: 'selected', pluginId: 'p', root: '/p', where: '/p' } as const

    test('that is reached twice is one server with two provenances, the stronger first', () => {
      const weak = registration({ name: 'a', environmentId: 'e', provenance: { ...plugin, source: 'discovered' } })
      const strong = registration({ name: 'a', environmentId: 'e', provenance: plugin })
      const catalog = catalogOf([weak, strong])
      expect(catalog.diagnostics).toEqual([])
      expect(catalog.entries).toMatchObject([{ registration: strong, provenances: [{ source: 'selected' }, { source: 'discovered' }] }])
    })

    test.each([
      ['arguments', { args: ['other'] }],
      ['place where it runs', { executesOn: 'elsewhere' }],
      ['plugin', { provenance: { ...plugin, pluginId: 'q' } }],
    ])('with another %s is another server: a conflict', (_, difference) => {
      const catalog = catalogOf([
        registration({ name: 'a', provenance: plugin }),
        registration({ name: 'a', provenance: plugin, ...difference }),
      ])
      expect(codes(catalog.diagnostics)).toEqual(['conflict'])
    })

    test('that is a second one in the same environment is a conflict that says what to do; with an id it is a server of its own', () => {
      const first = registration({ name: 'a', environmentId: 'e', provenance: plugin })
      const second = { name: 'a', environmentId: 'e', provenance: { ...plugin, root: '/p2', where: '/p2' } }
      expect(catalogOf([first, registration(second)]).diagnostics).toMatchObject([
        { code: 'conflict', message: expect.stringContaining('give one of them an `installation` id') },
      ])
      const both = catalogOf([first, registration({ ...second, installationId: 'two' })])
      expect(both.diagnostics).toEqual([])
      expect(both.entries).toHaveLength(2)
    })

    test('a file that happens to have the same launch twice is no installation', () => {
      expect(codes(catalogOf([registration({ name: 'a' }), registration({ name: 'a' })]).diagnostics)).toEqual(['conflict'])
    })
  })

  test('names that differ only in case are one warning that names them all', () => {
    const catalog = catalogOf([
      registration({ name: 'browser' }),
      registration({ name: 'Browser', environmentId: 'e' }),
      registration({ name: 'browser', environmentId: 'e' }),
      registration({ name: 'other' }),
    ])
    expect(catalog.diagnostics).toMatchObject([
      { code: 'names_differ_only_in_case', message: expect.stringMatching(/Browser \(environment e\) \(.*\) and browser \(/) },
    ])
    expect(catalog.entries).toHaveLength(4)
  })
})

describe('a scoped view', () => {
  test('has every thread-wide server and those of the selected environments', () => {
    const catalog = catalogOf([
      registration({ name: 'a' }),
      registration({ name: 'a', environmentId: 'exec-b' }),
      registration({ name: 'a', environmentId: 'exec-c' }),
      registration({ name: 'c', environmentId: 'exec-c' }),
    ])
    const view = catalog.view('scoped', ['exec-b'])
    expect(shown(view.servers)).toEqual(['a', 'a (environment exec-b)'])
    expect(shown(view.named('a'))).toEqual(['a', 'a (environment exec-b)'])
    expect(view.named('c')).toEqual([])
    expect(view.named('__proto__')).toEqual([])
    expect(view.diagnostics).toEqual([])
    for (const entry of catalog.entries) expect(view.get(entry.key)).toBe(view.servers.includes(entry) ? entry : undefined)
  })
})

describe('an unscoped view', () => {
  const thread = registration({ name: 'files', provenance: { where: 'a.json:9:1' } })
  const onA = registration({ name: 'files', environmentId: 'exec-a', provenance: { where: 'a.json:1:1' } })
  const onB = registration({ name: 'files', environmentId: 'exec-b', provenance: { where: 'a.json:5:1' } })
  const winner = (registrations: Parameters<typeof catalogOf>[0], selected: readonly string[]): string =>
    catalogOf(registrations)
      .view('unscoped', selected)
      .servers.map(({ key }) => displayKey(key))
      .join()

  test('has one winner per name with its exact key; each loser is named with both places', () => {
    const view = catalogOf([onA, onB]).view('unscoped', ['exec-a', 'exec-b'])
    expect(shown(view.servers)).toEqual(['files (environment exec-a)'])
    expect(view.diagnostics).toMatchObject([
      {
        code: 'shadowed',
        message: 'files (environment exec-b) (a.json:5:1) is not started: files (environment exec-a) (a.json:1:1) has the same name',
        owner: { environmentId: 'exec-b' },
        where: 'a.json:5:1',
      },
    ])
  })

  test('the winner is the thread-wide one, then goes by the selected order, then by the order of the file', () => {
    expect(winner([onA, onB, thread], ['exec-b', 'exec-a'])).toBe('files')
    expect(winner([onA, onB], ['exec-b', 'exec-a'])).toBe('files (environment exec-b)')
    expect(winner([onA, onB], ['exec-b', 'exec-a', 'exec-b'])).toBe('files (environment exec-b)')
    const second = registration({ name: 'files', environmentId: 'exec-a', installationId: 'aaa' })
    const first = registration({ name: 'files', environmentId: 'exec-a', installationId: 'zzz' })
    expect(winner([first, second], ['exec-a'])).toBe('files (environment exec-a, installation zzz)')
  })

  test('a stronger source wins before any of that', () => {
    const strong = registration({ name: 'files', environmentId: 'exec-b', provenance: { rank: 5 } })
    expect(winner([thread, onA, strong], ['exec-a', 'exec-b'])).toBe('files (environment exec-b)')
    expect(winner([thread, onA, strong], ['exec-a'])).toBe('files')
  })

  test('an environment that is not selected neither wins nor is reported', () => {
    const view = catalogOf([onA, onB]).view('unscoped', ['exec-b'])
    expect(shown(view.servers)).toEqual(['files (environment exec-b)'])
    expect(view.diagnostics).toEqual([])
  })
})
