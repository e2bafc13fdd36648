import * as fc from 'fast-check'
import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import { TaplineError } from '../../src/errors.ts'
import { checkText, showText } from '../../src/cli/render/config.ts'
import { blockText, contentsText } from '../../src/cli/render/content.ts'
import { diagnosticText } from '../../src/cli/render/diagnostic.ts'
import { cut, jsonForTerminal, visible, visibleLine } from '../../src/cli/render/escape.ts'
import { debugText, errorText, failureText } from '../../src/cli/render/failure.ts'
import { flagExplanationText, flagListText } from '../../src/cli/render/flag.ts'
import { simulationText } from '../../src/cli/render/simulation.ts'
import { outcomeNote, outcomeText } from '../../src/cli/render/outcome.ts'
import { ownerText } from '../../src/cli/render/owner.ts'
import { questionText } from '../../src/cli/render/question.ts'
import { contentsListText, resourceListText } from '../../src/cli/render/resource.ts'
import { statusPageText } from '../../src/cli/render/status.ts'
import { limitedTo, toolListText } from '../../src/cli/render/tool.ts'
import { explanationText } from '../../src/cli/render/explanation.ts'
import { traceText } from '../../src/cli/render/trace.ts'
import { key, outcomes, question, resource, statusRow, tool, trace } from './samples.ts'

const paint = picocolors.createColors(false)
// oxlint-disable-next-line no-control-regex -- to find them is the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

const nasty = fc.string({
  unit: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u009b2J',
        '\r',
        '\n',
        '\t',
        '\u0000',
        '\u007f',
        '\u0085',
        '\u2028',
        '\u202e',
        '\u2066',
        '\ud83d\ude00',
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
  ),
  minLength: 1,
  maxLength: 12,
})

/** Everything that is printed for people, with this text wherever a stranger could have put it. */
function everything(text: string): string[] {
  const error = new TaplineError('SERVER_FAILED', text, { remedy: text, where: text, data: { candidates: [text, key(text, text)] } })
  const diagnostic = { code: text, severity: 'warning', message: text, where: text } as const
  const flag = { name: text, default: text, description: text, stage: 'stable', variants: [text] } as const
  const evaluated = {
    flag,
    statements: [
      { source: 'provider', reason: 'ERROR', errorCode: text, errorMessage: text, variant: text },
      { source: 'default', reason: text, value: text, where: text },
    ],
    details: { flagKey: text, value: text, reason: text, source: 'default' },
  } as const
  return [
    ...Object.values(outcomes(text)).flatMap((outcome) => [
      outcomeText(outcome),
      outcomeNote(outcome, paint),
      explanationText(
        {
          owner: key(text),
          tool: text,
          wouldEnd: outcome.outcome,
          outcome,
          trace: trace(text),
          wouldSend: { method: 'tools/call', params: { [text]: text } },
        },
        text,
        paint,
      ),
    ]),
    ownerText(key(text, text, text)),
    traceText(trace(text), paint),
    toolListText({ tools: [tool(text), tool('plain')], resourceTools: [] }, paint),
    limitedTo({ server: text, environmentId: text }),
    statusPageText({ data: [statusRow(text)], nextCursor: text }, paint),
    resourceListText({ items: [resource(text)], errors: [], nextCursor: text }, paint),
    contentsListText({
      contents: [
        { uri: text, text },
        { uri: text, blob: text, mimeType: text },
      ],
    }),
    contentsText({ uri: text }),
    questionText(question(text), paint),
    errorText(error, paint),
    debugText(new Error(text, { cause: new Error(text, { cause: { text } }) })),
    failureText({ owner: key(text), error }, paint),
    diagnosticText(diagnostic, paint),
    checkText({ files: [{ path: text, kind: 'named' }], diagnostics: [diagnostic] }, paint),
    showText({ [text]: text }),
    flagListText([evaluated], paint),
    flagExplanationText(evaluated, paint),
    simulationText(5, [{ name: text, enabled: true, shares: [{ variant: text, value: text, count: 5, share: 1 }], errors: [text] }], paint),
    blockText({ type: text, data: text }),
    blockText({ type: 'image', data: text, mimeType: text }),
    blockText({ type: 'resource_link', uri: text, name: text }),
    blockText({ type: 'resource', resource: { uri: text, text } }),
    blockText({ type: 'text', text: 5 }),
  ]
}

test('nothing that is printed for people has a raw control character other than newline and tab', () => {
  fc.assert(
    fc.property(nasty, (text) => {
      for (const printed of everything(text)) expect(printed).not.toMatch(CONTROL)
    }),
    { numRuns: 300 },
  )
})

test('an escape sequence is shown, not dropped', () => {
  expect(visible('a\u001b[2Jb\u009b\u007f')).toBe('a\\u001b[2Jb\\u009b\\u007f')
  expect(visibleLine('a\nb\tc\rd')).toBe('a\\nb\\tc\\rd')
  expect(visible('a\r\nb\rc\n\td')).toBe('a\nb\\rc\n\td')
  expect(visible('\u202egnp.exe')).toBe('\\u202egnp.exe')
  expect(visible('Grüße 日本 😀')).toBe('Grüße 日本 😀')
})

test('JSON stays the same value and carries no control character', () => {
  fc.assert(
    fc.property(fc.jsonValue(), nasty, (value, text) => {
      const safe = jsonForTerminal(JSON.stringify([value, text]))
      expect(safe).not.toMatch(CONTROL)
      expect(JSON.parse(safe)).toEqual(JSON.parse(JSON.stringify([value, text])))
    }),
  )
})

test('a text is cut at code points', () => {
  expect(cut('😀😀😀', 3)).toBe('😀😀😀')
  expect(cut('😀😀😀😀', 3)).toBe('😀😀…')
})
