// The MCP server of the examples: keeps notes in memory.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const notes = []
const server = new McpServer({ name: 'notes', version: '1.0.0' })
const says = (text) => ({ content: [{ type: 'text', text }] })

server.registerTool(
  'add',
  {
    description: 'Keeps a note.',
    inputSchema: { text: z.string() },
    // destroys nothing and stays in this process: nobody is asked
    annotations: { destructiveHint: false, openWorldHint: false },
  },
  ({ text }) => says(`note ${notes.push(text)}: ${text}`),
)
server.registerTool('list', { description: 'Lists the notes.', inputSchema: {}, annotations: { readOnlyHint: true } }, () =>
  says(notes.join('\n') || 'no notes'),
)
server.registerTool('clear', { description: 'Deletes every note.', inputSchema: {} }, () => says(`${notes.splice(0).length} deleted`))

await server.connect(new StdioServerTransport())
