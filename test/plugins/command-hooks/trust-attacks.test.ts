// Ways around trust in a hooks file: scripts that its commands reach without a plain path, and scripts that change after the trust, also under a running session.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Runtime, RuntimeOptions, Session, Store } from '../../../src/index.ts'
import { memoryStore, openRuntime } from '../../../src/index.ts'
import { commandWords } from '../../../src/plugins/command-hooks/command-words.ts'
import { placesOf } from '../../../src/plugins/command-hooks/hook-env.ts'
import { readHookFile } from '../../../src/plugins/command-hooks/hook-file.ts'
import { distrustOf, trustHooks, watchHooks } from '../../../src/plugins/command-hooks/hook-trust.ts'
import { namedScripts } from '../../../src/plugins/command-hooks/named-scripts.ts'
import { newFolder, writeHooks } from './kit.ts'

const SERVER = fileURLToPath(new URL('../../ownership/server.mjs', import.meta.url))
const subject = async (file: string) => ({ path: file, hooks: (await readHookFile(file)).hooks, places: placesOf(path.dirname(file)) })

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => at).join(' ')

function put(folder: string, name: string, text = 'changed'): void {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

test.each([
  ['after cd', 'cd scripts && ./guard.sh', 'scripts/guard.sh'],
  ['after cd in a subshell of bash -c', `bash -c "cd ./scripts; sh guard.sh"`, 'scripts/guard.sh'],
  ['an ending that the interpreter adds', 'node scripts/guard', 'scripts/guard.js'],
  ['the main file of a folder', 'node ./scripts', 'scripts/index.js'],
  ['the package of a folder', 'node ./scripts', 'scripts/package.json'],
  ['a folder of Python', 'python3 scripts', 'scripts/__main__.py'],
  ['a module of Python', 'python3 -m scripts.guard', 'scripts/guard.py'],
  ['an option and its value in one', 'awk -f./scripts/guard.awk', 'scripts/guard.awk'],
  ['an option with an equals sign', 'node --import=./scripts/guard.mjs -e 0', 'scripts/guard.mjs'],
  ['a variable of the line', 'D=scripts; "$D"/guard.sh', 'scripts/guard.sh'],
  ['a variable of another variable', 'D="$CLAUDE_PROJECT_DIR/scripts" G=$D/guard.sh; sh ${G}', 'scripts/guard.sh'],
  ['a variable with a default', '"${CLAUDE_PROJECT_DIR:-.}"/scripts/guard.sh', 'scripts/guard.sh'],
  ['the working directory', 'sh $PWD/scripts/guard.sh', 'scripts/guard.sh'],
  ['the working directory, asked for', '"$(pwd)/scripts/guard.sh"', 'scripts/guard.sh'],
  ['a pattern', 'for f in scripts/*.sh; do . "$f"; done', 'scripts/guard.sh'],
  ['a list in braces', 'cat scripts/{guard,other}.sh | sh', 'scripts/guard.sh'],
  ['a script that is sourced', 'source scripts/guard.sh; check', 'scripts/guard.sh'],
  ['far behind in a long line', `${'true; '.repeat(300)}./scripts/guard.sh`, 'scripts/guard.sh'],
  ['an assignment in front', 'MODE=x ./scripts/guard.sh', 'scripts/guard.sh'],
  ['an escape', './scr\\ipts/guard.sh', 'scripts/guard.sh'],
  ['an escape within quotes', 'bash -c "\\"./scripts/guard.sh\\""', 'scripts/guard.sh'],
  ['a line that goes on', './scr\\\nipts/guard.sh', 'scripts/guard.sh'],
  ['a name that has an escape', '"./scr\\$ipts/guard.sh"', 'scr$ipts/guard.sh'],
  ['the default of a variable', 'sh ${GUARD:-./guard.sh}', 'guard.sh'],
  ['a default within a word', 'sh "${HOOKS:-scripts}/guard.sh"', 'scripts/guard.sh'],
  ['a default without a colon', 'sh ${HOOKS-"scripts"}/guard.sh', 'scripts/guard.sh'],
  ['a default of a default', 'sh ${A:-${B:-scripts}/deep}/guard.sh', 'scripts/deep/guard.sh'],
  ['a default of a variable that is empty', 'D=; sh ${D:-scripts}/guard.sh', 'scripts/guard.sh'],
  ['a default with blanks', 'eval ${RUN:-sh ./guard.sh}', 'guard.sh'],
  ['a default of an argument', `sh -c 'sh \${1:-./guard.sh}'`, 'guard.sh'],
  ['a default that stays', ': ${D:=scripts}; sh $D/guard.sh', 'scripts/guard.sh'],
  ['a default that stays, without a colon', ': ${D=scripts}; sh $D/guard.sh', 'scripts/guard.sh'],
  ['an alternative', 'sh scripts/${DEEP:+deep/}guard.sh', 'scripts/deep/guard.sh'],
  ['what is left where there is no alternative', 'sh scripts/${DEEP+deep/}guard.sh', 'scripts/guard.sh'],
  ['a default in a name that is written to', 'cat > "${LOG:-$(sh ./guard.sh)}"', 'guard.sh'],
  ['a variable of the working directory', 'D=$(pwd)/scripts; sh $D/guard.sh', 'scripts/guard.sh'],
  ['a variable of the working directory after cd', 'cd scripts; D=$(pwd)/deep; sh $D/guard.sh', 'scripts/deep/guard.sh'],
  ['a variable that is quoted in part', 'D="$PWD"/scripts; sh $D/guard.sh', 'scripts/guard.sh'],
  ['a variable that has had another value', 'D=scripts; sh $D/guard.sh; D=other; ls $D', 'scripts/guard.sh'],
  ['a variable that grows', 'D=scripts; D+=/deep; sh $D/guard.sh', 'scripts/deep/guard.sh'],
  ['a variable in quotes', `bash -c 'D=scripts; sh $D/guard.sh'`, 'scripts/guard.sh'],
  ['a variable in quotes within quotes', `sh -c "bash -c 'D=\\"scripts\\"; sh \\$D/guard.sh'"`, 'scripts/guard.sh'],
  ['a folder in a folder', 'cd scripts && cd deep && sh ./guard.sh', 'scripts/deep/guard.sh'],
  ['a folder in a folder in a folder', 'cd a && cd b && cd c && cd d && sh guard.sh', 'a/b/c/d/guard.sh'],
  ['a list of a loop', 'for f in guard other; do sh scripts/$f.sh; done', 'scripts/guard.sh'],
  ['the last of a list of a loop', 'for f in a b "guard"\ndo sh scripts/$f.sh; done', 'scripts/guard.sh'],
  ['a list that is in a variable', 'L="other guard"; for f in $L; do sh scripts/$f.sh; done', 'scripts/guard.sh'],
  ['a loop in a loop', `bash -c 'for d in x scripts; do for f in y guard; do sh $d/$f.sh; done; done'`, 'scripts/guard.sh'],
  ['quotes with escapes', `sh $'scripts/guard.sh'`, 'scripts/guard.sh'],
  ['escapes in them', `sh $'scr\\x69pts\\57it\\'s'`, "scripts/it's"],
  ['quotes of a language', 'sh $"scripts/guard.sh"', 'scripts/guard.sh'],
  ['a line that goes on in quotes', `bash -c 'sh scr\\\nipts/guard.sh'`, 'scripts/guard.sh'],
  ['a line that goes on after a comment', `# it's\nsh scr\\\nipts/guard.sh`, 'scripts/guard.sh'],
  ['a comment that goes on nowhere', 'true # > \\\n./guard.sh', 'guard.sh'],
  ['a name with an equals sign', 'sh ./a=b.sh', 'a=b.sh'],
  ['quotes within a word', './scr"ip"ts/\'guard\'.sh', 'scripts/guard.sh'],
])('trust is bound to %s: %s', async (_what, command, script) => {
  const store = memoryStore()
  const folder = newFolder()
  put(folder, script, 'guards')
  const file = writeHooks(folder, { PreToolUse: [{ command }] })
  await trustHooks(store, await subject(file))
  expect(await distrustOf(store, await subject(file))).toBeNull()
  put(folder, script)
  expect(await distrustOf(store, await subject(file))).toContain(script)
  rmSync(path.join(folder, script))
  expect(await distrustOf(store, await subject(file))).toContain(script)
})

test('a folder of the project that is a link to one outside: its scripts count', async () => {
  const store = memoryStore()
  const [folder, outside] = [newFolder(), newFolder()]
  put(outside, 'guard.sh', 'guards')
  symlinkSync(outside, path.join(folder, 'scripts'))
  const file = writeHooks(folder, { PreToolUse: [{ command: './scripts/guard.sh' }] })
  await trustHooks(store, await subject(file))
  put(outside, 'guard.sh')
  expect(await distrustOf(store, await subject(file))).toContain('guard.sh')
})

/** A session on a trusted hooks file with a real server; the hook is `sh guard.sh`. */
async function trusted(
  folder: string,
  events: Parameters<typeof writeHooks>[1],
  act: (session: Session, runtime: Runtime, store: Store) => Promise<void>,
  more: RuntimeOptions = {},
): Promise<void> {
  const store = memoryStore()
  const file = writeHooks(folder, events)
  await trustHooks(store, await subject(file))
  const config = path.join(folder, 'tapline.json')
  const server = { command: process.execPath, args: [SERVER, 'A'], env: { LEDGER: path.join(folder, 'ledger') } }
  const files = { ...server, defaultToolsApprovalMode: 'approve' }
  writeFileSync(config, JSON.stringify({ mcpServers: { files }, hooks: [{ commandHooks: 'hooks.json' }] }))
  await using runtime = await openRuntime({ config, store, ...more })
  await using session = await runtime.openSession()
  await act(session, runtime, store)
}
const CALL = { server: 'files', tool: 'write', arguments: { path: 'p' } }
const DENIES = '#!/bin/sh\necho no >&2\nexit 2\n'

test.each(['PreToolUse', 'PostToolUse'])(
  'a script that changes under a running session is not run, whatever onFailure says: %s',
  async (event) => {
    const folder = newFolder()
    put(folder, 'guard.sh', 'touch first\n')
    const command = 'sh guard.sh'
    await trusted(folder, { [event]: [{ command, onFailure: 'continue' }] }, async (session) => {
      expect(await session.callTool(CALL)).toMatchObject({ outcome: 'completed' })
      put(folder, 'guard.sh', 'touch second\n')
      const outcome = await session.callTool(CALL)
      expect(outcome).toMatchObject({ outcome: event === 'PreToolUse' ? 'refused' : 'result_withheld', code: 'CALL_REFUSED' })
      expect(JSON.stringify(outcome)).toContain('changed since the hooks were loaded')
      put(folder, 'guard.sh', 'touch first\n')
      expect(await session.callTool(CALL)).toMatchObject({ outcome: 'completed' })
    })
    expect(existsSync(path.join(folder, 'first'))).toBe(true)
    expect(existsSync(path.join(folder, 'second'))).toBe(false)
  },
)

test('neither is one that nobody waits for, one that is taken away, or one that steps in front of the trusted one', async () => {
  const folder = newFolder()
  put(folder, 'guard.js', '')
  put(folder, 'log.sh', 'touch first\n')
  const events = { PreToolUse: [{ command: `${process.execPath} ./guard` }], PostToolUse: [{ command: 'sh log.sh', async: true }] }
  await trusted(folder, events, async (session) => {
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'completed' })
    put(folder, 'guard', 'require("fs").writeFileSync("second", "")')
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused', code: 'CALL_REFUSED' })
    rmSync(path.join(folder, 'guard'))
    rmSync(path.join(folder, 'guard.js'))
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused', code: 'CALL_REFUSED' })
    put(folder, 'guard.js', '')
    // nobody waited for the first one, which is to have read its script
    await expect.poll(() => existsSync(path.join(folder, 'first')), { timeout: 20_000 }).toBe(true)
    put(folder, 'log.sh', 'touch second\n')
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'result_withheld', code: 'CALL_REFUSED' })
  })
  expect(existsSync(path.join(folder, 'second'))).toBe(false)
})

