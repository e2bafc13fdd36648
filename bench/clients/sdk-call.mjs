// One call with the client of the MCP SDK. Argument: the script of the server.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const client = new Client({ name: 'bench', version: '1' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: [process.argv[2]], stderr: 'ignore' }))
const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
console.log(content[0].text)
await client.close()
