// Hooks of plugin packages that are named or reached in several ways: each runs once a call.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryStore, openRuntime } from '../../src/index.ts'
import type { RuntimeOptions, SessionOptions } from '../../src/index.ts'
import { commandHooks } from '../../src/plugins/builtin/index.ts'
import { placesInPackage } from '../../src/plugins/command-hooks/hook-env.ts'
import { readHookFile } from '../../src/plugins/command-hooks/hook-file.ts'
import { trustHooks } from '../../src/plugins/command-hooks/hook-trust.ts'
import { echo, info, newFolder, ON, writePackage } from '../runtime/package-kit.ts'

const accept: SessionOptions = { approver: () => Promise.resolve({ action: 'accept' }) }
const NOTE = { hooks: [{ type: 'command', command: 'echo once >> "$PLUGIN_ROOT/ran"' }] }

/** A package with one hook; how often it has run so far. */
async function hooked(folder: string, manifest: object) {
  const root = writePackage(join(folder, 'plug in "ü"'), {
    '.claude-plugin/plugin.json': { name: 'hooked', ...manifest },
    '.mcp.json': { mcpServers: { echo: echo() } },
    'hooks/hooks.json': { hooks: { PreToolUse: [NOTE] } },
  })
  const store = memoryStore()
  const file = join(root, 'hooks/hooks.json')
  await trustHooks(store, { path: file, hooks: (await readHookFile(file)).hooks, places: placesInPackage(join(root, 'hooks'), root) })
  const open = async (options: RuntimeOptions): Promise<number> => {
    const before = runs(root)
    await using runtime = await openRuntime({ ...ON, store, ...options })
    await using session = await runtime.openSession(accept)
    const answer = await info(session, { server: 'echo' })
    expect(answer).toHaveProperty('args')
    return runs(root) - before
  }
  return { root, open }
}
const runs = (root: string): number =>
  existsSync(join(root, 'ran')) ? readFileSync(join(root, 'ran'), 'utf8').trim().split('\n').length : 0

test.each<[string, object]>([
  ['is where it is expected', {}],
  ['is named by the manifest too', { hooks: './hooks/hooks.json' }],
  ['is named by the manifest in other words', { hooks: './hooks/../hooks/hooks.json' }],
])('a file that %s runs once', async (_what, manifest) => {
  const { root, open } = await hooked(newFolder(), manifest)
  expect(await open({ plugins: [{ path: root }] })).toBe(1)
})

test('a package that is selected twice has its hooks once; one that nobody selects has none', async () => {
  const { root, open } = await hooked(newFolder(), {})
  expect(await open({ plugins: [{ path: root }, { path: join(root, '..', 'plug in "ü"') }] })).toBe(1)
  expect(await open({ mcpServers: { echo: echo() as never } })).toBe(0)
})

test('hooks that both a package and the host name run for each of them, as two who want to know', async () => {
  const { root, open } = await hooked(newFolder(), {})
  const own = await commandHooks({
    cwd: root,
    hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'cat >/dev/null; echo once >> ran' }] }] },
  })
  expect(await open({ plugins: [{ path: root }], hooks: [own] })).toBe(2)
})
