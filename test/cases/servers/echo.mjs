// node echo.mjs WHO [TOOLS]: tools that say who was called and with which name; TOOLS is a JSON list of names or of whole tools.
import { note, serve, text, tool } from './base.mjs'

const [who, list = '["whoami"]'] = process.argv.slice(2)
const tools = JSON.parse(list).map((item) => (typeof item === 'string' ? tool(item) : item))
serve(
  {
    'tools/list': () => ({ tools }),
    'tools/call': ({ name, arguments: args, _meta }) => {
      note('ran', { tool: name, args })
      return text(`${who} ${name}`, { structuredContent: { args, meta: _meta ?? null } })
    },
    'resources/list': () => ({ resources: [{ uri: 'case://one', name: who }] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: who }] }),
  },
  { capabilities: { tools: {}, resources: {} } },
)