test.each(['timed_out', 'cancelled'])('neither is one after a call that is %s; where nothing changed it runs', async (how) => {
  const folder = newFolder()
  const ledger = path.join(folder, 'ledger')
  put(folder, 'after.sh', 'touch first\n')
  const lines: string[] = []
  const log = (_data: object, line: string): void => void lines.push(line)
  const hang = async (session: Session): Promise<void> => {
    rmSync(ledger, { force: true })
    await session.listTools()
    const abort = new AbortController()
    const options = how === 'cancelled' ? { signal: abort.signal } : { timeoutMs: 1500 }
    const call = session.callTool({ ...CALL, arguments: { path: 'no answer' } }, options)
    await expect.poll(() => existsSync(ledger), { timeout: 20_000 }).toBe(true)
    if (how === 'cancelled') abort.abort()
    expect((await call).outcome).toBe(how)
  }
  const events = { PostToolUse: [{ command: 'sh after.sh' }] }
  await trusted(folder, events, async (session) => {
    await hang(session)
    await expect.poll(() => existsSync(path.join(folder, 'first')), { timeout: 20_000 }).toBe(true)
  })
  const changed = async (session: Session): Promise<void> => {
    put(folder, 'after.sh', 'touch second\n')
    await hang(session)
    await expect.poll(() => lines.join('\n'), { timeout: 20_000 }).toContain('changed since the hooks were loaded')
  }
  await trusted(folder, events, changed, { logger: { debug: log, info: log, warn: log, error: log } })
  expect(existsSync(path.join(folder, 'second'))).toBe(false)
})

