/** `checkPlugin`: the conformance kit for hook plugins. */
import type { Flag } from '../flags/flag.ts'
import type { HookPlugin } from '../hooks/plugin.ts'
import type { CheckReport, FindingKind } from './check/finding.ts'
import { runCheck } from './check/run-check.ts'

/** Settings of a check. */
export interface CheckPluginOptions {
  /** calls that are made at once, 1 to 20,000; default 2000 */
  readonly calls?: number
  /** ms of its own that a tap may take in the middle of its runs; default 100 */
  readonly budgetMs?: number
  /** ms of its own after which a tap hangs, at most its `timeoutMs`; default 1500 */
  readonly hangMs?: number
  /** orders and random numbers; the same seed gives the same findings; default 1 */
  readonly seed?: number
  /** kinds that are meant: a limiter keeps `state_between_calls` */
  readonly allow?: readonly FindingKind[]
  /** flags that the plugin reads */
  readonly flags?: readonly Flag[]
}

/**
 * Runs the plugin in a real runtime on servers in memory, against hostile arguments, odd names, every kind of answer, aborted calls and
 * two thousand calls at once, and tells what is wrong with it. About two seconds. Knows no test runner; rejects with CLI_USAGE for options
 * that make no sense, and with nothing else: also what is no plugin gives a report.
 */
export function checkPlugin(plugin: HookPlugin, options: CheckPluginOptions = {}): Promise<CheckReport> {
  return runCheck(plugin, options)
}
