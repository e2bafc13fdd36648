// Adds up the counts of vitest reports (JSON) and prints `N passed, N failed`; fails on a failure, on a report that is missing
// and on one without a passed test.
import fs from 'node:fs'

const files = process.argv.slice(2)
let passed = 0
let failed = 0
let broken = files.length === 0
for (const file of files) {
  const report = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { numPassedTests: 0, numFailedTests: 0, success: false }
  passed += report.numPassedTests
  failed += report.numFailedTests
  if (report.success && report.numPassedTests > 0) continue
  broken = true
  console.error(
    `${file}: ${fs.existsSync(file) ? `${report.numPassedTests} passed, ${report.numFailedTests} failed` : 'no report, the run did not end'}`,
  )
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = broken || failed > 0 ? 1 : 0
