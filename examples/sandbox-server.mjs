// An MCP server whose commands run in the sandbox of the call that asks for them, or not at all.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { readSandbox, sandboxCapability } from 'tapline/sandbox'
import { z } from 'zod'

const server = new McpServer({ name: 'shell', version: '1.0.0' }, { capabilities: { experimental: { ...sandboxCapability } } })
const allowUnsandboxed = process.argv.includes('--allow-unsandboxed') // the operator's choice, never an argument of a tool
const text = (text, isError = false) => ({ content: [{ type: 'text', text }], isError })

const inputSchema = { command: z.string(), args: z.array(z.string()).default([]) }
server.registerTool('run', { description: 'Runs a command', inputSchema }, async ({ command, args }, { _meta, signal }) => {
  try {
    const { stdout, stderr, code, from } = await readSandbox(_meta, { allowUnsandboxed }).run(command, args, { signal })
    const note = code === 0 || from === 'command' ? '' : ', of the command or of the sandbox'
    return text(`${stdout}${stderr}exit status ${code}${note}`, code !== 0)
  } catch (error) {
    if (String(error.code).startsWith('SANDBOX_')) return text(`${error.code}: ${error.message}`, true)
    throw error
  }
})

await server.connect(new StdioServerTransport())
