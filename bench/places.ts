/** Where things are, seen from the compiled benchmarks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder of the package: scripts/bench.mjs starts every benchmark there. */
export const ROOT: string = process.cwd()
/** The server that everything is measured with. */
export const PLAIN_SERVER: string = join(ROOT, 'bench/servers/plain.mjs')
/** One that floods its client. */
export const NOISY_SERVER: string = join(ROOT, 'bench/servers/noisy.mjs')

/** A folder of its own, gone when the process ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
