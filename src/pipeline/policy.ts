/** The last tap of `approve`: combines verdicts, mode and policy (deny > ask > allow > policy), and has somebody answer what is left. */
import { TaplineError } from '../errors.ts'
import type { CallRun } from '../hooks/call-run.ts'
import { assertAuthority } from './authority.ts'
import { consult } from './consult.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { assertReadable } from './plain-request.ts'
import type { CompiledSchema } from './tool-schema.ts'
import { untrustedRemedy } from './untrusted-remedy.ts'

/** Synchronous where nobody is asked and the schema of the tool was compiled before. */
export function decide(callRun: CallRun): Promise<void> | undefined {
  const run = callRun as PipelineRun
  const { tool } = run.sealed
  if (tool === null) {
    assertReadable(run)
    return judge(run)
  }
  const schema = run.host.schemas.get(tool)
  if (schema !== null) return check(run, schema)
  // the host could change its object while the schema is being compiled
  run.arguments.own()
  return run.host.schemas.prepare(tool).then((compiled) => check(run, compiled))
}

function check(run: PipelineRun, schema: CompiledSchema): Promise<void> | undefined {
  const { owner, target } = run.sealed
  let problem = schema.check(run.arguments.value)
  if (problem !== null) {
    // the host's object may hold what JSON leaves out or writes otherwise: undefined, dates
    run.arguments.own()
    problem = schema.check(run.arguments.value)
  }
  if (problem !== null)
    throw new TaplineError('CALL_INVALID_REQUEST', `the arguments of ${target} (${owner}) do not fit its schema: ${problem}`)
  if (schema.disabled !== null)
    run.host.reportOnce(`schema ${owner} ${target}`, {
      code: 'schema_unusable',
      severity: 'warning',
      message: `arguments of ${target} (${owner}) are not checked: ${schema.disabled}`,
      owner,
    })
  return judge(run)
}

function judge(run: PipelineRun): Promise<void> | undefined {
  // nobody is asked about what will not be sent
  assertAuthority(run)
  const { target, mode, need, question, governance, owner } = run.sealed
  if (mode === 'deny') {
    throw new TaplineError('CALL_REFUSED', `tool ${JSON.stringify(target)} of ${owner} has the approval mode "deny"`, {
      data: { by: 'policy', reason: 'the approval mode of the tool is "deny"' },
    })
  }
  const asks = run.votes?.filter((vote) => vote.kind === 'ask') ?? []
  if (asks.length > 0) {
    // a plugin wants a person, and full access does not answer for one
    if (governance.approvalPolicy === 'never') throw never(run)
    return consult(run, asks, false)
  }
  if (question === null) {
    if (need === 'refuse') throw never(run)
    run.trace?.approval(mode === 'approve' ? 'mode' : 'not_needed')
    return undefined
  }
  if (run.votes?.some((vote) => vote.kind === 'allow')) run.trace?.approval('tap')
  else if (mode !== 'prompt' && run.host.memory.has(run.sealed)) run.trace?.approval('remembered')
  else return consult(run, [], mode !== 'prompt')
  return undefined
}

function never(run: PipelineRun): TaplineError {
  const { target, owner, environment } = run.sealed
  const trust = untrustedRemedy(run)
  return new TaplineError(
    'APPROVAL_POLICY_NEVER',
    `${target || run.method} of ${owner} needs approval, but the approval policy of environment "${environment.id}" is never`,
    trust === null ? {} : { remedy: `Change approvalPolicy of the environment, or the approval mode of the tool, or ${trust}` },
  )
}
