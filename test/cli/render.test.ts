import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import { TaplineError } from '../../src/errors.ts'
import { checkJson } from '../../src/cli/render/config.ts'
import { resultText } from '../../src/cli/render/content.ts'
import { diagnosticJson, distinct } from '../../src/cli/render/diagnostic.ts'
import { errorJson, errorText, failureJson } from '../../src/cli/render/failure.ts'
import { outcomeJson, outcomeNote } from '../../src/cli/render/outcome.ts'
import { ownerJson } from '../../src/cli/render/owner.ts'
import { argumentsText, questionText } from '../../src/cli/render/question.ts'
import { contentsJson, itemJson, resourceListJson } from '../../src/cli/render/resource.ts'
import { statusPageJson, statusPageText } from '../../src/cli/render/status.ts'
import { table, widthOf } from '../../src/cli/render/table.ts'
import { toolListJson, toolListText } from '../../src/cli/render/tool.ts'
import { explanationJson } from '../../src/cli/render/explanation.ts'
import { traceText } from '../../src/cli/render/trace.ts'
import { key, outcomes, question, resource, statusRow, tool, trace } from './samples.ts'

const paint = picocolors.createColors(false)
const OWNER = { name: 'x', environmentId: 'a', installationId: null, display: 'x (environment a)' }
const plain = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value)) as Record<string, unknown>

test('an owner always has the four fields', () => {
  expect(ownerJson({ name: 'files', environmentId: null, installationId: null })).toEqual({
    name: 'files',
    environmentId: null,
    installationId: null,
    display: 'files',
  })
  expect(ownerJson(key('files', 'vm', 'one')).display).toBe('files (environment vm, installation one)')
})

test('a completed call keeps every field of the result', () => {
  const { trace: _trace, ...shown } = plain(outcomeJson(outcomes().completed, 'raw'))
  expect(shown).toEqual({
    outcome: 'completed',
    code: 'OK',
    sent: 'yes',
    owner: OWNER,
    tool: 'raw',
    result: { content: [{ type: 'text', text: 'x' }], future: { keep: true } },
    message: null,
    callId: 'c1',
    durationMs: 5,
  })
})

test('a call that did not end well says why, and what only this end has', () => {
  const shown = (kind: keyof ReturnType<typeof outcomes>): Record<string, unknown> => plain(outcomeJson(outcomes()[kind], null))
  expect(shown('invalid_request')).toMatchObject({
    owner: null,
    tool: null,
    result: null,
    message: 'message x',
    remedy: 'remedy x',
    candidates: [OWNER, { ...OWNER, environmentId: 'b', display: 'x (environment b)' }],
  })
  expect(shown('server_failed')).toMatchObject({ sent: 'yes', rawResult: { a: 'x' } })
  expect(shown('ownership_violation')).toMatchObject({ code: 'HOOK_CHANGED_OWNER', hook: 'resolve', tap: 'x', plugin: 'x', key: 'server' })
  expect(shown('timed_out')).toMatchObject({ phase: 'dispatch', limitMs: 5 })
  expect(shown('refused')).toMatchObject({ by: 'tap', reason: 'x' })
  for (const outcome of Object.values(outcomes()))
    expect(plain(outcomeJson(outcome, 't'))).toMatchObject({ outcome: outcome.outcome, code: outcome.code, sent: outcome.sent })
})

test('people are told whether anything was sent, what to do, and who was meant', () => {
  expect(outcomeNote(outcomes().invalid_request, paint)).toBe(
    'invalid request: message x (AMBIGUOUS_SERVER; nothing was sent)\n  - x (environment a)\n  - x (environment b)\nremedy x',
  )
  expect(outcomeNote(outcomes().timed_out, paint)).toContain('may have run')
  expect(outcomeNote(outcomes().completed, paint)).toBe('')
  expect(outcomeNote({ ...outcomes().completed, additionalContext: ['a\u001b', 'b'] }, paint)).toBe(
    'for the model: a\\u001b\nfor the model: b',
  )
  expect(outcomeNote({ ...outcomes().completed, result: { content: [], isError: true } }, paint)).toContain(
    'the tool answered with an error',
  )
})

test('a result without blocks shows its structured content; blobs are named, not printed', () => {
  expect(resultText({ content: [], structuredContent: { a: 1 } })).toBe('{\n  "a": 1\n}')
  expect(
    resultText({
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'text', text: 'hi' },
      ],
    }),
  ).toBe('[image image/png, 3 bytes]\nhi')
})

