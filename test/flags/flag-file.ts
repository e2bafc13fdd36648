/** A flagd definition file of one test, and what a roll-out with it gives. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** `multi_environment_mcp` for so many of a hundred keys. */
export function rollout(percent: number, name = 'multi_environment_mcp'): string {
  return JSON.stringify({
    $schema: 'https://flagd.dev/schema/v0/flags.json',
    flags: {
      [name]: {
        state: 'ENABLED',
        variants: { on: true, off: false },
        defaultVariant: 'off',
        targeting: {
          fractional: [
            ['on', percent],
            ['off', 100 - percent],
          ],
        },
      },
    },
  })
}

/** A mode flag with one answer for all. */
export function modeFlag(name: string, mode: 'off' | 'shadow' | 'enforce'): string {
  const variants = { off: 'off', shadow: 'shadow', enforce: 'enforce' }
  return JSON.stringify({ flags: { [name]: { state: 'ENABLED', variants, defaultVariant: mode } } })
}

/** A new folder that goes with the test. */
export async function flagFolder(): Promise<
  AsyncDisposable & { readonly path: (name: string) => string; readonly file: string; readonly write: (text: string) => Promise<void> }
> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-flags-'))
  const file = path.join(folder, 'flags.json')
  return {
    file,
    path: (name) => path.join(folder, name),
    write: (text) => writeFile(file, text),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
