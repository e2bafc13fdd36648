/** The innermost layer of `dispatch`: the only code that writes to a connection. */
import type { ListKind, RequestOptions } from '../connections/connection.ts'
import { isTaplineError, TaplineError } from '../errors.ts'
import { type CallRun, sealedCallOf } from '../hooks/call-run.ts'
import type { JsonObject } from '../json.ts'
import type { Method, Progress } from '../mcp.ts'
import { assertAuthority } from './authority.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { plainParams } from './plain-request.ts'
import { mayRepeat } from './repeat.ts'
import { metaOf } from './sandbox-contract.ts'
import { readToolResult } from './tool-result.ts'
import { inTurn } from './turns.ts'

/** How often a list that changes all the time is waited for. */
const REFRESHES = 5
const LISTS: Partial<Record<Method, ListKind>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}

/** Compares the authority and writes, in one turn. Called again (a retry), it does both again. */
export function send(callRun: CallRun): Promise<JsonObject> {
  const run = callRun as PipelineRun
  const { connection, entry, method } = sealedCallOf(run)
  return method === 'tools/call' && !entry.registration.policy.supportsParallelToolCalls ? inTurn(connection, run, attempt) : attempt(run)
}

function attempt(run: PipelineRun): Promise<JsonObject> {
  const { connection } = sealedCallOf(run)
  if (connection.tools !== null && connection.info !== null) return write(run)
  run.arguments.own()
  return refresh(run)
}

/** The owner has to start again, or its list is out of date: the call waits, and is compared with what is there then. */
async function refresh(run: PipelineRun, isRepeated = false): Promise<JsonObject> {
  for (let round = 0; round < REFRESHES; round++) {
    await sealedCallOf(run).connection.ready({ signal: run.signal })
    if (sealedCallOf(run).connection.tools !== null) return write(run, isRepeated)
  }
  throw new TaplineError('SERVER_FAILED', `${sealedCallOf(run).owner} changes its tools faster than they can be listed`, {
    data: { sent: 'no' },
  })
}

function write(run: PipelineRun, isRepeated = false): Promise<JsonObject> {
  const call = sealedCallOf(run)
  const { connection, owner } = call
  run.assertRunning()
  if (connection.key !== owner)
    throw new TaplineError('INTERNAL', `the connection of ${connection.key} was about to get a call of ${owner}`)
  assertAuthority(run)
  // what may have to be sent once more, or is written down, must not be the host's object any longer
  if (connection.transport === 'http' || run.host.recorder !== null) run.arguments.own()
  const kind = LISTS[call.method]
  // one page that the host asks for by its cursor is an ordinary request
  const list = kind !== undefined && typeof run.arguments.value['cursor'] === 'string' ? undefined : kind
  const params = list === undefined ? paramsOf(run) : {}
  const began = run.trace === null ? 0 : performance.now()
  const before = run.sent
  run.sent = 'yes'
  const answer =
    list === undefined
      ? connection.request(call.method, params, new WriteOptions(run))
      : connection.list(list, { signal: run.signal }).then(({ items, diagnostics }) => {
          for (const diagnostic of diagnostics) run.host.report(diagnostic)
          return { [list]: items }
        })
  return answer.then(
    (result) => {
      run.trace?.time('server', performance.now() - began)
      return run.method === 'tools/call' ? readToolResult(run, result) : result
    },
    (error: unknown) => {
      run.trace?.time('server', performance.now() - began)
      const sent = isTaplineError(error) ? error.data?.['sent'] : undefined
      // a try that reached nobody does not undo an earlier one that did
      if (sent === 'no') {
        run.sent = before
        // what could not be written as JSON was no request in the first place
        run.arguments.own()
      } else if (sent === 'unknown' && before !== 'yes') run.sent = 'unknown'
      if (!isRepeated && mayRepeat(call, error)) return refresh(run, true)
      throw error
    },
  )
}

/** Options of one write. A class, so that the signal of the call is made only where a connection reads it. */
class WriteOptions implements RequestOptions {
  readonly cancellation: CallRun
  readonly idleTimeoutMs: number
  readonly onProgress?: (progress: Progress) => void

  constructor(run: PipelineRun) {
    const { idleTimeoutMs, onProgress } = run.options
    this.cancellation = run
    this.idleTimeoutMs = idleTimeoutMs ?? sealedCallOf(run).entry.registration.policy.toolTimeoutMs
    if (onProgress !== undefined) this.onProgress = onProgress
  }

  get signal(): AbortSignal {
    return this.cancellation.signal
  }
}

/** The params of the request as they are written now. */
export function paramsOf(run: PipelineRun): JsonObject {
  const call = sealedCallOf(run)
  const meta = metaOf(run)
  const params: Record<string, unknown> =
    call.method === 'tools/call' ? { name: call.target, arguments: run.arguments.value } : plainParams(run)
  if (meta !== undefined) params['_meta'] = meta
  return params as JsonObject
}
