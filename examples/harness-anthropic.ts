// The loop of an agent with the Messages API of Anthropic. The model is scripted, on loopback.
import Anthropic from '@anthropic-ai/sdk'
import { openSession } from 'tapline'
import { toOutput, toRequest, toTools } from 'tapline/anthropic'
import { scriptedModel } from './scripted-model.ts'

const model = await scriptedModel([
  {
    text: 'I write it down.',
    calls: [
      ['add', '{"text":"buy milk"}'],
      ['add', '"milk"'],
    ],
  },
  { text: 'Now I clear the list.', calls: [['clear', '{}']] },
  { text: 'Done.' },
])
const client = new Anthropic({ baseURL: model.url, apiKey: 'none' })
const session = await openSession({ config: 'examples/tapline.json' })
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Note that I have to buy milk, then start over.' }]
try {
  for (let turn = 0; turn < 10; turn++) {
    const { tools } = await session.listTools()
    const answer = await client.messages.create({ model: 'scripted', max_tokens: 1024, messages, tools: toTools(tools) })
    messages.push({ role: 'assistant', content: answer.content })
    for (const block of answer.content) if (block.type === 'text') console.log(`assistant: ${block.text}`)
    const uses = answer.content.filter((block) => block.type === 'tool_use')
    if (uses.length === 0) break
    // callTool never rejects: a refusal or a wrong input is something to tell the model
    const results = await Promise.all(uses.map(async (use) => toOutput(use, await session.callTool(toRequest(use), { callId: use.id }))))
    for (const { is_error, content } of results) console.log(`tool: ${is_error ? 'error ' : ''}${JSON.stringify(content)}`)
    messages.push({ role: 'user', content: results })
  }
} finally {
  await session.close()
  model.close()
}
