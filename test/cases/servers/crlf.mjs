// node crlf.mjs WHO: a byte order mark first, lines that end in CR LF, frames cut in two between the bytes of a character, and lookalikes of answers.
import { createInterface } from 'node:readline'
import { note, text, tool } from './base.mjs'

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let last = Promise.resolve()
/** One frame after the other, each in two pieces. */
const send = (message) => {
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\r\n`)
  const at = bytes.indexOf(0xc3) + 1 || bytes.length >> 1
  last = last.then(async () => {
    process.stdout.write(bytes.subarray(0, at))
    await wait(10)
    process.stdout.write(bytes.subarray(at))
  })
}
process.stdout.write('\ufeffready on stdio\r\n\r\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  note('in', { method, id, params })
  if (id === undefined) return
  // as a log of the same conversation would look
  last = last.then(() =>
    process.stdout.write(
      [
        `[debug] <- ${line}`,
        JSON.stringify({ id, result: text('no jsonrpc member') }),
        JSON.stringify({ jsonrpc: '2.0', id: id + 1000, result: text('an id of nobody') }),
        JSON.stringify([{ jsonrpc: '2.0', id, result: text('in a list') }]),
        `{"jsonrpc":"2.0","id":${id},"result":{"content":[`,
        '',
      ].join('\n'),
    ),
  )
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'é', version: '1' } } })
  else if (method === 'tools/list') send({ id, result: { tools: [tool('echo')] } })
  else send({ id, result: text(`é ${params.arguments.s}`) })
})
