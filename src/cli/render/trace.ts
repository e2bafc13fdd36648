/** The trace of a call in JSON and for people: `call --trace`, `explain` and `trace show` all show it so. */
import type { FlagDetails } from '../../flags/flag.ts'
import type { PipelineHook } from '../../hooks/outcome.ts'
import type { CallTrace, TapTrace } from '../../hooks/trace.ts'
import type { KeptTrace } from '../../trace/records.ts'
import type { KeyParts } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'
import type { Cell } from './table.ts'
import { table } from './table.ts'

/** A trace as the pipeline gives it, or as a file keeps it. */
export type ShownTrace = Omit<KeptTrace, 'candidates'> & {
  readonly candidates: readonly KeyParts[]
  readonly flags?: readonly FlagDetails[]
}

/** `trace` in JSON. */
export function traceJson(trace: CallTrace): Readonly<Record<string, unknown>> {
  return { ...trace, candidates: trace.candidates.map(ownerJson) }
}

const HOOKS = ['resolve', 'approve', 'attachMetadata', 'dispatch'] as const
/** characters of the longest bar */
const WIDTH = 24
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A time line: the hooks in their order, and under each what ran in it, with bars that are as long as it took. */
export function traceText(trace: ShownTrace, paint: Paint): string {
  const rows: (Cell | string)[][] = []
  const { timingsMs, taps, approval, metaKeys, connection, notes = [] } = trace
  const all = Math.max(...HOOKS.map((hook) => timingsMs[hook] ?? 0), ...taps.map((tap) => tap.durationMs), approval?.waitedMs ?? 0)
  const took = (time: number | undefined): readonly [string, Cell] =>
    time === undefined ? ['', { text: '' }] : [ms(time), { text: bar(time / all), paint: paint.cyan }]
  const row = (name: string, plugin: string, what: Cell | string, time: number | undefined, more = ''): void =>
    void rows.push([`    ${name}`, plugin, what, ...took(time), more])
  const beside: Partial<Record<PipelineHook, boolean>> = {
    resolve: connection !== null,
    approve: approval !== null,
    attachMetadata: metaKeys.length > 0,
    dispatch: timingsMs.queue !== undefined || timingsMs.server !== undefined,
  }
  for (const hook of HOOKS) {
    const ran = taps.filter((tap) => tap.hook === hook)
    if (ran.length === 0 && timingsMs[hook] === undefined && beside[hook] !== true) continue
    rows.push([{ text: `  ${hook}`, paint: paint.bold }, '', '', ...took(timingsMs[hook])])
    for (const tap of ran)
      row(visibleLine(tap.tap), visibleLine(tap.plugin), decisionOf(tap, paint), tap.durationMs, visibleLine(tap.reason ?? ''))
    for (const note of notes)
      if (note.hook === hook) row(visibleLine(note.tap), visibleLine(note.plugin), 'note', undefined, visibleLine(note.text))
    if (hook === 'approve' && approval !== null)
      row('approval', '', visibleLine(approval.source), approval.waitedMs > 0 ? approval.waitedMs : undefined)
    if (hook === 'attachMetadata') for (const { key, by } of metaKeys) row(visibleLine(key), visibleLine(by), '_meta', undefined)
    if (hook === 'resolve' && connection !== null)
      row('connection', '', `${visibleLine(connection.id)}${connection.reused ? ', reused' : ', new'}`, undefined)
    if (hook !== 'dispatch') continue
    for (const part of ['queue', 'server'] as const) if (timingsMs[part] !== undefined) row(part, '', '', timingsMs[part])
  }
  return [
    ...(trace.candidates.length === 0 ? [] : [`${paint.bold('candidates')} ${trace.candidates.map(ownerText).join(', ')}`]),
    ...(rows.length === 0 ? [] : [paint.bold('time line'), table(rows)]),
    ...shadowLines(trace, paint),
    ...(trace.flags === undefined || trace.flags.length === 0 ? [] : [paint.bold('flags'), `  ${trace.flags.map(flagText).join(', ')}`]),
  ].join('\n')
}

function decisionOf(tap: TapTrace, paint: Paint): Cell {
  const notes = [tap.decision.replaceAll('_', ' ')]
  if (tap.changedArguments) notes.push('changed arguments')
  if (tap.mode === 'shadow') notes.push('in shadow')
  else if (!tap.inEffect) notes.push('not in effect')
  return { text: visibleLine(notes.join(', ')), paint: tap.mode === 'shadow' ? paint.dim : (COLOURS[tap.decision]?.(paint) ?? String) }
}

const COLOURS: Readonly<Partial<Record<TapTrace['decision'], (paint: Paint) => (text: string) => string>>> = {
  deny: (paint) => paint.red,
  failed: (paint) => paint.red,
  timed_out: (paint) => paint.red,
  changed_owner: (paint) => paint.red,
  ask: (paint) => paint.yellow,
  allow: (paint) => paint.green,
  rewrite: (paint) => paint.yellow,
}

/** What plugins in shadow would have done to the call. */
function shadowLines({ shadow }: ShownTrace, paint: Paint): string[] {
  const rows = shadow.map(({ plugin, wouldHave }) => ['', visibleLine(plugin), wouldHaveText(wouldHave)])
  return rows.length === 0 ? [] : [paint.bold('in shadow'), table(rows)]
}

/** `would have refused it, rewritten its arguments`. */
function wouldHaveText(effects: readonly string[]): string {
  return effects.length === 0 ? 'would have done nothing' : `would have ${effects.map(effectText).join(', ')}`
}

/** An effect on a call in words; one of a later version as it is. */
export const effectText = (effect: string): string => EFFECTS[effect] ?? visibleLine(effect)

const EFFECTS: Readonly<Record<string, string>> = {
  violated: 'tried to move it to another owner',
  failed: 'failed and so stopped it',
  refused: 'refused it',
  asked: 'asked about it',
  allowed: 'allowed it',
  answered: 'answered it itself',
  repeated: 'sent it more than once',
  changed_result: 'changed its result',
  rewritten: 'rewritten its arguments',
  metadata: 'added to _meta',
  context: 'told the model something',
}

function bar(share: number): string {
  const eighths = Number.isFinite(share) ? Math.max(1, Math.round(Math.min(1, share) * WIDTH * 8)) : 0
  return '█'.repeat(eighths >> 3) + (PARTS[eighths & 7] as string)
}

/** `name = value (source)`, with the variant where it has another name than the value. */
export function flagText({ flagKey, value, variant, source }: FlagDetails): string {
  const named = variant === undefined || variant === String(value) ? '' : `${variant}, `
  return visibleLine(`${flagKey} = ${value} (${named}${source.replaceAll('_', ' ')})`)
}

/** `2.3 s`, `12 ms`, `1.3 ms`, `0.04 ms`. */
export const ms = (time: number): string =>
  time >= 1000 ? `${(time / 1000).toFixed(1)} s` : `${time.toFixed(time < 0.1 ? 2 : time < 10 ? 1 : 0)} ms`
