/** The last tap of `attachMetadata` and the metadata of every write: what a server is told about the sandbox of its call (spec 70). */
import { isAbsolute } from 'node:path'
import type { CallRun } from '../hooks/call-run.ts'
import type { SealedCall } from '../hooks/sealed-call.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { LAUNCHER, STATE, STATE_ALIAS } from '../sandbox-keys.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { sandboxState } from './sandbox-state.ts'

/** Probes the launcher where this call can carry it. The state itself is computed at each write. */
export function prepareSandbox(callRun: CallRun): Promise<void> | undefined {
  const run = callRun as PipelineRun
  const call = run.sealed
  const executable = call.environment.spec.codexExecutable
  if (
    executable === null ||
    !isAbsolute(executable) ||
    call.environment.executor !== 'local' ||
    call.connection.transport !== 'stdio' ||
    !optsIn(call)
  )
    return undefined
  return run.host.probe.check(executable).then((passed) => {
    run.launcher = passed ? executable : null
  })
}

/** `_meta` of one write, computed from what holds at this moment; undefined where there is nothing to say. Throws SANDBOX_POLICY_UNREADABLE. */
export function metaOf(run: PipelineRun): JsonObject | undefined {
  const call = run.sealed
  const state =
    optsIn(call) && isInReach(run)
      ? sandboxState({
          permissions: call.environment.permissions,
          cwd: call.environment.cwd,
          codexExecutable: helperOf(run),
        })
      : undefined
  if (state === undefined && run.patch === null) return undefined
  const meta: Record<string, Json> = {}
  if (run.patch !== null) for (const [key, { value }] of run.patch) define(meta, key, value)
  if (state !== undefined) {
    meta[STATE] = state
    meta[STATE_ALIAS] = state
    run.trace?.meta(STATE, 'tapline')
    run.trace?.meta(STATE_ALIAS, 'tapline')
    // the file may have been replaced since the probe: taps, a person or an earlier try came in between
    if (run.launcher !== null && run.host.probe.known(run.launcher) === true) {
      meta[LAUNCHER] = { codexExecutable: run.launcher }
      run.trace?.meta(LAUNCHER, 'tapline')
    }
  }
  return meta
}

/** Either name of the capability turns on both keys; its value is not looked at. */
function optsIn(call: SealedCall): boolean {
  const experimental = call.connection.info?.capabilities['experimental']
  return isJsonObject(experimental) && (Object.hasOwn(experimental, STATE) || Object.hasOwn(experimental, STATE_ALIAS))
}

/** The executable as the helper that the state names. A script is none: the launcher starts it under the name of the helper, which a script does not learn; without one it finds its own. */
function helperOf({ sealed: { environment }, host }: PipelineRun): string | null {
  const executable = environment.spec.codexExecutable
  return executable !== null && environment.executor === 'local' && host.probe.isScript(executable) ? null : executable
}

/** A place beyond this machine that the session did not select gets no state. */
function isInReach(run: PipelineRun): boolean {
  const { environment } = run.sealed
  return environment.executor === 'local' || run.host.selected.includes(environment.id)
}

function define(meta: Record<string, Json>, key: string, value: Json): void {
  // a caller may name a key `__proto__`
  Object.defineProperty(meta, key, { value, enumerable: true, writable: true, configurable: true })
}