const NAMES = ['scripts/guard.sh', 'scripts/index.js', 'scripts/package.json', 'package.json', 'index.js', 'scripts.js']
test.each<[string, string, readonly string[]]>([
  ['a folder that is gone to', 'cd "$CLAUDE_PROJECT_DIR" && sh scripts/guard.sh', ['scripts/guard.sh']],
  ['one below', `true; pushd -- './scripts' >/dev/null; ./guard.sh`, ['scripts/guard.sh']],
  ['one within bash -c', 'bash -c "cd scripts; sh guard.sh"', ['scripts/guard.sh']],
  ['the project as an argument', 'sh scripts/guard.sh "${CLAUDE_PROJECT_DIR}"', ['scripts/guard.sh']],
  ['the dot that reads a script', '. scripts/guard.sh', ['scripts/guard.sh']],
  ['the project that is run', 'node --no-warnings "$CLAUDE_PROJECT_DIR"', ['index.js', 'package.json']],
  ['the folder that is run', 'cd scripts && node .', ['index.js', 'package.json', 'scripts/index.js', 'scripts/package.json']],
  ['a folder that npm runs in', 'cd scripts && npm run guard', ['scripts.js', 'scripts/index.js', 'scripts/package.json']],
  ['one that is gone to and run', 'cd scripts; node ../scripts', ['scripts.js', 'scripts/index.js', 'scripts/package.json']],
])('what a package or a main file is to %s', async (_what, command, expected) => {
  const folder = newFolder()
  for (const name of NAMES) put(folder, name)
  const found = Object.keys(await namedScripts(command, placesOf(folder)))
  expect(found).toEqual(expected.map((name) => path.join(folder, name)).sort())
})

