/** Stand-ins for the real launcher, each in a new folder; what they were given is in `given.json` beside them. */
import { chmodSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []
afterAll(() => {
  for (const one of made) rmSync(one, { recursive: true, force: true })
})

/** Writes down its arguments, NUL between, then runs what follows `--` in its own place. */
export const RUNS = 'for word; do printf "%s\\0" "$word"; done > "${0%/*}/given"\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"'
/** Passes the probe; everything else goes as the body says. */
export const passing = (body: string): string => `case "$*" in *--help) exit 0;; esac\n${body}`

export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-sandbox-')))
  made.push(path)
  return path
}

/** A program of the shell; gives its path. */
export function script(body: string, file: string = join(folder(), 'codex')): string {
  // Written beside and moved: a file that is open for writing cannot be started.
  writeFileSync(`${file}.new`, `#!/bin/sh\n${body}\n`)
  chmodSync(`${file}.new`, 0o755)
  renameSync(`${file}.new`, file)
  return file
}

/** The arguments that a launcher of the body RUNS was given. */
export function givenTo(launcher: string): string[] {
  return readFileSync(join(dirname(launcher), 'given'), 'utf8')
    .split('\0')
    .slice(0, -1)
}

/** `_meta` of a call with both names and a launcher. */
export function metaOf(state: unknown, codexExecutable: unknown): Record<string, unknown> {
  return { 'codex/sandbox-state': state, 'codex/sandbox-state-meta': structuredClone(state), 'codex/sandbox-launcher': { codexExecutable } }
}
