// Reporters of the test runs: vitest's own for people and, where TAPLINE_TEST_REPORT names a file, vitest's JSON into that file.
import fs from 'node:fs/promises'
import path from 'node:path'
import { JsonReporter } from 'vitest/node'
import { ROOT } from './tools.mjs'

/** Writes without saying so: the summary for people stays the last thing on the screen. */
class SilentJsonReporter extends JsonReporter {
  constructor(file) {
    super({})
    this.file = file
  }

  async writeReport(report) {
    await fs.mkdir(path.dirname(this.file), { recursive: true })
    await fs.writeFile(this.file, report)
  }
}

export function reporters() {
  const file = process.env.TAPLINE_TEST_REPORT
  return file ? ['default', new SilentJsonReporter(path.resolve(ROOT, file))] : ['default']
}
