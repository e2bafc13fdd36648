import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeys, KeyRegistry } from '../../src/servers/key.ts'
import { selectServer } from '../../src/servers/selector.ts'
import { compareStrength } from '../../src/servers/strength.ts'
import { catalogOf, registration } from './registrations.ts'

const environments = ['exec-a', 'exec-b', 'exec-c']
const declared = fc
  .record({
    name: fc.constantFrom('files', 'Files', 'db', '__proto__', 'constructor'),
    environmentId: fc.constantFrom(null, ...environments),
    installationId: fc.constantFrom(null, null, 'one', 'two'),
    args: fc.constantFrom([], ['x']),
    provenance: fc.record({
      source: fc.constantFrom('discovered' as const, 'selected' as const, 'file' as const, 'host' as const),
      rank: fc.integer({ min: 0, max: 1 }),
      pluginId: fc.constantFrom(null, 'p'),
      root: fc.constantFrom(null, '/p', '/q'),
    }),
  })
  .map(registration)
const selected = fc.shuffledSubarray(environments)

test('look-ups are right or say why not, and every loser is accounted for', () => {
  fc.assert(
    fc.property(fc.array(declared, { maxLength: 25 }), selected, (registrations, chosen) => {
      const keys = new KeyRegistry()
      const catalog = catalogOf(registrations, keys)
      const texts = registrations.map(({ key }) => JSON.stringify(key))
      expect(catalog.entries.length).toBe(new Set(texts).size)
      expect([...catalog.entries].sort((a, b) => compareKeys(a.key, b.key))).toEqual(catalog.entries)

      // each registration is an entry, one more provenance of an entry, or of an installation that lost
      const perKey = new Map<string, number>()
      for (const { code, owner } of catalog.diagnostics) {
        if (code === 'names_differ_only_in_case') continue
        const text = JSON.stringify({ name: owner?.name, environmentId: owner?.environmentId, installationId: owner?.installationId })
        perKey.set(text, (perKey.get(text) ?? 0) + 1)
      }
      for (const entry of catalog.entries) {
        const same = registrations.filter(({ key }) => entry.key.equals(key))
        const installations = new Set(
          same.map(({ provenance: { pluginId, root }, launch }, index) =>
            pluginId === null || root === null ? index : JSON.stringify([pluginId, root, launch]),
          ),
        )
        const { name, environmentId, installationId } = entry.key
        expect(perKey.get(JSON.stringify({ name, environmentId, installationId })) ?? 0).toBe(installations.size - 1)
        for (const other of same) expect(compareStrength(entry.registration.provenance, other.provenance)).toBeLessThanOrEqual(0)
        expect(entry.registration).toBe(same.find(({ provenance }) => compareStrength(provenance, entry.registration.provenance) === 0))
        expect(catalog.get(entry.key)).toBe(entry)
      }

      const scoped = catalog.view('scoped', chosen)
      const visible = catalog.entries.filter(({ key }) => key.environmentId === null || chosen.includes(key.environmentId))
      expect(scoped.servers).toEqual(visible)
      for (const entry of visible) {
        const { name, environmentId, installationId } = entry.key
        expect(scoped.get(entry.key)).toBe(entry)
        expect(selectServer(scoped, { server: name, environmentId, installationId })).toEqual({ entry })
        const byName = selectServer(scoped, { server: name })
        const same = visible.filter(({ key }) => key.name === name)
        expect(byName.entry).toBe(same.length === 1 ? entry : undefined)
        expect(byName.error?.code).toBe(same.length === 1 ? undefined : 'AMBIGUOUS_SERVER')
        expect(byName.candidates ?? [entry]).toEqual(same)
        const message = byName.error?.message ?? String(entry.key)
        expect(same.filter(({ key }) => !message.includes(String(key)))).toEqual([])
      }

      const unscoped = catalog.view('unscoped', chosen)
      const names = unscoped.servers.map(({ key }) => key.name)
      expect(new Set(names).size).toBe(names.length)
      expect(new Set(names)).toEqual(new Set(visible.map(({ key }) => key.name)))
      expect(unscoped.diagnostics.length).toBe(visible.length - names.length)
      for (const entry of visible) {
        const winner = selectServer(unscoped, { server: entry.key.name }).entry
        expect(winner && unscoped.servers.includes(winner)).toBe(true)
        if (winner === entry) continue
        expect(unscoped.get(entry.key)).toBe(undefined)
        expect(unscoped.diagnostics.filter(({ owner }) => owner === entry.key)).toMatchObject([
          { code: 'shadowed', message: expect.stringContaining(String(winner?.key)) },
        ])
      }
    }),
  )
})

test('no selector of any kind makes a key, throws, or finds anything but what it says', () => {
  const any = fc.oneof(
    fc.string(),
    fc.constantFrom('files', '__proto__', 'thread-wide', 'default', 'exec-a', ''),
    fc.constant(null),
    fc.constant(undefined),
  )
  fc.assert(
    fc.property(
      fc.array(declared, { maxLength: 10 }),
      fc.constantFrom('scoped' as const, 'unscoped' as const),
      fc.oneof(fc.string(), fc.constantFrom('files', '__proto__', 'toString')),
      any,
      any,
      (registrations, kind, server, environmentId, installationId) => {
        const keys = new KeyRegistry()
        const view = catalogOf(registrations, keys).view(kind, ['exec-a'])
        const { entry, error } = selectServer(view, { server, environmentId, installationId })
        expect(entry?.key.name ?? server).toBe(server)
        expect(entry && view.get(entry.key)).toBe(entry)
        expect(['AMBIGUOUS_SERVER', 'UNKNOWN_SERVER', 'UNKNOWN_ARGUMENT', undefined]).toContain(error?.code)
        expect(error === undefined).toBe(entry !== undefined)
        const made = keys.find({ name: server, environmentId: null, installationId: null })
        expect(made === null || registrations.some(({ key }) => made.equals(key))).toBe(true)
      },
    ),
  )
})
