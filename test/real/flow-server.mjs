// A program for slow-readers.test.ts: `flood` writes numbered lines once a line of input comes, `deaf GO` reads nothing until the file GO
// is there and then says what it has read, `echo` gives its input back.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'

const [what, argument] = process.argv.slice(2)
if (what === 'echo') process.stdin.pipe(process.stdout)
if (what === 'flood') {
  const count = Number(argument)
  let next = 0
  const go = () => {
    while (next < count) if (!process.stdout.write(`${String(next++).padStart(9, '0')} ${'y'.repeat(4085)}\n`)) return
  }
  process.stdout.on('drain', go)
  process.stdin.once('data', go)
}
if (what === 'deaf') {
  const timer = setInterval(() => {
    if (!existsSync(argument)) return
    clearInterval(timer)
    const hash = createHash('sha256')
    let bytes = 0
    process.stdin.on('data', (chunk) => {
      hash.update(chunk)
      bytes += chunk.length
      if (chunk.at(-1) === 10) process.stdout.write(`${bytes} ${hash.copy().digest('hex')}\n`)
    })
  }, 20)
}