/** Each command has 2700 words, none twice. */
const wordy = (folder: string, count: number): string => {
  const names = Array.from({ length: 2700 }, (_, at) => at.toString(36).padStart(2, 'a'))
  const events = { PreToolUse: Array.from({ length: count }, (__, at) => ({ command: `${names.join(' ').slice(0, 8150)} ${at}` })) }
  return writeHooks(folder, events)
}

test('a file that nobody trusted is asked for no script; one that names too many paths cannot be trusted', async () => {
  const folder = newFolder()
  const file = wordy(folder, 24)
  const config = path.join(folder, 'tapline.json')
  writeFileSync(config, JSON.stringify({ hooks: [{ commandHooks: 'hooks.json' }] }))
  const store = memoryStore()
  await expect(openRuntime({ config, store })).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' })
  const problem = 'the hook PreToolUse[0].hooks[0] names more than 20000 paths where a script may lie; put its command into a script'
  await expect(trustHooks(store, await subject(file))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `${file}: cannot be trusted: ${problem}`,
  })
  expect(await distrustOf(store, await subject(file))).toBe('is not trusted')
})

test('folders that come later may make too many paths of a command: then it may not run any more', async () => {
  const folder = newFolder()
  const words = Array.from({ length: 600 }, (_, at) => `w${at}`)
  const file = writeHooks(folder, { PreToolUse: [{ command: `true ${words.join(' ')}` }] })
  const store = memoryStore()
  await trustHooks(store, await subject(file))
  for (const word of words.slice(0, 8)) mkdirSync(path.join(folder, word))
  const why = 'cannot be trusted: the hook PreToolUse[0].hooks[0] names more than 20000 paths'
  expect(await distrustOf(store, await subject(file))).toContain(why)
  const config = path.join(folder, 'tapline.json')
  writeFileSync(config, JSON.stringify({ hooks: [{ commandHooks: 'hooks.json' }] }))
  await expect(openRuntime({ config, store })).rejects.toMatchObject({
    code: 'CONFIG_UNTRUSTED',
    message: expect.stringContaining(`${file} ${why}`),
  })
})

