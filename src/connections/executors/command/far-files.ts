/** Files of a place that can only start programs: `cat`, and a loop of the shell. */
import { TaplineError } from '../../../errors.ts'
import type { Executor, PlaceInfo, StdioProcess } from '../../executor.ts'
import { onAbort } from '../../on-abort.ts'
import { printable } from '../../printable.ts'

/** Most bytes of one file or listing. */
const FILE_LIMIT = 64 * 1024 * 1024

// one entry: d, f or o, the name, NUL
const LIST =
  'cd -- "$1" || exit 1; for f in .* *; do case $f in .|..) continue;; esac; if [ -d "$f" ]; then k=d; elif [ -f "$f" ]; then k=f; ' +
  'elif [ -e "$f" ] || [ -L "$f" ]; then k=o; else continue; fi; printf "%s%s\\000" "$k" "$f"; done'

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

/** The error about one path of an environment. */
export function fileFailed(path: string, why: string): TaplineError {
  return new TaplineError('ENVIRONMENT_FILE_FAILED', `${printable(path, 300)} cannot be read: ${printable(why, 300) || 'unknown reason'}`, {
    data: { path },
  })
}
