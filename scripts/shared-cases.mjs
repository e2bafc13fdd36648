// Runs the shared cases of a folder beside the clone against the built command: `node scripts/shared-cases.mjs ../shared/cases`.
// An assertion that needs a command which does not exist fails.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DIST } from './tools.mjs'

const CASES = '01 03 04 06 07 08 10 11 12 13 14 16 17 18 19 21 22 23 25 26 28 29 30 34 35'.split(' ')
/** Cases at once: they wait more than they compute. */
const LANES = 2

async function main(folder) {
  const { loadCases } = await import(pathToFileURL(path.resolve(folder, 'run.mjs')).href)
  const cases = await loadCases({ cli: path.join(DIST, 'cli', 'main.js'), only: CASES, strict: true })
  const total = { pass: 0, fail: 0, skip: 0 }
  async function runCase({ id, error, assertions }) {
    const lines = [id]
    const say = (verdict, text, why = '') => {
      total[verdict]++
      lines.push(`  ${verdict} ${text}${why && `\n       ${why.replaceAll('\n', '\n       ')}`}`)
    }
    if (error) say('fail', 'the case can be loaded', error)
    for (const { text, run } of assertions) {
      const { verdict, why, left } = await run()
      if (left.length > 0) say('fail', text, `left behind: ${left.join('; ')}`)
      else say(verdict, text, why)
    }
    console.log(lines.join('\n'))
  }
  const waiting = [...cases]
  async function lane() {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await runCase(one)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  console.log(`${total.pass} passed, ${total.fail} failed, ${total.skip} skipped`)
  return cases.length === CASES.length && total.fail === 0 && total.pass > 0 ? 0 : 1
}

process.exitCode = await main(process.argv[2] ?? '../shared/cases')
// nothing that a case left open may keep the run alive
setTimeout(() => process.exit(), 500).unref()
