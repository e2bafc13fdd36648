// Files that a hook only writes are no scripts of it: a log that grows does not take the trust away. Whatever else it names counts.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { placesOf } from '../../../src/plugins/command-hooks/hook-env.ts'
import { readHookFile } from '../../../src/plugins/command-hooks/hook-file.ts'
import { distrustOf, trustHooks } from '../../../src/plugins/command-hooks/hook-trust.ts'
import { namedScripts } from '../../../src/plugins/command-hooks/named-scripts.ts'
import { newFolder, writeHooks } from './kit.ts'

/** True where the hook is trusted still after the file `x` has changed. */
async function staysTrusted(command: string): Promise<boolean> {
  const folder = newFolder()
  const file = writeHooks(folder, { PreToolUse: [{ command }] })
  const store = memoryStore()
  const subject = async () => ({ path: file, hooks: (await readHookFile(file)).hooks, places: placesOf(folder) })
  writeFileSync(path.join(folder, 'x'), 'first')
  await trustHooks(store, await subject())
  expect(await distrustOf(store, await subject())).toBeNull()
  writeFileSync(path.join(folder, 'x'), 'second')
  return (await distrustOf(store, await subject())) === null
}

test.each([
  'cat >> x',
  'cat >>x',
  'jq -c . > "$CLAUDE_PROJECT_DIR"/x',
  'node -e 1 2>>"x"',
  'cat &> x',
  'cat >| x',
  'cat >& x; exit 0',
  "jq -r '.tool_input' | tee -a x",
  'jq . | tee -a x >/dev/null && exit 0',
  'cat | tee other x | wc -l',
  'echo "a \\" b" > x',
  'cat |\n  tee -a x',
  'cat | \\\n  tee -a x',
  'cat >> \\\n  x',
  'cat >> "$(pwd)/x"',
  'cat >> ${LOG:-x}',
  'true # it is not\ncat > x',
  `true # it's\ncat > x`,
])('%s only writes it', async (command) => {
  expect(await staysTrusted(command)).toBe(true)
})

test.each([
  'sh x',
  'cat < x',
  'echo 1 > y x',
  'echo > x; sh x',
  'sh x > x',
  'echo ">" x',
  "sh '>x' x",
  'echo \\> x',
  'exec 3<>x; sh <&3',
  'cat >(sh x)',
  'cat > y | sh x',
  'cat > y; sh x',
  'cat > y & sh x',
  'cat > y\nsh x',
  'sh tee x',
  'cat | sh tee x',
  'cat | tee y && sh x',
  'cat | tee y; sh x',
  'cat | tee y\nsh x',
  'cat |\n sh x',
  'cat |\n\n tee y\n tee x',
  'cat > y \\\n x',
  'true # | tee\nsh x',
  'true # >\nsh x',
  'true # > \\\nx',
  'cat | tee y | sh x',
  'cat | tee >(sh x)',
  'cat | "x"',
  'cat > y 2>&1; . x',
  'cat 2>&1 x',
  'cat > "$(sh x)"',
  'cat >> "y`sh x`"',
  'cat | tee "$(sh x)"',
  'bash -c "cat | sh \\"x\\""',
  'echo "\\"" > y; sh "x"',
])('%s counts', async (command) => {
  expect(await staysTrusted(command)).toBe(false)
})

test('scripts count in folders of any name', async () => {
  const folder = path.join(newFolder(), `it's a "plug in" \\ $x; (ü)`)
  mkdirSync(path.join(folder, 'sub'), { recursive: true })
  const script = path.join(folder, 'sub', 'guard.sh')
  for (const command of [
    'sh "$CLAUDE_PROJECT_DIR/sub/guard.sh"',
    'sh "${CLAUDE_PROJECT_DIR}"/sub/guard.sh',
    'cd "$CLAUDE_PROJECT_DIR" && sub/guard.sh',
  ])
    expect(Object.keys(await namedScripts(command, placesOf(folder))), command).toEqual([])
  writeFileSync(script, 'exit 2')
  for (const command of [
    'sh "$CLAUDE_PROJECT_DIR/sub/guard.sh"',
    'sh "${CLAUDE_PROJECT_DIR}"/sub/guard.sh',
    'cd "$CLAUDE_PROJECT_DIR" && sub/guard.sh',
  ])
    expect(Object.keys(await namedScripts(command, placesOf(folder))), command).toEqual([script])
})
