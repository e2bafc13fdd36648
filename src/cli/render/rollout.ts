/** The report of a rollout for people. */
import type { EffectCounts, PluginReport, RolloutReport, VariantReport } from '../../trace/rollout-report.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { ownerText } from './owner.ts'
import type { Cell } from './table.ts'
import { table } from './table.ts'
import { effectText, ms } from './trace.ts'

/** tools that are shown of each plugin */
const TOOLS = 10

/** Plugins in shadow, plugins in force, flags with more than one value. */
export function rolloutText(report: RolloutReport, paint: Paint): string {
  const { calls, sessions, from, to, missing, callsWithoutSession, plugins, flags } = report
  const span = from === null || to === null ? '' : `, ${visibleLine(from)} to ${visibleLine(to)}`
  return [
    `${many(calls, 'call')} of ${many(sessions, 'session')}${span}`,
    ...(missing === 0
      ? []
      : [paint.yellow(`${many(missing, 'record')} could not be written and ${missing === 1 ? 'is' : 'are'} missing here`)]),
    ...(callsWithoutSession === 0
      ? []
      : [paint.yellow(`${many(callsWithoutSession, 'call')} of sessions that have no record: not counted for flags`)]),
    ...plugins.flatMap((plugin) => ['', pluginText(plugin, paint)]),
    ...flags.flatMap(({ flag, variants }) => ['', `${paint.bold(`flag ${visibleLine(flag)}`)}\n${variantsText(variants)}`]),
    ...(plugins.length === 0 ? ['', 'no hook plugins'] : []),
  ].join('\n')
}

function pluginText(plugin: PluginReport, paint: Paint): string {
  const { mode, sessions, calls, effects, nothing, stopsThatRan, stops, agreement, timedOut, skipped, taps, tools, examples } = plugin
  const isShadow = mode === 'shadow'
  const share = (part: number): string => percent(part, calls)
  const rows = Object.entries(effects).map(([effect, number]): (Cell | string)[] => [
    '',
    isShadow ? `would have ${effectText(effect)}` : effectText(effect),
    String(number),
    share(number),
    `e.g. ${(examples[effect] ?? []).map(visibleLine).join(', ')}`,
  ])
  rows.push(['', isShadow ? 'would have done nothing' : 'did nothing', String(nothing), share(nothing)])
  const times = taps.map(({ hook, tap, runs, p50Ms, p95Ms }) => [
    '',
    visibleLine(`${hook}/${tap}`),
    many(runs, 'run'),
    p50Ms === null || p95Ms === null ? '' : `half within ${ms(p50Ms)}, 95 % within ${ms(p95Ms)}`,
  ])
  const touched = tools.filter((one) => Object.keys(one.effects).length > 0)
  return [
    `${paint.bold(visibleLine(plugin.plugin))}  ${isShadow ? paint.cyan('in shadow') : 'in force'}  ${many(calls, 'call')}, ${many(sessions, 'session')}`,
    ...(calls === 0 ? ['  no call reached a tap of it'] : [table(rows)]),
    ...(isShadow && stops > 0 ? [`  of ${many(stops, 'call')} that it would have stopped, ${many(stopsThatRan ?? 0, 'call')} ran`] : []),
    ...(agreement === null ? [] : [`  agrees with what happened in ${(agreement * 100).toFixed(1)} % of the calls`]),
    ...(timedOut === 0 ? [] : [`  its taps ran out of time ${many(timedOut, 'time')}`]),
    ...(skipped === 0 ? [] : [`  its taps were not run to their end ${many(skipped, 'time')}`]),
    ...(times.length === 0 ? [] : [table(times)]),
    ...(touched.length === 0 ? [] : ['  tools', table(touched.slice(0, TOOLS).map(toolRow))]),
    ...(touched.length > TOOLS ? [`    … ${touched.length - TOOLS} more`] : []),
  ].join('\n')
}

function toolRow({ owner, tool, calls, effects }: PluginReport['tools'][number]): string[] {
  const whose = owner === null && tool === null ? 'others' : owner === null ? 'no owner' : ownerText(owner)
  return ['', '', whose, visibleLine(tool ?? ''), many(calls, 'call'), countsText(effects)]
}

const countsText = (effects: EffectCounts): string =>
  Object.entries(effects)
    .map(([effect, number]) => visibleLine(`${effect.replaceAll('_', ' ')} ${number}`))
    .join(', ')

function variantsText(variants: readonly VariantReport[]): string {
  const outcomes = [...new Set(variants.flatMap((one) => Object.keys(one.outcomes)))]
  const head = [
    '',
    'value',
    'sessions',
    'calls',
    ...outcomes.map((one) => visibleLine(one.replaceAll('_', ' '))),
    'tool errors',
    'half within',
    '95 % within',
  ]
  return table([
    head,
    ...variants.map(({ value, variant, sessions, calls, outcomes: ends, toolErrors, p50Ms, p95Ms }) => [
      '',
      visibleLine(variant === undefined || variant === String(value) ? String(value) : `${value} (${variant})`),
      String(sessions),
      String(calls),
      ...[...outcomes.map((one) => ends[one] ?? 0), toolErrors].map((part) => `${part} (${percent(part, calls)})`),
      p50Ms === null ? '' : ms(p50Ms),
      p95Ms === null ? '' : ms(p95Ms),
    ]),
  ])
}

const many = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`
const percent = (part: number, whole: number): string => (whole === 0 ? '0 %' : `${((part / whole) * 100).toFixed(1)} %`)
