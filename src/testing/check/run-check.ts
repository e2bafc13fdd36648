/** The steps of a check. */
import { getEventListeners } from 'node:events'
import { isTaplineError, messageOf, TaplineError } from '../../errors.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import type { Session } from '../../runtime/types.ts'
import type { CheckPluginOptions } from '../check-plugin.ts'
import type { TestRuntime } from '../types.ts'
import { checkAborts } from './aborts.ts'
import { CheckRun } from './check-run.ts'
import type { OnEntered } from './check-run.ts'
import type { CheckReport } from './finding.ts'
import { FINDING_REMEDIES } from './finding.ts'
import { Findings } from './findings.ts'
import { checkFlood } from './flood.ts'
import { ProcessWatch } from './process-watch.ts'
import { checkReplays, inARow } from './replays.ts'
import type { CheckRequest } from './requests.ts'
import { failingRequests, ordinaryRequests } from './requests.ts'
import { checkTaps } from './tap-checks.ts'

/** how a session fails to open where apply throws, or registers what is no tap */
const BAD_APPLY: ReadonlySet<string> = new Set(['HOOK_BAD_PLUGIN', 'HOOK_BAD_TAP'])
const NOWHERE = { hook: null, tap: null }

/** Checks one plugin; `onEntered` is told of every tap that is about to run while calls are made one after the other. */
export async function runCheck(plugin: HookPlugin, options: CheckPluginOptions, onEntered: OnEntered | null = null): Promise<CheckReport> {
  const { calls = 2000, budgetMs = 100, hangMs = 1500, seed = 1, allow = [], flags = [] } = options
  number('calls', calls, 1, 20_000)
  number('budgetMs', budgetMs, 0.001, 3_600_000)
  number('hangMs', hangMs, 50, 3_600_000)
  number('seed', seed, 0, Number.MAX_SAFE_INTEGER)
  const unknown = allow.find((kind) => !Object.hasOwn(FINDING_REMEDIES, kind))
  if (unknown !== undefined) throw usage(`${JSON.stringify(unknown)} is no kind of finding`)
  const name = nameOf(plugin)
  const findings = new Findings(name ?? 'unnamed', allow)
  if (name === null || typeof plugin.apply !== 'function') {
    findings.add('bad_registration', NOWHERE, 'a hook plugin is an object with a name and an apply function')
    return report(findings, name ?? 'unnamed', [], 0, seed)
  }
  const watch = new ProcessWatch()
  const run = new CheckRun(plugin, findings, { seed, hangMs, flags, onEntered })
  try {
    const runtime = await openOrTell(run)
    if (runtime !== null) {
      try {
        await steps(run, runtime, watch, calls, budgetMs)
      } catch (error) {
        // apply failed for a later session, without which nothing more can be looked at
        if (!isTaplineError(error) || !BAD_APPLY.has(error.code)) throw error
        tellBadApply(run, error)
      } finally {
        await runtime.close()
      }
    }
  } finally {
    await run[Symbol.asyncDispose]()
    watch.stop((kind, message) => findings.add(kind, NOWHERE, message))
  }
  return report(findings, name, run.taps, run.count, seed)
}

async function openOrTell(run: CheckRun): Promise<TestRuntime | null> {
  try {
    return await run.open()
  } catch (error) {
    tellBadApply(run, error)
    return null
  }
}

function tellBadApply(run: CheckRun, error: unknown): void {
  const { hook = null, tap = null, remedy } = isTaplineError(error) ? error : {}
  const first = run.plugin.registrations.length <= 1
  run.findings.add(first ? 'bad_registration' : 'apply_twice', { hook, tap }, messageOf(error), null, first ? remedy : undefined)
}

async function steps(run: CheckRun, runtime: TestRuntime, watch: ProcessWatch, calls: number, budgetMs: number): Promise<void> {
  const { findings } = run
  const requests = ordinaryRequests(run.names)
  const { session } = runtime
  const opened: Session[] = []
  const openSession = async (): Promise<Session> => {
    const one = await runtime.openSession()
    opened.push(one)
    return one
  }
  const first = await inARow(run, requests, session)
  await again(run, requests, session)
  const listeners = listenersOf(run)
  await tracked(run, session, requests.slice(0, 24))
  await checkAborts(run, requests, session)
  await run.makeTogether(failingRequests(), session)
  await checkReplays(run, first, openSession)
  watch.isCrowded = true
  await checkFlood(run, first, session, calls)
  const grown = listenersOf(run) - listeners
  if (grown >= 10) findings.add('leaks_listeners', NOWHERE, `left ${grown} listeners on the signal of the session`)
  lateWrites(run, session)
  await Promise.all(opened.map((one) => one.close()))
  await new Promise((done) => setImmediate(done))
  await checkTaps(run, openSession, first, budgetMs)
}

/** Requests in which a tap seemed to keep the loop, often enough for it to be no chance. */
async function again(run: CheckRun, requests: readonly CheckRequest[], session: Session): Promise<void> {
  const suspects = new Set(run.taps.filter(({ isOut }) => !isOut).flatMap((tap) => [...tap.suspects]))
  for (const request of requests) if (suspects.has(request.label)) await inARow(run, [request, request, request, request], session)
}

/** The same calls with arguments and results that notice a write where the frozen ones only swallow it. */
async function tracked(run: CheckRun, session: Session, requests: readonly CheckRequest[]): Promise<void> {
  run.isTracking = true
  run.findings.muted = true
  try {
    await inARow(run, requests, session)
  } finally {
    run.isTracking = false
    run.findings.muted = false
  }
}

/** Listeners on the signal of the session that lives longest. */
function listenersOf(run: CheckRun): number {
  return Math.max(0, ...run.plugin.signals.map((signal) => getEventListeners(signal, 'abort').length))
}

/** Writes that nobody has heard of because the tap had ended. */
function lateWrites(run: CheckRun, session: Session): void {
  for (const { code, message } of session.diagnostics) {
    if (code !== 'late_write') continue
    const tap = run.taps.find((one) => message.includes(`"${one.tap}"`))
    run.findings.add('moves_owner', tap ?? NOWHERE, message)
  }
}

function report(findings: Findings, plugin: string, taps: CheckRun['taps'], calls: number, seed: number): CheckReport {
  const all = findings.all
  return Object.freeze({
    ok: all.every(({ level }) => level !== 'error'),
    findings: Object.freeze(all),
    plugin,
    taps: taps.map(({ hook, tap, runs }) => Object.freeze({ hook, tap, runs })),
    calls,
    seed,
  })
}

function nameOf(plugin: unknown): string | null {
  const name = (plugin as { readonly name?: unknown } | null | undefined)?.name
  return typeof plugin === 'object' && typeof name === 'string' && name.trim() !== '' ? name : null
}

function number(name: string, value: unknown, least: number, most: number): void {
  if (typeof value !== 'number' || !(value >= least && value <= most)) throw usage(`${name} must be a number from ${least} to ${most}`)
}

const usage = (message: string): TaplineError =>
  new TaplineError('CLI_USAGE', message, { remedy: 'Correct the options of checkPlugin; docs/guides/testing-plugins.md has them.' })
