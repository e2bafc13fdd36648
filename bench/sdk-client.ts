/** The peer: the client of the MCP SDK as its documentation shows it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

/** A connected client of the SDK. */
export async function sdkClient(script: string, args: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script, ...args], stderr: 'ignore' }))
  return client
}
