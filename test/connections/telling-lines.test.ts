import { expect, test } from 'vitest'
import { tellingLines } from '../../src/connections/telling-lines.ts'

/** As lines of stderr are kept: trimmed. */
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim())

test('an error of Node is seen behind its stack', () => {
  const shown = tellingLines(
    lines(`node:internal/modules/esm/resolve:275
    throw new ERR_MODULE_NOT_FOUND(
          ^
    Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/server.mjs
        at packageResolve (node:internal/modules/esm/resolve:873:9)
        at async ModuleLoader.import (node:internal/modules/esm/loader:578:7)
        at file:///srv/server.mjs:3:1
        at ModuleJob._link (node:internal/modules/esm/module_job:168:49) {
      code: 'ERR_MODULE_NOT_FOUND'
    }
    Node.js v20.20.2`),
  )
  expect(shown).toContain("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/server.mjs")
  expect(shown).toHaveLength(5)
})

test('a line of prose is no frame, and a stack alone is better than nothing', () => {
  expect(tellingLines(['at startup: no API_KEY', 'at 12:30', '}'])).toEqual(['at startup: no API_KEY', 'at 12:30'])
  expect(tellingLines(['at a (b.js:1:2)', 'at Main.run(Main.java:12)'])).toHaveLength(2)
  expect(tellingLines(['1', '2', '3', '4', '5', '6'])).toEqual(['2', '3', '4', '5', '6'])
})
