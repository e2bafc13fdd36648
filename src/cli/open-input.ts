/** A file that somebody names on the command line, as a stream. */
import { constants, createReadStream, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'

/** The bytes of standard input, which ends with `signal`: whoever writes to it may take his time. */
export const openStdin = (stdin: Readable, signal: AbortSignal): AsyncIterable<Uint8Array> => addAbortSignal(signal, stdin)

/** The bytes of a file or pipe, until `signal` ends. Rejects for a folder and for what cannot be opened. */
export async function openInput(file: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const found = await stat(file)
  if (found.isDirectory()) throw new Error('it is a folder')
  if (!found.isFIFO()) return createReadStream(file, { signal })
  // opened and read in the usual way, a pipe that nobody writes to would hold a thread, and then not even Ctrl-C ends the process
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false, signal })
}
