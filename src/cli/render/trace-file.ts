/** The records of a trace file for people. */
import type { CallRecord, GapRecord, SessionRecord, TraceRecord } from '../../trace/records.ts'
import type { Paint } from '../output.ts'
import { visible, visibleLine, visibleMessage } from './escape.ts'
import { outcomeWords, sentWords } from './outcome.ts'
import { ownerText } from './owner.ts'
import { table } from './table.ts'
import { flagText, ms, traceText } from './trace.ts'

/** One record, with all that there is to see of it. */
export function recordText(record: TraceRecord, paint: Paint): string {
  if (record.type === 'call') return callText(record, paint)
  return record.type === 'session' ? sessionText(record, paint) : gapText(record, paint)
}

/** The heading of the calls that follow. */
function sessionText(session: SessionRecord, paint: Paint): string {
  const { tapline, node, platform, pid, environments, flags, plugins } = session
  const facts = [
    ['', 'environments', environments.map(({ id, executor }) => `${visibleLine(id)} (${visibleLine(executor)})`).join(', ')],
    [
      '',
      'hook plugins',
      plugins.map(({ name, mode, flag }) => visibleLine(`${name} (${mode}${flag === undefined ? '' : `, by ${flag}`})`)).join(', '),
    ],
    ['', 'flags', flags.map(flagText).join(', ')],
    ['', 'process', visibleLine(`tapline ${tapline}, node ${node}, ${platform}, pid ${pid}`)],
  ].filter(([, , text]) => text !== '')
  return [`${paint.bold(`session ${visibleLine(session.session)}`)}  ${paint.dim(visibleLine(session.time))}`, table(facts)].join('\n')
}

/** A call: what it was and how it ended, then its time line. */
function callText(call: CallRecord, paint: Paint): string {
  const owner = call.owner === null ? 'no owner' : ownerText(call.owner)
  const what = call.method === 'tools/call' ? (call.tool ?? '') : call.method
  const isFailed = call.outcome !== 'completed' || call.isError === true
  const end = `${visibleLine(outcomeWords(call.outcome))}${call.isError === true ? ' with an error of the tool' : ''} after ${ms(call.durationMs)}`
  const ids = [visibleLine(call.time), ...(call.callId === call.id ? [] : [`call id ${visibleLine(call.callId)}`]), argumentsText(call)]
  return [
    `${paint.bold(`call ${visibleLine(call.id)}`)}  ${owner}  ${visibleLine(what)}  ${(isFailed ? paint.red : paint.green)(end)}`,
    `  ${paint.dim(ids.filter(Boolean).join(', '))}`,
    ...(call.message === undefined
      ? []
      : [`  ${visibleMessage(call.message)} ${paint.dim(`(${visibleLine(call.code)}; ${sentWords(call.sent)})`)}`]),
    ...(call.arguments?.value === undefined ? [] : [visible(JSON.stringify(call.arguments.value, null, 2)).replace(/^/gm, '    ')]),
    traceText(call.trace, paint).replace(/^/gm, '  '),
  ]
    .filter((line) => line.trim() !== '')
    .join('\n')
}

function argumentsText({ arguments: args }: CallRecord): string {
  return args === null ? '' : `arguments ${args.bytes} bytes, digest ${visibleLine(args.digest.slice(0, 8))}`
}

/** What is missing. */
function gapText({ records, time }: GapRecord, paint: Paint): string {
  return paint.yellow(`${records} ${records === 1 ? 'record' : 'records'} before ${visibleLine(time)} could not be written`)
}
