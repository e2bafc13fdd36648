/** The process in which `tapline hooks check` runs a plugin, which may block it, end it or write to its stdout. Says what happens on descriptor 3. */
import fs from 'node:fs'
import { isTaplineError, messageOf } from '../../errors.ts'
import type { HookModuleSpec } from '../../plugins/loader.ts'
import { loadHookModule } from '../../plugins/loader.ts'
import type { CheckedCall, CheckReport } from '../../testing/check/finding.ts'
import type { CheckPluginOptions } from '../../testing/check-plugin.ts'
import { runCheck } from '../../testing/check/run-check.ts'

/** What the process is started for, as JSON in its only argument. */
export interface CheckJob {
  readonly module: HookModuleSpec
  readonly options: CheckPluginOptions
}

/** One line of what it says. */
export type CheckMessage =
  | { readonly type: 'alive' }
  | { readonly type: 'loaded'; readonly plugin: string }
  | { readonly type: 'entered'; readonly hook: CheckedHook; readonly tap: string; readonly call: CheckedCall | null }
  | { readonly type: 'stray'; readonly message: string }
  | { readonly type: 'failed'; readonly code: string; readonly message: string; readonly remedy: string }
  | { readonly type: 'report'; readonly report: CheckReport }
type CheckedHook = CheckReport['taps'][number]['hook']

const ALIVE_MS = 500
const CHANNEL = 3

/** Written at once, because the next thing that happens may be that nothing happens any more. */
const say = (message: CheckMessage): void => void fs.writeSync(CHANNEL, `${JSON.stringify(message)}\n`)

const stray = (error: unknown): void => say({ type: 'stray', message: messageOf(error) })
process.on('uncaughtException', stray).on('unhandledRejection', stray)
setInterval(() => say({ type: 'alive' }), ALIVE_MS)

const job = JSON.parse(process.argv[2] as string) as CheckJob
try {
  const plugin = await loadHookModule(job.module)
  say({ type: 'loaded', plugin: plugin.name })
  const report = await runCheck(plugin, job.options, ({ hook, tap }, call) => say({ type: 'entered', hook, tap, call }))
  say({ type: 'report', report })
} catch (error) {
  const { code, remedy } = isTaplineError(error) ? error : { code: 'INTERNAL', remedy: '' }
  say({ type: 'failed', code, message: messageOf(error), remedy })
}
// whatever the plugin keeps open
process.exit(0)
