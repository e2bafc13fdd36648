/** Files of a place that can only start programs: `cat`, and a loop of the shell. */
import type { Executor, PlaceInfo, StdioProcess } from '../../executor.ts'
import { onAbort } from '../../on-abort.ts'
import { fileFailed } from '../file-failed.ts'

/** Most bytes of one file or listing. */
const FILE_LIMIT = 64 * 1024 * 1024

// one entry: d, f or o, the name, NUL
const LIST =
  'cd -- "$1" || exit 1; for f in .* *; do case $f in .|..) continue;; esac; if [ -d "$f" ]; then k=d; elif [ -f "$f" ]; then k=f; ' +
  'elif [ -e "$f" ] || [ -L "$f" ]; then k=o; else continue; fi; printf "%s%s\\000" "$k" "$f"; done'

// links in a file's own name are followed too; what `readlink` is missing for is a machine without -f
const REAL =
  '[ -e "$1" ] || { echo "there is nothing" >&2; exit 1; }; if [ -d "$1" ]; then cd -P -- "$1" && printf "%s" "$PWD"; else readlink -nf -- "$1"; fi'

type Context = { readonly signal: AbortSignal }
type Place = Pick<Executor, 'startStdio'>

/** The bytes of a file. Rejects with ENVIRONMENT_FILE_FAILED. */
export function readFarFile(place: Place, path: string, context: Context): Promise<Buffer> {
  return output(place, path, ['cat', '--', path], context)
}

/** What a folder holds, links followed. Rejects with ENVIRONMENT_FILE_FAILED. */
export async function listFarDirectory(
  place: Place,
  path: string,
  context: Context,
): Promise<{ readonly name: string; readonly kind: 'file' | 'directory' | 'other' }[]> {
  const listing = await output(place, path, ['sh', '-c', LIST, 'sh', path], context)
  return listing
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => ({ name: entry.slice(1), kind: entry[0] === 'd' ? 'directory' : entry[0] === 'f' ? 'file' : 'other' }))
}

/** What the place says of itself. */
export async function lookAround(place: Place, context: Context): Promise<PlaceInfo> {
  const answer = await output(place, '/', ['sh', '-c', 'uname -s; printf "%s" "$HOME"'], context)
  const [platform = '', home = ''] = answer.toString('utf8').split('\n')
  return { platform: platform.toLowerCase() || null, version: null, home: home || null }
}

/** The path with every link resolved. Rejects with ENVIRONMENT_FILE_FAILED. */
export async function realFarPath(place: Place, path: string, context: Context): Promise<string> {
  return (await output(place, path, ['sh', '-c', REAL, 'sh', path], context)).toString('utf8')
}

async function output(place: Place, path: string, argv: readonly string[], { signal }: Context): Promise<Buffer> {
  const [command = '', ...args] = argv
  const process = await place.startStdio({ command, args, cwd: '/', env: {}, label: path }, { signal })
  const stop = (): void => void process.kill('kill')
  const forget = onAbort(signal, stop)
  try {
    void process.endStdin()
    const [content, words, { code }] = await Promise.all([
      collect(process.stdout, FILE_LIMIT, stop),
      collect(process.stderr, FILE_LIMIT, stop),
      process.exited,
    ])
    signal.throwIfAborted()
    if (code === 0 && content !== null) return content
    throw fileFailed(path, content === null ? `it has more than ${FILE_LIMIT / 1024 / 1024} MiB` : (words ?? '').toString('utf8'))
  } finally {
    forget()
  }
}

async function collect(stream: StdioProcess['stdout'], limit: number, stop: () => void): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= limit) chunks.push(chunk)
    else if (bytes - chunk.length <= limit) stop()
  }
  return bytes > limit ? null : Buffer.concat(chunks)
}
