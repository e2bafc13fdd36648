/** Hooks of the configuration as a table. */
import type { HookRow } from '../hook-rows.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { table } from './table.ts'

/** A line for each hook, and below it why some may not run. */
export function hooksText(rows: readonly HookRow[], paint: Paint): string {
  if (rows.length === 0) return ''
  const head = ['EVENT', 'MATCHER', 'RUNS', 'TRUST', 'MODE', 'SOURCE'].map((text) => ({ text, paint: paint.dim }))
  const lines = rows.map(({ kind, source, mode, trusted, hook }) => [
    { text: hook === null ? kind : hook.event, paint: paint.bold },
    { text: visibleLine(hook === null ? '-' : hook.matcher || '*') },
    { text: visibleLine(hook === null ? '-' : hook.command) },
    trusted === null ? { text: '-' } : { text: trusted ? 'trusted' : 'NOT TRUSTED', paint: trusted ? paint.green : paint.red },
    { text: visibleLine(typeof mode === 'string' ? mode : JSON.stringify(mode)) },
    { text: visibleLine(source), paint: paint.dim },
  ])
  const why = [...new Set(rows.flatMap(({ source, reason }) => (reason === null ? [] : [`${source} ${reason}`])))]
  return [
    table([head, ...lines]),
    ...why.map((text) => `${paint.red('not run')} ${visibleLine(text)}; read it, then run \`tapline hooks trust\``),
  ].join('\n')
}
