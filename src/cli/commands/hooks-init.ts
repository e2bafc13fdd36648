/** `tapline hooks init`: writes a package with a hook plugin that passes its own tests. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf, TaplineError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { pluginFiles } from '../hooks/plugin-files.ts'

/** Options of `hooks init`. */
export interface HooksInitOptions {
  readonly name?: string
}

/** What npm takes for a package, without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/

/** Exit status 0. Throws CLI_USAGE for a folder that is not empty or cannot be written, and for a name that is none of a package. */
export async function run({ out, cwd }: CliContext, target: string, { name }: HooksInitOptions): Promise<number> {
  const folder = path.resolve(cwd, target)
  const called = name ?? path.basename(folder).toLowerCase()
  if (!NAME.test(called))
    throw new TaplineError('CLI_USAGE', `${JSON.stringify(called)} is no name for a package`, {
      remedy: 'Give another one with --name: lower-case letters, digits, "-", "_" and ".", beginning with a letter or digit.',
    })
  const files = pluginFiles(called)
  try {
    await makeFolder(folder)
    const there = await readdir(folder)
    if (there.length > 0)
      throw new TaplineError('CLI_USAGE', `${folder} is not empty`, { remedy: 'Name a folder that does not exist yet.' })
    for (const [file, text] of Object.entries(files)) {
      const full = path.join(folder, file)
      await mkdir(path.dirname(full), { recursive: true })
      // never over something that came in the meantime
      await writeFile(full, text, { flag: 'wx' })
    }
  } catch (error) {
    if (error instanceof TaplineError) throw error
    throw new TaplineError('CLI_USAGE', `${folder} cannot be written: ${messageOf(error)}`, {
      cause: error,
      remedy: 'Name a folder that can be made.',
    })
  }
  const real = await realpath(folder)
  const next = [`cd ${path.relative(cwd, folder) || '.'}`, 'npm install', 'npm test']
  await out.result({
    json: () => ({ folder: real, name: called, files: Object.keys(files), next }),
    text: () =>
      [
        `wrote ${Object.keys(files).length} files to ${folder}`,
        ...Object.keys(files).map((file) => `  ${file}`),
        '',
        'next:',
        ...next.map((line) => `  ${line}`),
      ].join('\n'),
  })
  return EXIT_DONE
}

/** Folder by folder: `recursive` of Node 20 never ends where the system says of a folder that is there that it is not, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return
  await makeFolder(path.dirname(folder))
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    // somebody else was first
    if (error.code !== 'EEXIST') throw error
  })
}
