// node meta.mjs EXPERIMENTAL: announces the JSON text as `capabilities.experimental` (`-`: nothing) and gives back the metadata of each call.
import { serve, text, tool } from './base.mjs'

const experimental = process.argv[2]
serve(
  {
    'tools/list': () => ({ tools: [tool('echo', { annotations: { readOnlyHint: true } })] }),
    'tools/call': ({ _meta }) => text(JSON.stringify(_meta ?? null)),
  },
  { capabilities: { tools: {}, ...(experimental === '-' ? {} : { experimental: JSON.parse(experimental) }) } },
)
