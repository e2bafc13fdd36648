import { defineConfig } from 'vitest/config'
import { reporters } from './scripts/report.mjs'

export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts', 'test/chaos/**/*.test.ts'],
    setupFiles: ['test/state-folder.ts'],
    reporters: reporters(),
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
