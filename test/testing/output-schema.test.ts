import { expect, test } from 'vitest'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

const weather = scriptedServer({
  tools: {
    temperature: {
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
      run: ({ city }) => {
        if (city === 'nowhere') throw new Error('there is no such city')
        const celsius = city === 'Ulm' ? 7 : 'mild'
        return { content: [{ type: 'text', text: String(celsius) }], structuredContent: { celsius } }
      },
    },
  },
})
const call = { server: 'weather', tool: 'temperature' }

test('a scripted tool lists its output schema, and an answer that fits arrives whole', async () => {
  await using t = await openTestRuntime({ threadWide: { weather } })
  const outcome = await t.callTool({ ...call, arguments: { city: 'Ulm' } })
  expect(outcome).toMatchObject({ outcome: 'completed', result: { structuredContent: { celsius: 7 } } })
  expect((await t.session.listTools()).tools[0]?.outputSchema).toMatchObject({ required: ['celsius'] })
})

test('an answer that does not fit is server_failed with the answer kept', async () => {
  await using t = await openTestRuntime({ threadWide: { weather } })
  const outcome = await t.callTool({ ...call, arguments: { city: 'Rome' } })
  expect(outcome).toMatchObject({
    outcome: 'server_failed',
    code: 'SERVER_FAILED',
    sent: 'yes',
    rawResult: { structuredContent: { celsius: 'mild' } },
  })
})

test('with outputSchema "report" it completes, and a diagnostic says what is wrong', async () => {
  await using t = await openTestRuntime({ threadWide: { weather }, policies: { weather: { outputSchema: 'report' } } })
  expect((await t.callTool({ ...call, arguments: { city: 'Rome' } })).outcome).toBe('completed')
  expect(t.session.diagnostics).toMatchObject([{ code: 'output_schema', severity: 'warning' }])
})

test('a failure of the tool itself is not held against the schema', async () => {
  await using t = await openTestRuntime({ threadWide: { weather } })
  const outcome = await t.callTool({ ...call, arguments: { city: 'nowhere' } })
  expect(outcome).toMatchObject({ outcome: 'completed', result: { isError: true } })
})
