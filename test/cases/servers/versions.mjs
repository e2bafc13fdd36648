// node versions.mjs ANSWER: answers initialize with the JSON text, in which "ASKED" stands for the version that was asked for.
import { send, serve, text, tool } from './base.mjs'

const answer = process.argv[2]
serve({
  initialize: ({ protocolVersion }, { id }) => {
    const result = JSON.parse(answer.replaceAll('ASKED', protocolVersion))
    if (!result.twice) return result
    delete result.twice
    send({ id, result })
    send({ id, result: { ...result, protocolVersion: '1999-01-01' } })
    return undefined
  },
  'tools/list': () => ({ tools: [tool('t')] }),
  'tools/call': ({ name }) => text(name),
})