test('an explanation has the shape of a call, and nothing was sent', () => {
  const { refused } = outcomes()
  const shown = plain(
    explanationJson({ owner: key('x', 'a'), tool: null, wouldEnd: 'refused', outcome: refused, trace: trace(), wouldSend: null }, 'raw'),
  )
  expect(shown).toMatchObject({
    outcome: 'refused',
    code: 'CALL_REFUSED',
    sent: 'no',
    owner: OWNER,
    tool: 'raw',
    result: null,
    message: 'message x',
    wouldSend: null,
  })
  const goes = plain(
    explanationJson(
      {
        owner: key('x', 'a'),
        tool: null,
        wouldEnd: 'sent',
        outcome: null,
        trace: trace(),
        wouldSend: { method: 'tools/call', params: { name: 'raw' } },
      },
      'raw',
    ),
  )
  expect(goes).toMatchObject({
    outcome: 'sent',
    code: null,
    sent: 'no',
    message: null,
    wouldSend: { method: 'tools/call', params: { name: 'raw' } },
  })
  expect((goes['trace'] as { candidates: unknown[] }).candidates).toEqual([OWNER])
})

test('the trace names taps, approval, metadata, flags', () => {
  const text = traceText(trace('tap-1'), paint)
  for (const word of ['resolve', 'tap-1', 'rewrite, changed arguments', 'approval', 'mode', '_meta', 'reused', 'server'])
    expect(text).toContain(word)
  expect(text).toContain('tap-1  would have refused it')
  expect(text).toMatch(/^ +tap-1 +tap-1 +note +tap-1$/m)
})

test('the bars of a trace are as long as what they stand for, and what had no effect says so', () => {
  const [tap] = trace().taps
  const text = traceText(
    {
      ...trace(),
      taps: [
        { ...tap!, hook: 'dispatch', tap: 'half', decision: 'called_next', durationMs: 60, changedArguments: false },
        {
          ...tap!,
          hook: 'approve',
          tap: 'dark',
          mode: 'shadow',
          decision: 'deny',
          inEffect: false,
          durationMs: 0.02,
          changedArguments: false,
        },
        { ...tap!, hook: 'approve', tap: 'tired', decision: 'timed_out', inEffect: false, durationMs: 5, changedArguments: false },
      ],
      shadow: [{ plugin: 'p', wouldHave: [] }],
      timingsMs: { approve: 5, dispatch: 120, server: 1500 },
    },
    paint,
  )
  const lines = text.split('\n')
  const bar = (word: string): number => (lines.find((line) => line.includes(word))?.match(/█/g) ?? []).length
  expect([bar('dispatch'), bar('half'), bar('server'), bar('dark')]).toEqual([24, 12, 24, 0])
  expect(text).toMatch(/dark +x +deny, in shadow +0\.02 ms +▏ +x/)
  expect(text).toMatch(/tired +x +timed out, not in effect +5\.0 ms/)
  expect(text).toMatch(/server +1\.5 s/)
  expect(text).toMatch(/p +would have done nothing/)
  expect(lines.findIndex((line) => line.includes('dark'))).toBeLessThan(lines.findIndex((line) => line.includes('half')))
})

test('tools, errors and diagnostics have the shape of the specification', () => {
  const error = new TaplineError('SERVER_EXITED', 'gone', { remedy: 'start it' })
  const shown = plain(
    toolListJson({ tools: [tool()], resourceTools: [], errors: [{ owner: key('x', 'a'), error }] }, [
      { code: 'shadowed', severity: 'info', message: 'm', owner: key('x', 'a'), where: 'f:1:1' },
    ]),
  )
  const [row] = shown['tools'] as Record<string, unknown>[]
  expect(Object.keys(row ?? {})).toEqual([
    'name',
    'namespace',
    'nameInNamespace',
    'tool',
    'owner',
    'title',
    'description',
    'inputSchema',
    'annotations',
    'approval',
  ])
  expect(shown['errors']).toEqual([{ owner: OWNER, code: 'SERVER_EXITED', message: 'gone', remedy: 'start it' }])
  expect(shown['diagnostics']).toEqual([{ code: 'shadowed', severity: 'info', message: 'm', owner: OWNER, where: 'f:1:1' }])
  expect(toolListText({ tools: [tool('b'), tool('a')], resourceTools: [] }, paint)).toMatch(/^a \(environment a, installation a\)\n {2,}a /)
})

test('a diagnostic is told once', () => {
  const one = { code: 'shadowed', severity: 'info', message: 'm' } as const
  expect(distinct([one, { ...one }, { ...one, message: 'n' }]).map(diagnosticJson)).toEqual([one, { ...one, message: 'n' }])
})

