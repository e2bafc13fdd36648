// node leaky.mjs MODE [ARGS]: says its secrets wherever a server can say something, and writes down what it was given.
import { note, serve, text, tool } from './base.mjs'

const [mode, ...args] = process.argv.slice(2)
const { API_TOKEN = '', SECOND = '' } = process.env
note('given', { args, env: process.env })

const everywhere = `token ${API_TOKEN} and ${SECOND}`
if (mode === 'dies') {
  const forms = [
    everywhere,
    JSON.stringify({ level: 'error', token: API_TOKEN, second: SECOND }),
    `args: ${args.join(' ')}`,
    `trimmed: ${API_TOKEN.trim()}`,
  ]
  process.stderr.write(`${forms.join('\n')}\ncannot go on\n`, () => process.exit(2))
} else if (mode === 'noisy') {
  process.stdout.write(`starting with ${everywhere}\n`)
  process.stderr.write(`${everywhere}\n`)
}
if (mode !== 'dies')
  serve(
    {
      initialize: ({ protocolVersion }) => {
        if (mode === 'refuses') throw Object.assign(new Error(`401 for ${everywhere}`), { code: -32001 })
        const serverInfo = { name: `info ${API_TOKEN}`, version: '1' }
        return { protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo, instructions: everywhere }
      },
      'tools/list': () => ({
        tools: [tool('hello', { description: `uses ${everywhere}`, title: `t ${API_TOKEN}` }), tool('fails'), tool('quits')],
      }),
      'tools/call': ({ name }) => {
        if (name === 'fails') throw Object.assign(new Error(`upstream said 401 for ${everywhere}`), { code: -32000 })
        if (name === 'quits') process.stderr.write(`dying with ${everywhere}\n`, () => process.exit(3))
        return name === 'quits' ? undefined : text('hello')
      },
      'resources/list': () => {
        throw Object.assign(new Error(`no resources for ${everywhere}`), { code: -32000 })
      },
    },
    { capabilities: { tools: {}, resources: {} } },
  )
