/** How the call of an attack must have ended. */
import { expect } from 'vitest'
import type { Named } from './arena.ts'
import type { Result } from './attack.ts'

const OWNER = 'files (environment exec-a)'

/** Throws where the outcome, the names in it, what was sent or what innocent taps saw is not as it must be. */
export function judge(attack: Named, result: Result): void {
  const { ended, sent, seen, stray, settled } = result
  const { expect: expected, request = {} } = attack
  const tool = (request['tool'] as string | undefined) ?? 'write'
  expect(stray, 'what would have ended the process').toEqual([])
  expect(ended['outcome'], String(ended['message'])).not.toBe('hung')
  for (const one of seen) expect(one, 'what an innocent tap saw').toBe(`${OWNER} ${tool} exec-a`)
  for (const one of sent) expect([one.where, one.tool]).toEqual(['A', tool])
  if (expected !== 'HOOK_BAD_TAP' && expected !== 'HOOK_BAD_PLUGIN') {
    expect(ended['owner']).toBe(OWNER)
    if (attack.drive === undefined) expect(settled, 'settled events').toBe(1)
  }
  if (expected === 'unchanged' || expected === 'withheld') {
    expect(sent, String(ended['message'])).toHaveLength(1)
    expect(sent[0]!.args).toEqual(attack.args ?? request['arguments'] ?? { path: 'p', nested: { deep: [1] } })
  } else expect(sent).toEqual([])
  if (expected === 'unchanged') expect(ended, String(ended['message'])).toMatchObject({ outcome: 'completed', code: 'OK' })
  else if (expected !== 'stopped') {
    const outcome =
      { violation: 'ownership_violation', withheld: 'result_withheld', HOOK_BAD_TAP: 'threw', HOOK_BAD_PLUGIN: 'threw' }[
        expected as 'violation'
      ] ?? 'refused'
    const code = outcome === 'ownership_violation' || expected === 'withheld' ? 'HOOK_CHANGED_OWNER' : expected
    expect([ended['outcome'], ended['code']], String(ended['message'])).toEqual([outcome, code])
    const tap = attack.tap ?? 'culprit'
    const plugin = `evil ${attack.id}`
    expect(ended['message']).toContain(plugin)
    if (expected !== 'HOOK_BAD_PLUGIN') expect(ended['message']).toContain(`tap "${tap}"`)
    expect(ended['message']).not.toContain('witness')
    if (outcome === 'ownership_violation') {
      expect(ended).toMatchObject({ tap, plugin, sent: 'no' })
      expect(ended['message']).toContain(` in ${ended['hook']}`)
      expect(ended['key']).not.toBe('')
    }
  } else expect(ended['outcome'], String(ended['message'])).not.toBe('completed')
  if (attack.says !== undefined) expect(ended['message']).toContain(attack.says)
  if (attack.reports !== undefined) expect(result.diagnostics.join('\n')).toContain(attack.reports)
  attack.check?.(result)
}

/** Throws where an attack in shadow had any effect: the call goes as if the plugin were not there. */
export function judgeShadow({ request = {}, args, top }: Named, { ended, sent, seen, stray, settled }: Result): void {
  const tool = (request['tool'] as string | undefined) ?? 'write'
  expect(stray, 'what would have ended the process').toEqual([])
  for (const one of seen) expect(one, 'what an innocent tap saw').toBe(`${OWNER} ${tool} exec-a`)
  expect(ended, String(ended['message'])).toMatchObject({ outcome: 'completed', code: 'OK', owner: OWNER, tool, sent: 'yes' })
  expect(settled, 'settled events').toBe(1)
  expect(sent).toHaveLength(1)
  // who holds the object of the host is the host, and may still change it
  const asked = top?.includes('attacked.request') === true ? args : request['arguments']
  expect(sent[0]).toMatchObject({ where: 'A', tool, args: asked ?? { path: 'p', nested: { deep: [1] } } })
  expect(ended['result']).toEqual({ content: [{ type: 'text', text: `${tool} on A` }], where: 'A' })
}
