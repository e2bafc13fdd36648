import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { failure, folderWith, load, loadText, placeOf, server } from './files.ts'

/** The mistakes of a file as `line:column message`. */
async function mistakesOf(text: string, name?: string): Promise<string[]> {
  const error = await failure(loadText(text, name === undefined ? {} : { name }))
  expect(error.code).toBe('CONFIG_INVALID')
  const mistakes = error.data?.['mistakes'] as { where: string; message: string }[]
  for (const { where, message } of mistakes) {
    expect(error.message).toContain(`${where}: ${message}`)
    expect(message).not.toContain('\n')
  }
  expect(error.where).toBe(mistakes[0]?.where)
  return mistakes.map(({ where, message }) => `${where.replace(/^.*\.json:/, '')} ${message}`)
}

test('comments, trailing commas and a BOM are fine', async () => {
  const loaded = await loadText('\uFEFF{\n // one\n "mcpServers": { "a": { "command": "node", "args": ["x",], }, }, /* two */\n}')
  expect(server(loaded, 'a').launch).toMatchObject({ command: 'node', args: ['x'] })
  expect(server(loaded, 'a').provenance.where).toBe(`${loaded.file}:3:18`)
})

test.each([
  ['an empty file', '', /^1:1 the file is empty/],
  ['a file of comments', '// nothing', /^1:1 the file is empty/],
  ['a missing comma', '{\n  "features": {}\n  "naming": {}\n}', /^3:3 the JSON is broken: a comma/],
  ['a missing brace', '{"features": {', /^1:15 the JSON is broken: a closing }/],
  ['single quotes', "{'a': 1}", /^1:2 the JSON is broken: .*double quotes/],
  ['something after the end', '{}\nx', /^2:1 the JSON is broken/],
  ['an open comment', '{ /* ', /^1:3 the JSON is broken: the comment has no end/],
  ['a list at the top', '[]', /^1:1 the document must be an object, not a list/],
  ['a list nested without end', '['.repeat(200_000), /nested too deeply/],
  ['objects nested too deeply', `{"hooks":[{"package":"x","options":${'{"a":'.repeat(150)}1${'}'.repeat(150)}}]}`, /nested too deeply/],
])('%s is one clear mistake', async (_, text, expected) => {
  const mistakes = await mistakesOf(text)
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]).toMatch(expected)
})

test('a file that is not UTF-8, a folder, a missing file and a huge one', async () => {
  const folder = folderWith({ 'latin.json': Uint8Array.from([0x7b, 0x22, 0xfc, 0x22, 0x7d]), 'huge.json': ' '.repeat(9 * 1024 * 1024) })
  const of = (name: string) => failure(load([{ path: path.join(folder, name), kind: 'named' }]))
  expect(await of('latin.json')).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('is not UTF-8') })
  expect(await of('.')).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('is a folder') })
  expect(await of('absent.json')).toMatchObject({ code: 'CONFIG_NOT_FOUND', message: expect.stringContaining('absent.json') })
  expect(await of('latin.json/x')).toMatchObject({ code: 'CONFIG_NOT_FOUND' })
  expect(await of('huge.json')).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('limit') })
})

test.skipIf(process.platform === 'win32')('a file without permission or a device is refused, not waited for', async () => {
  const folder = folderWith({ 'a.json': '{}' })
  expect(await failure(load([{ path: '/dev/zero', kind: 'named' }]))).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('no regular file'),
  })
  if (process.getuid?.() === 0) return // root may read everything
  fs.chmodSync(path.join(folder, 'a.json'), 0)
  expect(await failure(load([{ path: path.join(folder, 'a.json'), kind: 'named' }]))).toMatchObject({
    message: expect.stringContaining('permission denied'),
  })
})

