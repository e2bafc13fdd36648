import os from 'node:os'
import { defineConfig } from 'vitest/config'
import { reporters } from './scripts/report.mjs'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/real/**', 'test/chaos/**'],
    setupFiles: ['test/state-folder.ts'],
    reporters: reporters(),
    maxWorkers: os.availableParallelism() + 3, // the tests wait for child processes more than they compute
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
