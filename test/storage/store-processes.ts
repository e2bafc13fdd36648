import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Compiles the file store into a folder, since Node 20 cannot run TypeScript in a child process. */
export async function compileStore(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const options = [
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
    '--skipLibCheck',
    '--rewriteRelativeImportExtensions',
    '--rootDir',
    'src',
    '--outDir',
    folder,
  ]
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'src/storage/file-store.ts'],
    { cwd: root, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`tsc failed: ${stdout}`)
  return join(folder, 'storage/file-store.js')
}

/** A process of its own that runs `body` with a store; it prints `ready` before. */
export function storeProcess(module: string, folder: string, body: string): ChildProcess {
  const program = `import { fileStore } from ${JSON.stringify(module)}; const store = fileStore(${JSON.stringify(folder)}); console.log('ready'); ${body}`
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** How a process ended. */
export async function ended(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? child.signalCode
}
