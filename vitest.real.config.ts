import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { reporters } from './scripts/report.mjs'

/** Its test waits for what was begun with the run, so everything else comes before it. */
const LAST = /abandoned\.test\.ts$/

class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(({ moduleId }) => !LAST.test(moduleId)), ...sorted.filter(({ moduleId }) => LAST.test(moduleId))]
  }
}

export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts', 'test/chaos/**/*.test.ts'],
    globalSetup: ['test/real/abandoned.ts'],
    setupFiles: ['test/state-folder.ts'],
    reporters: reporters(),
    sequence: { sequencer: Order },
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
