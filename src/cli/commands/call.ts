/** `tapline call`: one tool call through the whole pipeline. */
import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { ToolCallRequest } from '../../runtime/types.ts'
import { approverFor } from '../approver.ts'
import type { Approve } from '../approver.ts'
import type { CliContext } from '../context.ts'
import { statusOfExplanation, statusOfOutcome } from '../exit-status.ts'
import { traceTo, withSession } from '../open.ts'
import { outcomeJson, outcomeNote, outcomeText } from '../render/outcome.ts'
import { explanationJson, explanationText } from '../render/explanation.ts'
import { traceText } from '../render/trace.ts'
import { requiredSelector } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'
import { wholeTraces } from '../whole-trace.ts'
import { writePrivateFile } from '../../storage/private-file.ts'
import { readToolArguments } from '../tool-arguments.ts'

/** Options of `call` and `explain`. */
export interface CallCommandOptions extends SelectorOptions {
  readonly approve?: Approve
  /** seconds, for the whole call */
  readonly timeout?: number
  readonly trace?: boolean
  readonly explain?: boolean
  /** file that records are appended to */
  readonly traceFile?: string
  /** file for the whole result */
  readonly output?: string
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
  const output = options.output === undefined ? undefined : resolve(context.cwd, options.output)
  if (output !== undefined && options.explain !== true) await mustBeWritable(output)
  const approver = options.explain === true ? undefined : approverFor(options.approve, context)
  const session = { ...(approver !== undefined && { approver }), ...traceTo(options.traceFile, context) }
  return withSession(context, session, async (session) => {
    if (options.explain === true) {
      const explanation = await progress.during(`explaining ${name}`, () => session.explain(request, { ...limits, trace: true }))
      await out.result({ json: () => explanationJson(explanation, asked), text: (paint) => explanationText(explanation, asked, paint) })
      return statusOfExplanation(explanation)
    }
    const traceOf = wholeTraces(session)
    const outcome = await progress.during(`calling ${name}`, () =>
      session.callTool(request, {
        ...limits,
        trace: options.trace === true,
        ...(output !== undefined && { overflowFile: output }),
        onProgress: ({ progress: done, total, message }) =>
          progress.update(`calling ${name}: ${message ?? `${done}${total === undefined ? '' : ` of ${total}`}`}`),
      }),
    )
    if (output !== undefined && outcome.outcome === 'completed' && outcome.overflow === undefined) await writeResult(output, outcome.result)
    // the text is there at once; one JSON document has everything
    const trace = out.json ? await traceOf(outcome) : undefined
    await out.result({ json: () => outcomeJson(outcome, asked, trace), text: () => outcomeText(outcome) })
    if (!out.json) {
      const note = outcomeNote(outcome, out.paintErr)
      if (note !== '') out.line(note)
      const whole = await traceOf(outcome)
      if (whole !== undefined) out.line(traceText(whole, out.paintErr))
    }
    return statusOfOutcome(outcome)
  })
}

/** Throws CLI_USAGE for a file that cannot be written: better before the tool has run than after it. */
async function mustBeWritable(file: string): Promise<void> {
  const there = await stat(file).catch(() => null)
  if (there?.isDirectory() === true) throw unwritable(`--output ${file} is a folder`)
  try {
    // a new file takes the place of the old one, except for devices
    await access(file.startsWith('/dev/') ? file : dirname(file), constants.W_OK)
  } catch (cause) {
    throw unwritable(`the result could not be written to ${file}: ${codeOf(cause)}; the tool was not called`, cause)
  }
}

/** A result within the limit; a larger one was written while it was whole. Throws CLI_USAGE where that fails, after the tool has run. */
async function writeResult(file: string, result: object): Promise<void> {
  try {
    await writePrivateFile(file, `${JSON.stringify(result)}\n`)
  } catch (cause) {
    throw unwritable(`the tool has run, but its result cannot be written to ${file}: ${codeOf(cause)}`, cause)
  }
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? String(cause)
const unwritable = (message: string, cause?: unknown): TaplineError =>
  new TaplineError('CLI_USAGE', message, { cause, remedy: 'Give --output a file in a folder that is there and may be written.' })

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