test('all mistakes of a file come at once, each at its place with the nearest key', async () => {
  const text = `{
  "mcpServer": {},
  "selectedEnvironments": ["exec-b", "exec-a", "exec-a"],
  "environments": {
    "exec-a": { "excutor": "local", "permissions": "workspace_write", "approvalPolicy": { "granular": {} } },
    "local": { "executor": "ssh", "host": "h", "cwd": "/x" },
    "thread-wide": {},
    "a b": {}
  },
  "features": { "x": 1 },
  "naming": { "scheme": "codecs", "maxLength": 300 },
  "hooks": {},
  "zzzzzzzzzzzz": 1
}`
  const mistakes = await mistakesOf(text)
  const expected: [string, number, RegExp][] = [
    ['"mcpServer"', 0, /unknown key "mcpServer" at the top level \(did you mean "mcpServers"\?\)/],
    ['"exec-b"', 0, /no environment "exec-b" \(did you mean "exec-a"\?\)/],
    ['"exec-a"', 1, /there twice/],
    ['"excutor"', 0, /\(did you mean "executor"\?\)/],
    ['"workspace_write"', 0, /\(did you mean "workspace-write"\?\)/],
    ['{}', 1, /needs "mcpElicitations"/],
    ['"ssh"', 0, /must be "local"/],
    ['"thread-wide"', 0, /reserved/],
    ['"a b"', 0, /is no id/],
    ['1 },', 0, /features\.x must be true, false or text/],
    ['"codecs"', 0, /naming.scheme must be "stable" or "codex" \(did you mean "codex"/],
    ['300', 0, /from 64 to 128/],
    ['{}', 4, /hooks must be a list/],
    ['"zzzzzzzzzzzz"', 0, /known keys: environments,/],
  ]
  for (const [piece, nth, message] of expected) {
    const place = placeOf(text, piece, nth)
    expect(mistakes.filter((one) => one.startsWith(`${place} `)).join('\n'), `${piece} at ${place} in\n${mistakes.join('\n')}`).toMatch(
      message,
    )
  }
  expect(mistakes).toHaveLength(expected.length)
})

test('the mistakes of several files come together', async () => {
  const folder = folderWith({ 'a.json': '{"x": 1}', 'b.json': '{', 'c.json': '{"y": 1}' })
  const error = await failure(load(['a', 'b', 'c'].map((name) => ({ path: path.join(folder, `${name}.json`), kind: 'named' }))))
  expect(error.data?.['mistakes']).toHaveLength(3)
  for (const place of ['a.json:1:2', 'b.json:1:2', 'c.json:1:2']) expect(error.message).toContain(place)
})

test.each([
  ['{"features":{},\n"features":{}}', '2:1'],
  ['{"environments":{"a":{},\n"a":{}}}', '2:1'],
  ['{"environments":{"a":{"cwd":".",\n"cwd":"."}}}', '2:1'],
  ['{"features":{"a":true,\n"a":false}}', '2:1'],
  ['{"hooks":[{"package":"x","options":{"a":1,\n"a":2}}]}', '2:1'],
  ['{"environments":{"a":{"permissions":{"type":"opaque","sandboxState":{"d":{"a":1,\n"a":2}}}}}}', '2:1'],
])('a key that is there twice is a mistake: %s', async (text, place) => {
  const mistakes = await mistakesOf(text)
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]).toMatch(new RegExp(`^${place} .*twice`))
})

