// The loop of an agent. The model is scripted, so that the example needs no network.
import { openSession, type Approver, type CallOutcome, type Tool } from 'tapline'

interface ToolUse {
  readonly id: string
  readonly name: string
  /** JSON, as models write it: it may be broken */
  readonly arguments: string
}
type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly uses: readonly ToolUse[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string; readonly isError: boolean }

/** Stands in for a model: looks at the messages, answers with text or with tool calls. */
function model(messages: readonly Message[], tools: readonly Tool[]): { text: string; uses: ToolUse[] } {
  const name = (tool: string): string => tools.find((one) => one.tool === tool)?.name ?? tool
  switch (messages.filter(({ role }) => role === 'assistant').length) {
    case 0:
      return {
        text: 'I write it down and look.',
        uses: [
          { id: 'call-1', name: name('add'), arguments: '{"text":"buy milk"}' },
          { id: 'call-2', name: name('add'), arguments: '{"text":' },
        ],
      }
    case 1:
      return { text: 'Now I clear the list.', uses: [{ id: 'call-3', name: name('clear'), arguments: '{}' }] }
    default:
      return { text: 'Done.', uses: [] }
  }
}

/** Broken JSON is handed on as the text that it is: the call ends as `invalid_request`, and the model is told. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// asks a person; here everybody agrees
const approver: Approver = async ({ owner, tool }) => {
  console.log(`? ${tool} of ${String(owner)}: yes`)
  return { action: 'accept' }
}

const session = await openSession({ config: 'examples/tapline.json', approver })
const messages: Message[] = [{ role: 'user', text: 'Note that I have to buy milk, then start over.' }]
try {
  for (let turn = 0; turn < 10; turn++) {
    const { tools } = await session.listTools()
    const { text, uses } = model(messages, tools)
    messages.push({ role: 'assistant', text, uses })
    console.log(`assistant: ${text}`)
    if (uses.length === 0) break
    // the calls of one turn may run at the same time; callTool never rejects
    const outcomes = await Promise.all(
      uses.map(
        async (use): Promise<CallOutcome> => session.callTool({ name: use.name, arguments: parsed(use.arguments) }, { callId: use.id }),
      ),
    )
    for (const { callId, outcome, forModel } of outcomes) {
      messages.push({ role: 'tool', id: callId, text: forModel.text, isError: forModel.isError })
      console.log(`${callId}: ${outcome} - ${forModel.text}`)
    }
  }
} finally {
  await session.close()
}
