/** Runs a check in a process of its own, and ends that where it does not come back. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ERROR_CODES, TaplineError } from '../../errors.ts'
import type { CheckedCall, CheckFinding, CheckReport, FindingKind } from '../../testing/check/finding.ts'
import { FINDING_REMEDIES } from '../../testing/check/finding.ts'
import type { CheckJob, CheckMessage } from './check-child.ts'

/** Limits and listeners of a run. */
export interface CheckChildOptions {
  /** ms without a sign of life after which the process is ended */
  readonly silentMs: number
  readonly signal: AbortSignal
  readonly cwd: string
  /** a line that the plugin wrote to stderr */
  readonly onLine: (line: string) => void
}

/** ms that what the process wrote may take to arrive once it has ended; what the plugin started may hold its pipes open for ever */
const REST_MS = 500

type Entered = Extract<CheckMessage, { readonly type: 'entered' }>

/** Gives the report. Rejects with HOOK_BAD_PLUGIN for what is no plugin, CALL_CANCELLED when it is interrupted. */
export async function runCheckChild(job: CheckJob, { silentMs, signal, cwd, onLine }: CheckChildOptions): Promise<CheckReport> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./check-child.js', import.meta.url)), JSON.stringify(job)], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const [, stdout, stderr, channel] = child.stdio as unknown as readonly [null, Readable, Readable, Readable]
  const end = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', end, { once: true })
  let wasSilent = false
  const silence = setTimeout(() => {
    wasSilent = true
    end()
  }, silentMs)
  let plugin: string | null = null
  let entered: Entered | null = null
  let written = ''
  let stray: string | null = null
  let last: CheckMessage | null = null
  stdout.setEncoding('utf8').on('data', (text: string) => (written = (written + text).slice(0, 60)))
  createInterface({ input: stderr }).on('line', onLine)
  createInterface({ input: channel }).on('line', (line) => {
    silence.refresh()
    const message = JSON.parse(line) as CheckMessage
    if (message.type === 'loaded') plugin = message.plugin
    else if (message.type === 'entered') entered = message
    else if (message.type === 'stray') stray ??= message.message
    else if (message.type !== 'alive') last = message
  })
  let rest: NodeJS.Timeout | undefined
  child.once('exit', () => {
    rest = setTimeout(() => [stdout, stderr, channel].forEach((pipe) => pipe.destroy()), REST_MS)
  })
  try {
    await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  } finally {
    clearTimeout(silence)
    clearTimeout(rest)
    signal.removeEventListener('abort', end)
  }
  if (signal.aborted) throw new TaplineError('CALL_CANCELLED', 'the check was interrupted')
  const result = last as CheckMessage | null
  if (result?.type === 'failed') throw failure(result)
  if (plugin === null) {
    const problem = wasSilent ? `has not loaded within ${silentMs} ms` : `ended its process while it was loaded`
    throw new TaplineError('HOOK_BAD_PLUGIN', `the hook plugin ${job.module.module} ${problem}`, {
      remedy: 'Do nothing while the module is loaded but make the plugin.',
    })
  }
  const report = result?.type === 'report' ? result.report : unfinished(plugin, job, entered, wasSilent, silentMs)
  return withMore(report, written, stray, job.options.allow ?? [])
}

function failure({ code, message, remedy }: Extract<CheckMessage, { readonly type: 'failed' }>): TaplineError {
  const known = ERROR_CODES.find((one) => one === code)
  return new TaplineError(known ?? 'INTERNAL', message, remedy === '' ? {} : { remedy })
}

/** The report of a check whose process did not get to its end. */
function unfinished(plugin: string, job: CheckJob, entered: Entered | null, wasSilent: boolean, silentMs: number): CheckReport {
  const message = wasSilent ? `has kept the event loop for ${silentMs} ms` : 'ended the process'
  const found = finding(plugin, wasSilent ? 'blocks_event_loop' : 'throws', message, entered)
  return { ok: false, findings: [found], plugin, taps: [], calls: 0, seed: job.options.seed ?? 1 }
}

/** What shows only from outside of the process. */
function withMore(report: CheckReport, written: string, stray: string | null, allow: readonly FindingKind[]): CheckReport {
  const findings = [...report.findings]
  if (written !== '' && !allow.includes('writes_to_stdout') && !findings.some(({ kind }) => kind === 'writes_to_stdout'))
    findings.push(finding(report.plugin, 'writes_to_stdout', `wrote ${JSON.stringify(written)} to stdout`, null))
  if (stray !== null && !allow.includes('throws'))
    findings.push(finding(report.plugin, 'throws', `threw where nobody waits for it: ${stray}`, null))
  return { ...report, ok: findings.every(({ level }) => level !== 'error'), findings }
}

function finding(plugin: string, kind: FindingKind, message: string, at: Entered | null): CheckFinding {
  const call: CheckedCall | null = at?.call ?? null
  return { kind, level: 'error', plugin, hook: at?.hook ?? null, tap: at?.tap ?? null, message, remedy: FINDING_REMEDIES[kind], call }
}