test('many hooks of one file have a limit together', async () => {
  const folder = newFolder()
  const words = Array.from({ length: 800 }, (_, at) => `w${at}`).join(' ')
  const file = writeHooks(folder, { PreToolUse: Array.from({ length: 9 }, (_, at) => ({ command: `true ${words} ${at}` })) })
  await expect(trustHooks(memoryStore(), await subject(file))).rejects.toThrow('and those before it name more than 60000 paths')
})

test('variables that double with each other are given up, and take no time', () => {
  const names = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at))
  const doubling = names.slice(1).map((name, at) => `${name}=$${names[at]}$${names[at]}`)
  for (const command of [
    `a=xx ${doubling.join(' ')}; sh $z ./guard.sh`,
    `${'${a'.repeat(2700)} ./guard.sh`,
    `$\{${'a'.repeat(8000)} ./guard.sh`,
  ])
    expect(commandWords(command, placesOf('/nowhere')).includes('./guard.sh')).toBe(true)
})

test.each([
  ['loops', `for a in ${numbers(70)}; do for b in $a; do sh $a$b.sh; done; done`],
  ['long values', `a=${'x'.repeat(2000)}; for b in ${numbers(300)}; do c=$a$b; ${'d=x$c; e=x$d; c=x$e;'.repeat(100)} done`],
  ['nested defaults', '${a:-x'.repeat(1000) + '}'.repeat(1000)],
])('a command that has more than can be looked for cannot be trusted: %s', async (_what, command) => {
  const file = writeHooks(newFolder(), { PreToolUse: [{ command }] })
  await expect(trustHooks(memoryStore(), await subject(file))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(
      'cannot be trusted: the hook PreToolUse[0].hooks[0] names more than can be looked for; put a part of it into a script',
    ),
  })
})

test('and so is one with more folders than can be gone through; folders that lead round are gone through once', async () => {
  const folder = newFolder()
  const names = Array.from({ length: 70 }, (_, at) => `d${at}`)
  const file = writeHooks(folder, { PreToolUse: [{ command: `cd a; ls ${names.join(' ')}; sh ./guard.sh` }] })
  put(folder, 'b/guard.sh')
  symlinkSync('.', path.join(folder, 'a'))
  const store = memoryStore()
  await trustHooks(store, await subject(file))
  expect(await distrustOf(store, await subject(file))).toBeNull()
  for (const name of names) mkdirSync(path.join(folder, name))
  await expect(trustHooks(store, await subject(file))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(await distrustOf(store, await subject(file))).toContain('names more than can be looked for')
  const { why, distrust } = await watchHooks(store, await subject(file))
  expect(why).toContain('names more than can be looked for')
  expect(await distrust((await subject(file)).hooks[0]!)).toBe(why)
})

test('where folders become too many under a running session its hook is not run, whatever onFailure says', async () => {
  const folder = newFolder()
  const names = Array.from({ length: 70 }, (_, at) => `d${at}`)
  await trusted(folder, { PreToolUse: [{ command: `true ${names.join(' ')}`, onFailure: 'continue' }] }, async (session) => {
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'completed' })
    for (const name of names) mkdirSync(path.join(folder, name))
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused', code: 'CALL_REFUSED' })
  })
})

test('a model that writes into the folder of its own guard does not get rid of it', async () => {
  const folder = newFolder()
  put(folder, 'guard.sh', DENIES)
  await trusted(folder, { PreToolUse: [{ command: 'sh guard.sh' }] }, async (session) => {
    put(folder, 'guard.sh', '#!/bin/sh\nexit 0\n')
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused', code: 'CALL_REFUSED', sent: 'no' })
  })
  expect(existsSync(path.join(folder, 'ledger')) ? readFileSync(path.join(folder, 'ledger'), 'utf8') : '').not.toContain('tools/call')
})

test('a script that changed and was trusted again runs in the next session; one that was not keeps it from opening', async () => {
  const folder = newFolder()
  put(folder, 'guard.sh', 'exit 0\n')
  await trusted(folder, { PreToolUse: [{ command: 'sh guard.sh' }] }, async (session, runtime, store) => {
    put(folder, 'guard.sh', `touch second; exit 0\n`)
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused' })
    await expect(runtime.openSession()).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' })
    await trustHooks(store, await subject(path.join(folder, 'hooks.json')))
    await using next = await runtime.openSession()
    expect(await next.callTool(CALL)).toMatchObject({ outcome: 'completed' })
    // the open one was promised another script
    expect(await session.callTool(CALL)).toMatchObject({ outcome: 'refused' })
  })
  expect(existsSync(path.join(folder, 'second'))).toBe(true)
})
