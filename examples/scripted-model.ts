// Stands in for the API of a model, on loopback: the Responses API of OpenAI and the Messages API of Anthropic, with answers from a script.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** What the model says in one turn: text, and calls of tools by the last part of their name, with arguments as JSON text. */
export interface Turn {
  readonly text?: string
  readonly calls?: readonly (readonly [tool: string, args: string])[]
}
interface Request {
  readonly tools?: readonly { readonly name: string }[]
}

/** Starts it; each request gets the next turn. */
export async function scriptedModel(
  turns: readonly Turn[],
): Promise<{ readonly url: string; readonly requests: unknown[]; close(): void }> {
  const requests: unknown[] = []
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const turn = turns[requests.push(body) - 1] ?? { text: 'I have nothing more to say.' }
      const name = (tool: string): string => (body as Request).tools?.find((one) => one.name.endsWith(`__${tool}`))?.name ?? tool
      const calls = (turn.calls ?? []).map(([tool, args], at) => ({ id: `call_${requests.length}_${at}`, name: name(tool), args }))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(request.url?.endsWith('/messages') === true ? message(turn, calls) : modelResponse(turn, calls)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Calls = readonly { readonly id: string; readonly name: string; readonly args: string }[]

function modelResponse({ text }: Turn, calls: Calls): object {
  const said = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 0,
    status: 'completed',
    model: 'scripted',
    output: [
      ...(text === undefined ? [] : [said]),
      ...calls.map(({ id, name, args }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: args,
        status: 'completed',
      })),
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }
}

function message({ text }: Turn, calls: Calls): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as unknown })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}
