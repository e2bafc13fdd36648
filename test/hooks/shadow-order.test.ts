// Plugins in shadow beside plugins in force whose `before` does not work out: who is blamed, and who is not.
import { expect, test } from 'vitest'
import type { HookPlugin } from '../../src/plugin.ts'
import { open, plugin } from '../pipeline/kit.ts'

const tap = (plugin_: string, name: string, before?: string): HookPlugin =>
  plugin(({ hooks }) => hooks.approve.tap({ name, ...(before !== undefined && { before }) }, () => {}), plugin_)
const shadow = (one: HookPlugin): { readonly plugin: HookPlugin; readonly mode: 'shadow' } => ({ plugin: one, mode: 'shadow' })

test('a mistake of a plugin in force is one, whatever runs in shadow beside it', async () => {
  await expect(open([tap('guard', 'a', 'typo'), shadow(tap('idle', 'x'))])).rejects.toMatchObject({ code: 'HOOK_BAD_TAP', plugin: 'guard' })
  const circle = [tap('guard', 'a', 'b'), tap('other', 'b', 'a')]
  await expect(open([...circle, shadow(tap('idle', 'x'))])).rejects.toMatchObject({ code: 'HOOK_BAD_TAP' })
  // nor does another one in shadow that has to be left out make a mistake a warning
  const bad = shadow(tap('bad', 'x', 'nobody'))
  await expect(open([bad, tap('guard', 'a', 'typo')])).rejects.toMatchObject({ code: 'HOOK_BAD_TAP', plugin: 'guard' })
})

test('of a circle the plugin in shadow is left out, and no other; a name that only it had keeps nobody from opening', async () => {
  await using t = await open([
    tap('guard', 'a', 'b'),
    shadow(tap('middle', 'b', 'c')),
    tap('other', 'c', 'a'),
    shadow(tap('idle', 'x', 'a')),
  ])
  expect(t.session.hookPlugins.map(({ name, mode }) => [name, mode])).toEqual([
    ['guard', 'enforce'],
    ['middle', 'off'],
    ['other', 'enforce'],
    ['idle', 'shadow'],
  ])
  expect(t.session.diagnostics.map(({ code }) => code)).toEqual(['shadow_plugin_failed', 'before_fits_nothing'])
})
