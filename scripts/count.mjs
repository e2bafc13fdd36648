// Adds up the counts of vitest reports (JSON) and prints `N passed, N failed`; fails on a failure, on a report that is missing
// and on one without a passed test. What failed is named once more here, since the end of a long log is what people are shown.
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
  for (const suite of report.testResults ?? []) {
    if (suite.status === 'failed' && suite.message) console.error(`  ${suite.name}: ${suite.message.slice(0, 2000)}`)
    for (const test of suite.assertionResults)
      if (test.status === 'failed')
        console.error(`  FAILED ${suite.name}: ${test.fullName}\n    ${test.failureMessages.join('\n').slice(0, 2000)}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = broken || failed > 0 ? 1 : 0
