// The loop of an agent with the Responses API of OpenAI. The model is scripted, on loopback.
import OpenAI from 'openai'
import { openSession } from 'tapline'
import { toOutput, toRequest, toTools } from 'tapline/openai'
import { scriptedModel } from './scripted-model.ts'

const model = await scriptedModel([
  {
    text: 'I write it down.',
    calls: [
      ['add', '{"text":"buy milk"}'],
      ['add', '{"text":'],
    ],
  },
  { text: 'Now I clear the list.', calls: [['clear', '{}']] },
  { text: 'Done.' },
])
const client = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'none' })
const session = await openSession({ config: 'examples/tapline.json' })
const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Note that I have to buy milk, then start over.' }]
try {
  for (let turn = 0; turn < 10; turn++) {
    const { tools } = await session.listTools()
    const response = await client.responses.create({ model: 'scripted', input, tools: toTools(tools) })
    console.log(`assistant: ${response.output_text}`)
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
    const calls = response.output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) break
    // callTool never rejects: a refusal or broken JSON is something to tell the model
    const outputs = await Promise.all(
      calls.map(async (item) => toOutput(item, await session.callTool(toRequest(item), { callId: item.call_id }))),
    )
    for (const { output } of outputs) console.log(`tool: ${JSON.stringify(output)}`)
    input.push(...outputs)
  }
} finally {
  await session.close()
  model.close()
}
