/** A server in memory, written by hand: it has the tool `run`, and what it answers to a call is up to the test. */
import type { MemoryServer } from '../src/connections/executors/memory.ts'

interface Call {
  readonly id: number
  readonly params: { readonly _meta?: { readonly progressToken: number } }
}

type Send = Parameters<MemoryServer>[0]['send']

/** `onCall` gets each `tools/call`; one that does nothing never answers. */
export function oneToolServer(onCall: (send: Send, call: Call) => void | Promise<void>): MemoryServer {
  return async ({ lines, send }) => {
    for await (const line of lines) {
      const { id, method, params } = JSON.parse(line) as Call & { method: string; params: { protocolVersion: string } }
      if (method === 'initialize')
        send({
          jsonrpc: '2.0',
          id,
          result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
        })
      if (method === 'tools/list') send({ jsonrpc: '2.0', id, result: { tools: [{ name: 'run', inputSchema: { type: 'object' } }] } })
      if (method === 'tools/call') void onCall(send, { id, params })
    }
  }
}