test.each([
  ['{"flags":{"flagd":""}}', /flags.flagd must not be empty/],
  ['{"flags":{"flagd":1}}', /flags.flagd must be text, not a number/],
  ['{"flags":{"flagdd":"x"}}', /unknown key "flagdd" in flags \(did you mean "flagd"\?\)/],
  ['{"flags":[]}', /flags must be an object, not a list/],
  ['{"environments":{"a":{"discover":true}}}', /discover needs an executor that knows its packages/],
  ['{"store":{"redis":"redis://x"}}', /redis is not supported by this version/],
  ['{"store":{}}', /needs "file"/],
  ['{"trace":{}}', /trace needs "file"/],
  ['{"trace":{"arguments":true}}', /trace needs "file"/],
  ['{"trace":{"file":7}}', /trace.file must be text/],
  ['{"trace":{"file":"t","argument":true}}', /did you mean "arguments"/],
  ['{"hooks":[{"commandHooks":"hooks.json","module":"./a.mjs"}]}', /or "commandHooks" \(a hooks file\), one of them/],
  ['{"hooks":[{"commandHooks":"hooks.json","options":{}}]}', /options belongs to other kinds/],
  ['{"hooks":[{"module":"./a.mjs","onFailure":"block"}]}', /onFailure belongs to "commandHooks"/],
  ['{"hooks":[{"commandHooks":"hooks.json","env":["A=B"]}]}', /env must list names of variables/],
  ['{"hooks":[{"module":"./x.js","mode":"on"}]}', /must be "off", "shadow" or "enforce", or an object/],
  ['{"hooks":[{"module":"./x.js","mode":{"flag":"f"}}]}', /needs "flag" and "default"/],
  ['{"hooks":[{"module":"./x.js","mode":{"flag":"f","default":"on"}}]}', /must be "off", "shadow" or "enforce"/],
  ['{"hooks":[{"module":"./x.js","mode":{"flag":"a flag","default":"off"}}]}', /must be the name of a flag/],
  ['{"hooks":[{"module":"./x.js","mode":{"flag":"f","default":"off","variants":[]}}]}', /variants/],
  ['{"hooks":["x.js"]}', /write ".\/x.js"/],
  ['{"hooks":["my-guard"]}', /"package": "my-guard"/],
  ['{"hooks":["./x.ts"]}', /ends in .js, .mjs or .cjs/],
  ['{"hooks":[{}]}', /needs "module" \(a path\), "package" \(a name\), "builtin"/],
  ['{"hooks":[{"builtin":"retry","package":"x"}]}', /one of them/],
  ['{"hooks":[{"builtin":"audit_log"}]}', /hooks\[0\].builtin must be "tool-list" or "retry".*did you mean "audit-log"/],
  ['{"hooks":[{"package":"../x"}]}', /must be the name of a package/],
  ['{"hooks":[{"package":"x","option":{}}]}', /did you mean "options"/],
  ['{"hooks":[7]}', /must be the path of a module or an object, not a number/],
  ['{"environments":{"a":{"executor":"ssh","host":"h"}}}', /must be an absolute path/],
  ['{"environments":{"a":{"executor":"ssh","cwd":"/x"}}}', /environments.a: the executor "ssh" needs "host"/],
  [
    '{"environments":{"a":{"executor":"ssh","cwd":"/x","host":"-oProxyCommand=x"}}}',
    /environments.a.host must be one word that does not begin with "-"/,
  ],
  ['{"environments":{"a":{"executor":"ssh","cwd":"/x","host":"h","user":"a b"}}}', /environments.a.user must be one word/],
  [
    '{"environments":{"a":{"executor":"ssh","cwd":"/x","host":"h","port":0}}}',
    /environments.a.port must be a whole number from 1 to 65535/,
  ],
  ['{"environments":{"a":{"executor":"ssh","cwd":"/x","host":"h","hosst":"h"}}}', /unknown key "hosst" .*did you mean "host"/],
  ['{"environments":{"a":{"executor":"command","cwd":"/x"}}}', /environments.a: the executor "command" needs "prefix"/],
  ['{"environments":{"a":{"executor":"command","cwd":"/x","prefix":[]}}}', /environments.a.prefix must begin with a program/],
  ['{"environments":{"a":{"executor":"command","cwd":"/x","prefix":["docker",1]}}}', /prefix\[1\] must be text/],
  ['{"environments":{"a":{"executor":"command","cwd":"/x","prefix":["x"],"shell":"yes"}}}', /environments.a.shell must be true or false/],
  ['{"environments":{"a":{"executor":"exec-server","cwd":"/x"}}}', /environments.a: the executor "exec-server" needs "url"/],
  ['{"environments":{"a":{"executor":"exec-server","cwd":"/x","url":"http://h"}}}', /environments.a.url must be a ws:\/\/ or wss:\/\/ URL/],
  ['{"environments":{"a":{"executor":"exec-server","cwd":"/x","url":"ws://u:p@h"}}}', /bearerTokenEnvVar/],
  [
    '{"environments":{"a":{"executor":"exec-server","cwd":"/x","url":"ws://${NO_SUCH_HOST}"}}}',
    /needs variables that are not set: NO_SUCH_HOST/,
  ],
  ['{"environments":{"a":{"executor":"exec-server","cwd":"/x","url":"ws://h","bearerTokenEnvVar":"${T}"}}}', /bare name of a variable/],
  ['{"environments":{"a":{"executor":{"kind":"ssh","host":"h","x":1},"cwd":"/x"}}}', /unknown key "x"/],
  ['{"environments":{"a":{"executor":"ssh","host":"h","cwd":"/x","permisions":"read-only"}}}', /did you mean "permissions"/],
  ['{"environments":{"a":{"executor":{"kind":"local","x":1}}}}', /takes none/],
  ['{"environments":{"a":{"executor":{}}}}', /needs "kind"/],
  ['{"environments":{"a":{"approvalPolicy":"always"}}}', /"on-request" or "untrusted" or "never"/],
  ['{"environments":{"a":{"approvalPolicy":{}}}}', /"granular"/],
  ['{"environments":{"a":{"approvalPolicy":{"granular":{"mcpElicitations":"no"}}}}}', /must be true or false/],
  ['{"environments":{"a":{"permissions":{"networkAccess":true}}}}', /needs "type"/],
  ['{"environments":{"a":{"permissions":{"type":"opaque","sandboxState":7}}}}', /sandboxState must be an object or text/],
  ['{"environments":{"a":{"permissions":{"type":"opaque","sandboxState":{"n":9007199254740993}}}}}', /cannot be kept exactly/],
  ['{"environments":{"a":{"cwd":"${NOWHERE_TO_GO}"}}}', /NOWHERE_TO_GO/],
  ['{"environments":[]}', /environments must be an object, not a list/],
  ['{"mcpServers":[]}', /mcpServers must be an object, not a list/],
  ['{"selectedEnvironments":[]}', /must name one environment at least/],
  ['{"selectedEnvironments":"a"}', /must be a list/],
])('a mistake of the file as such: %s', async (text, expected) => {
  const mistakes = await mistakesOf(text)
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]).toMatch(expected)
})

test('options given in code are checked the same way, with their path', async () => {
  const host = { mcpServers: { a: { command: 'node' } }, naming: { maxLength: 1 }, enviroments: {} } as never
  const error = await failure(load([], { host }))
  expect(error.message).toMatch(/host: unknown key "enviroments" at the top level \(did you mean "environments"\?\)/)
  expect(error.message).toContain('host: naming.maxLength must be')
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  expect(
    (await failure(load([], { host: { environments: { a: { permissions: { type: 'opaque', sandboxState: cycle as never } } } } }))).message,
  ).toContain('is not JSON')
})
