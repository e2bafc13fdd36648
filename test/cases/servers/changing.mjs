// node changing.mjs MODE: says that its tools have changed while they are being listed.
import { note, send, serve, text, tool } from './base.mjs'

const mode = process.argv[2]
let lists = 0
const changed = () => send({ method: 'notifications/tools/list_changed' })
serve(
  {
    'tools/list': async () => {
      lists++
      // like a server that registers its last tools once it knows what the client can do
      if (mode === 'once' && lists === 1) changed()
      if (mode === 'grows' && lists === 1) {
        changed()
        return { tools: [tool('first')] }
      }
      if (mode === 'burst' && lists === 1) for (let i = 0; i < 200; i++) changed()
      if (mode === 'always') changed()
      return { tools: [tool('first'), tool('second')] }
    },
    'tools/call': ({ name }) => {
      note('ran', { tool: name })
      return text(name)
    },
  },
  { capabilities: { tools: { listChanged: true } } },
)
