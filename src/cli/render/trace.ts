/** The trace of a call in JSON and for people. */
import type { CallTrace, TapTrace } from '../../hooks/trace.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'

/** `trace` in JSON. */
export function traceJson(trace: CallTrace): Readonly<Record<string, unknown>> {
  return { ...trace, candidates: trace.candidates.map(ownerJson) }
}

/** A section for each part of the trace that has something to say. */
export function traceText(trace: CallTrace, paint: Paint): string {
  const parts: string[] = []
  const part = (title: string, text: string): void => {
    if (text !== '') parts.push(`${paint.bold(title)}\n${text}`)
  }
  part('candidates', trace.candidates.map((key) => `  ${ownerText(key)}`).join('\n'))
  part('taps', table(trace.taps.map((tap) => tapRow(tap))))
  part(
    'notes',
    table((trace.notes ?? []).map(({ hook, tap, plugin, text }) => ['', hook, visibleLine(tap), visibleLine(plugin), visibleLine(text)])),
  )
  if (trace.approval !== null) part('approval', `  ${trace.approval.source}, waited ${ms(trace.approval.waitedMs)}`)
  part('_meta', table(trace.metaKeys.map(({ key, by }) => ['', visibleLine(key), visibleLine(by)])))
  if (trace.connection !== null) part('connection', `  ${visibleLine(trace.connection.id)}${trace.connection.reused ? ', reused' : ''}`)
  part('flags', table(trace.flags.map(({ flagKey, value, source }) => ['', visibleLine(flagKey), visibleLine(String(value)), source])))
  part('timings', table(Object.entries(trace.timingsMs).map(([name, time]) => ['', name, ms(time)])))
  return parts.join('\n')
}

function tapRow(tap: TapTrace): string[] {
  const decision = `${tap.decision}${tap.changedArguments ? ', changed arguments' : ''}${tap.inEffect ? '' : ', not in effect'}`
  return ['', tap.hook, visibleLine(tap.tap), visibleLine(tap.plugin), decision, ms(tap.durationMs), visibleLine(tap.reason ?? '')]
}

const ms = (time: number): string => `${time.toFixed(time < 10 ? 1 : 0)} ms`
