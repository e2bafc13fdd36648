/** Each file of tests has a store of its own: what runtimes keep on disk by default must not end up in the home of whoever runs them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'tapline-state-'))
process.env['XDG_STATE_HOME'] = folder
afterAll(() => rmSync(folder, { recursive: true, force: true }))
