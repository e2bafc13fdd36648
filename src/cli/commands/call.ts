/** `tapline call`: one tool call through the whole pipeline. */
import { TaplineError } from '../../errors.ts'
import type { ToolCallRequest } from '../../runtime/types.ts'
import { approverFor } from '../approver.ts'
import type { Approve } from '../approver.ts'
import type { CliContext } from '../context.ts'
import { statusOfExplanation, statusOfOutcome } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { outcomeJson, outcomeNote, outcomeText } from '../render/outcome.ts'
import { explanationJson, explanationText } from '../render/explanation.ts'
import { traceText } from '../render/trace.ts'
import { requiredSelector } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'
import { readToolArguments } from '../tool-arguments.ts'

/** Options of `call` and `explain`. */
export interface CallCommandOptions extends SelectorOptions {
  readonly approve?: Approve
  /** seconds, for the whole call */
  readonly timeout?: number
  readonly trace?: boolean
  readonly explain?: boolean
}

/** Exit status of the outcome; with --explain nothing runs. `name` is a visible name, with --server a raw one. */
export async function run(context: CliContext, name: string, args: string | undefined, options: CallCommandOptions): Promise<number> {
  const { out, progress, interrupt } = context
  const target = targetOf(name, options)
  // a raw name stays what was asked for, also where no such tool is found
  const asked = target.name === undefined ? target.tool : null
  const value = await readToolArguments(args, context)
  const request: ToolCallRequest = value === undefined ? target : { ...target, arguments: value }
  const limits = { signal: interrupt.signal, ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }) }
  const approver = options.explain === true ? undefined : approverFor(options.approve, context)
  return withSession(context, approver === undefined ? {} : { approver }, async (session) => {
    if (options.explain === true) {
      const explanation = await progress.during(`explaining ${name}`, () => session.explain(request, { ...limits, trace: true }))
      await out.result({ json: () => explanationJson(explanation, asked), text: (paint) => explanationText(explanation, asked, paint) })
      return statusOfExplanation(explanation)
    }
    const outcome = await progress.during(`calling ${name}`, () =>
      session.callTool(request, {
        ...limits,
        trace: options.trace === true,
        onProgress: ({ progress: done, total, message }) =>
          progress.update(`calling ${name}: ${message ?? `${done}${total === undefined ? '' : ` of ${total}`}`}`),
      }),
    )
    await out.result({ json: () => outcomeJson(outcome, asked), text: () => outcomeText(outcome) })
    if (!out.json) {
      const note = outcomeNote(outcome, out.paintErr)
      if (note !== '') out.line(note)
      if (options.trace === true && outcome.trace !== undefined) out.line(traceText(outcome.trace, out.paintErr))
    }
    return statusOfOutcome(outcome)
  })
}

type Target = Exclude<ToolCallRequest, { readonly owner: unknown }>

/** The call as the request names it. Throws CLI_USAGE for --environment or --installation without --server. */
export function targetOf(name: string, options: SelectorOptions): Target {
  if (options.server !== undefined && options.server !== '') return { ...requiredSelector(options), tool: name }
  if (options.environment || options.installation) {
    throw new TaplineError('CLI_USAGE', `--${options.environment ? 'environment' : 'installation'} needs --server`, {
      remedy: 'A visible name already says which server is meant: leave the option out, or name the server and the raw tool name.',
    })
  }
  return { name }
}
