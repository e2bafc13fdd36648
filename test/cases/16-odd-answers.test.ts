/** Errors of tools whose structured content fits nothing, answers that miss their output schema in other ways, and odd input schemas. */
import { expect, test } from 'vitest'
import { Case, SLOW } from './driver.ts'
import { on, sessionOn } from './session.ts'

test('an error of a tool arrives whole: with structured content that is a list, and without any content', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  expect(await session.callTool(on('error_list'))).toMatchObject({
    outcome: 'completed',
    result: { isError: true, structuredContent: ['not', 'an', 'object'], more: { kept: 1 } },
    forModel: { isError: true, text: 'failed' },
  })
  expect(await session.callTool(on('error_bare'))).toMatchObject({ outcome: 'completed', result: { isError: true, content: [] } })
  // a word is no flag: this is a plain answer, which fits
  const word = await session.callTool(on('error_word'))
  expect(word).toMatchObject({ outcome: 'completed', result: { isError: 'yes' }, forModel: { isError: false } })
  expect(session.diagnostics.filter(({ code }) => code === 'output_schema')).toEqual([])
})

test('structured content that is null or only in the text is missing; a schema that refers elsewhere checks nothing', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  for (const tool of ['null_structured', 'text_structured']) {
    const outcome = await session.callTool(on(tool))
    expect(outcome).toMatchObject({ outcome: 'server_failed', sent: 'yes', rawResult: { content: [{ type: 'text' }] } })
    expect(outcome.outcome === 'server_failed' && outcome.message).toMatch(new RegExp(`${tool} \\(s\\)`))
  }
  expect(await session.callTool(on('ref_output'))).toMatchObject({ outcome: 'completed', result: { structuredContent: { anything: 1 } } })
  expect(session.diagnostics.map(({ code }) => code)).toContain('schema_unusable')
  await using lenient = await sessionOn(at, 'answers.mjs', { outputSchema: 'report' })
  expect(await lenient.callTool(on('null_structured'))).toMatchObject({ outcome: 'completed', result: { structuredContent: null } })
  expect(lenient.diagnostics.map(({ code }) => code)).toContain('output_schema')
})

test('old dialects, names of Object.prototype and schemas that refer to each other: what can be checked is checked', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  const outcomeOf = async (tool: string, args: unknown): Promise<string> => (await session.callTool(on(tool, args))).outcome
  expect(await outcomeOf('words', { constructor: 'x', toString: 1 })).toBe('completed')
  expect(await outcomeOf('words', { toString: 'not a number' })).toBe('invalid_request')
  expect(await outcomeOf('words', {})).toBe('completed')
  expect(await outcomeOf('false_property', { any: 1 })).toBe('completed')
  expect(await outcomeOf('false_property', { never: 1 })).toBe('invalid_request')
  // neither hangs nor takes the host down
  expect(['completed', 'invalid_request']).toContain(await outcomeOf('circle', { a: 1 }))
  expect(await outcomeOf('draft4', { n: 1 })).toBe('completed')
  expect(at.ledger({ ev: 'ran' }).map((entry) => entry['tool'])).not.toContain('never')
})
