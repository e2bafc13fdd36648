/** Writes down how every call ended. */
import path from 'node:path'
import { definePlugin } from '../../hooks/define-plugin.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import { AuditFile, type Rotation } from './audit-file.ts'
import { auditRecord, type KeptArguments } from './audit-record.ts'
import { type AuditSink, FunctionSink, type LineStream, StreamSink } from './audit-sink.ts'
import { type OptionReader, optionSchema } from './option-reader.ts'

/** Options of `auditLog`: one of `file`, `write` and `stream`. */
export interface AuditLogOptions {
  /** path; a relative one is taken from the working directory, in a configuration from the folder of its file. Made with mode 0600 */
  readonly file?: string
  /** gets each line with its line end; what it returns is waited for when the session closes */
  readonly write?: (line: string) => unknown
  /** a stream of Node's, such as `process.stderr`; it is not ended */
  readonly stream?: LineStream
  /** `digest`: SHA-256 of the canonical JSON; default `digest` */
  readonly arguments?: KeptArguments
  /** bytes after which the file gets another name and a new one is begun: 1024 or more, default never */
  readonly maxBytes?: number
  /** how many of the old files stay: 1 to 10,000, default all */
  readonly keep?: number
}

interface Settings {
  readonly arguments: KeptArguments
  readonly open: () => AuditSink
}

const SINKS = ['file', 'write', 'stream'] as const
const KEYS = [...SINKS, 'arguments', 'maxBytes', 'keep'] as const

/** One line of JSON for every call that ended, secrets of the configuration taken out. Calls never wait for it. A mistake in the options, and a file that cannot be written, is HOOK_BAD_PLUGIN. */
export const auditLog: (options: AuditLogOptions) => HookPlugin = definePlugin({
  name: 'audit-log',
  options: optionSchema<AuditLogOptions, Settings>(KEYS, readSettings),
  apply({ hooks, session }, settings) {
    const sink = settings.open()
    // a promise that rejects is a diagnostic of the session, and reaches no call
    hooks.settled.tapPromise('write', (event) =>
      sink.write(`${JSON.stringify(session.redact(auditRecord(event, session.id, settings.arguments)))}\n`),
    )
    return { [Symbol.asyncDispose]: () => sink.close() }
  },
})

function readSettings(options: OptionReader): Settings {
  const given = SINKS.filter((key) => options.has(key))
  if (given.length !== 1) options.fail('', `must have one of ${SINKS.join(', ')}`)
  const file = options.text('file')
  const write = options.function('write') as ((line: string) => unknown) | null
  const stream = options.object('stream', 'write') as LineStream | null
  const rotation: Rotation = {
    maxBytes: options.has('maxBytes') ? options.whole('maxBytes', 1024, { least: 1024, most: Number.MAX_SAFE_INTEGER }) : null,
    keep: options.has('keep') ? options.whole('keep', 1, { least: 1, most: 10_000 }) : null,
  }
  if (file === null) for (const key of ['maxBytes', 'keep'] as const) if (options.has(key)) options.fail(key, 'needs file')
  if (options.has('keep') && !options.has('maxBytes')) options.fail('keep', 'needs maxBytes')
  const absolute = file === null ? null : path.resolve(file)
  return {
    arguments: options.choice('arguments', 'digest', ['digest', 'full', 'none']),
    open: () => {
      if (absolute !== null) return new AuditFile(absolute, rotation)
      return write === null ? new StreamSink(stream as LineStream) : new FunctionSink(write)
    },
  }
}