test('a page of the status', () => {
  const shown = plain(statusPageJson({ data: [statusRow()], nextCursor: 'c' }))
  expect(shown['nextCursor']).toBe('c')
  expect((shown['data'] as unknown[])[0]).toMatchObject({
    owner: OWNER,
    runtimeStatus: 'failed',
    authStatus: 'unsupported',
    pid: 7,
    error: { code: 'SERVER_START_FAILED' },
    tools: [{ tool: 'x' }],
    prompts: null,
  })
  expect(statusPageText({ data: [statusRow('srv')], nextCursor: 'c' }, paint)).toMatch(
    /^SERVER .*\nsrv \(environment a\) +failed[\s\S]*failed srv[\s\S]*--cursor c$/,
  )
  expect(statusPageText({ data: [], nextCursor: null }, paint)).toBe('')
})

test('a resource says whose it is in the words of the wire, and a server cannot forge that', () => {
  expect(itemJson(resource())).toEqual({ server: 'x', environment_id: 'a', installation_id: 'i', uri: 'x', name: 'x', future: 1 })
  expect(itemJson(resource('y', key('y')))).toEqual({ server: 'y', uri: 'y', name: 'y', future: 1 })
  expect(resourceListJson({ items: [], errors: [], nextCursor: null })).toEqual({ resources: [], errors: [], nextCursor: null })
  expect(plain(contentsJson({ contents: [{ uri: 'u', text: 't' }], future: 1, owner: key('x', 'a') }))).toEqual({
    contents: [{ uri: 'u', text: 't' }],
    future: 1,
    owner: OWNER,
  })
})

test('an error outside a call', () => {
  const error = new TaplineError('CONFIG_INVALID', 'bad key', {
    where: 'f.json:1:2',
    remedy: 'fix it',
    data: { candidates: [key('x', 'a'), 'other', 5] },
  })
  expect(plain(errorJson(error))).toEqual({
    error: { code: 'CONFIG_INVALID', message: 'bad key', remedy: 'fix it', where: 'f.json:1:2', candidates: [OWNER, 'other'] },
  })
  expect(errorText(error, paint)).toBe('error: f.json:1:2: bad key (CONFIG_INVALID)\n  - x (environment a)\n  - other\nfix it')
  expect(failureJson({ owner: key('x', 'a'), error })).toEqual({
    owner: OWNER,
    code: 'CONFIG_INVALID',
    message: 'bad key',
    remedy: 'fix it',
  })
})

test('config check says ok only where nothing must be corrected', () => {
  expect(checkJson({ files: [], diagnostics: [{ code: 'c', severity: 'warning', message: 'm' }] })['ok']).toBe(true)
  expect(checkJson({ files: [], diagnostics: [{ code: 'c', severity: 'error', message: 'm' }] })['ok']).toBe(false)
})

test('the question names owner, environment, permissions, tool, hints, notes and arguments', () => {
  const text = questionText(
    { ...question('y'), owner: key('files', 'vm'), environmentId: 'vm', tool: 'write', title: 'Write a file' },
    paint,
  )
  for (const word of [
    'files (environment vm)',
    'workspace-write, writableRoots ["y"]',
    'write (Write a file)',
    'destructive',
    'y: y',
    '"list"',
  ])
    expect(text).toContain(word)
  expect(questionText({ ...question(), permissions: null }, paint)).toContain('not set')
})

test('long arguments are folded, and head, tail and length are still told', () => {
  const text = argumentsText({ command: `HEAD${'a'.repeat(5000)}TAIL` })
  expect(text.length).toBeLessThan(1000)
  expect(text).toMatch(/HEAD[\s\S]*4608 more characters[\s\S]*TAIL/)
  const many = argumentsText(Array.from({ length: 500 }, (_one, at) => at))
  expect(many.split('\n').length).toBeLessThan(30)
  expect(many).toMatch(/478 more lines, \d+ characters in all/)
})

test('columns are aligned by what a terminal shows', () => {
  expect(widthOf('日本e\u0301😀')).toBe(7)
  expect(
    table([
      ['a', 'b'],
      ['日本', 'c', ''],
      ['ccc', ''],
    ]),
  ).toBe('a     b\n日本  c\nccc')
  expect(
    table([
      [{ text: 'a', paint: (text) => `<${text}>` }, 'b'],
      ['ccc', 'd'],
    ]),
  ).toBe('<a>    b\nccc  d')
  expect(table([])).toBe('')
})
