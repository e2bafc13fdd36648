// The AI SDK runs the loop of the agent; its tools run through the session. The model is scripted, on loopback.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs } from 'ai'
import { openSession } from 'tapline'
import { toTools } from 'tapline/ai-sdk'
import { scriptedModel } from './scripted-model.ts'

const model = await scriptedModel([
  { text: 'I write it down.', calls: [['add', '{"text":"buy milk"}']] },
  { text: 'Now I clear the list.', calls: [['clear', '{}']] },
  { text: 'Done.' },
])
const provider = createOpenAI({ baseURL: `${model.url}/v1`, apiKey: 'none' })
const session = await openSession({ config: 'examples/tapline.json' })
try {
  const { tools } = await session.listTools()
  const { steps } = await generateText({
    model: provider.responses('scripted'),
    prompt: 'Note that I have to buy milk, then start over.',
    tools: toTools(session, tools),
    stopWhen: stepCountIs(10),
  })
  for (const { text } of steps) console.log(`assistant: ${text}`)
  for (const message of steps.at(-1)?.response.messages ?? []) {
    if (message.role !== 'tool') continue
    for (const part of message.content) if (part.type === 'tool-result') console.log(`tool: ${JSON.stringify(part.output)}`)
  }
} finally {
  await session.close()
  model.close()
}
