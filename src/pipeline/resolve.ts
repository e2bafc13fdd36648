/** The first tap of `resolve`: finds the owner, makes sure that its list is live, and seals the call. */
import type { Connection, ToolListing, ToolRecord } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { CallRun } from '../hooks/call-run.ts'
import { stripReserved } from '../hooks/reserved-metadata.ts'
import { isJsonObject, snapshot } from '../json.ts'
import type { Json } from '../json.ts'
import { nearest } from '../nearest.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { toolIsEnabled } from '../servers/definition.ts'
import { currentList } from './current-list.ts'
import type { PipelineRun } from './pipeline-run.ts'
import type { Located } from './tool-directory.ts'

/** Synchronous where the owner is connected and its list is current. */
export function resolve(callRun: CallRun): Promise<void> | undefined {
  const run = callRun as PipelineRun
  takeMeta(run)
  const located = run.host.resolver.locate(run.request, run)
  if (located instanceof Promise) {
    run.phase = 'start'
    return located.then((found) => meet(run, found))
  }
  return meet(run, located)
}

/** Reads what the call may rely on, starting the server where that is needed. */
function meet(run: PipelineRun, { entry, tool }: Located): Promise<void> | undefined {
  run.located = { owner: entry.key, tool: run.method === 'tools/call' ? tool : null }
  run.trace?.candidates([entry.key])
  const { policy, problem } = entry.registration
  if (!policy.enabled) throw new TaplineError('SERVER_DISABLED', `server ${entry.key} is disabled`)
  if (problem !== null) throw problem
  if (run.method === 'tools/call' && !toolIsEnabled(policy, tool))
    throw new TaplineError('CALL_TOOL_DISABLED', `tool ${JSON.stringify(tool)} of ${entry.key} is disabled by the configuration`)
  run.startLimit(policy.toolTotalTimeoutMs)
  const connection = run.host.connection(entry)
  run.trace?.connection(connection.id, connection.state === 'connected')
  const { tools } = connection
  if (tools !== null && connection.info !== null) {
    seal(run, entry, connection, tool, tools)
    return undefined
  }
  run.phase = 'start'
  return currentList(connection, run.signal).then((listing) => seal(run, entry, connection, tool, listing))
}

function seal(run: PipelineRun, entry: CatalogEntry, connection: Connection, target: string, listing: ToolListing): void {
  run.assertRunning()
  run.phase = 'resolve'
  const { registration } = entry
  const environment = run.host.environment(registration.executesOn)
  if (environment === undefined)
    throw new TaplineError(
      'ENVIRONMENT_UNKNOWN',
      `server ${entry.key} runs on the environment "${registration.executesOn}", which is not declared`,
    )
  const found = { entry, connection, environment }
  const { sealed } = run.host
  run.seal(
    run.method === 'tools/call' ? sealed.ofTool(found, listing, toolOf(entry, listing, target)) : sealed.of(found, run.method, target),
  )
}

function toolOf(entry: CatalogEntry, { tools }: ToolListing, name: string): ToolRecord {
  const record = tools.get(name)
  if (record !== undefined) return record
  const near = nearest(
    name,
    [...tools.keys()].filter((tool) => toolIsEnabled(entry.registration.policy, tool)),
  )
  throw new TaplineError(
    'UNKNOWN_TOOL',
    `${entry.key} has no tool ${JSON.stringify(name.slice(0, 140))}${near !== null ? `: did you mean ${JSON.stringify(near)}?` : ''}`,
  )
}

/** Takes the caller's `_meta` over, without what only the pipeline may set. */
function takeMeta(run: PipelineRun): void {
  const given: unknown = run.options.meta
  if (given === undefined) return
  if (!isJsonObject(given)) throw new TaplineError('CALL_INVALID_REQUEST', '_meta must be an object')
  let copy: Json
  try {
    copy = snapshot(given)
  } catch (error) {
    throw new TaplineError('CALL_INVALID_REQUEST', '_meta cannot be written as JSON', { cause: error })
  }
  // an object whose toJSON gives something else
  if (!isJsonObject(copy)) throw new TaplineError('CALL_INVALID_REQUEST', '_meta must be an object')
  const { kept, dropped } = stripReserved(copy)
  for (const key of dropped) run.trace?.meta(key, 'dropped')
  // a tap that sets one of these keys is told who has it
  for (const [key, value] of Object.entries(kept)) (run.patch ??= new Map()).set(key, { value, by: null })
}
