// A host for left-behind.test.ts: `node host.mjs wait|throw|close CONFIG`.
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import path from 'node:path'

const [how, config] = process.argv.slice(2)
const { openRuntime } = await import(pathToFileURL(path.join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href)
const runtime = await openRuntime({ config })
const session = await runtime.openSession()
const all = session.listTools()
all.catch(() => {})
if (how === 'close') {
  // some are up by now, some are not
  await sleep(3000)
  await runtime.close()
  await all.catch(() => {})
  process.stdout.write('closed\n')
} else {
  const { tools, errors } = await all
  process.stdout.write(`connected ${tools.length} ${errors.length}\n`)
  if (how === 'throw') {
    setTimeout(() => {
      throw new Error('nobody catches this')
    }, 100)
  }
}
setInterval(() => {}, 1000)
