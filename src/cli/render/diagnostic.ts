/** Diagnostics in JSON and as lines for people. */
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { Paint } from '../output.ts'
import { visibleLine, visibleMessage } from './escape.ts'
import { ownerJson } from './owner.ts'

/** An entry of `diagnostics`. */
export function diagnosticJson({ code, severity, message, owner, where }: Diagnostic): Readonly<Record<string, unknown>> {
  return { code, severity, message, ...(owner === undefined ? {} : { owner: ownerJson(owner) }), ...(where === undefined ? {} : { where }) }
}

/** `warning: place: message (code)`. */
export function diagnosticText({ code, severity, message, where }: Diagnostic, paint: Paint): string {
  const colour = severity === 'error' ? paint.red : severity === 'warning' ? paint.yellow : paint.dim
  const place = where === undefined || message.includes(where) ? '' : `${visibleLine(where)}: `
  return `${colour(severity)}: ${place}${visibleMessage(message)} ${paint.dim(`(${visibleLine(code)})`)}`
}

/** Each finding once, in the order in which it came. */
export function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Map<string, Diagnostic>()
  for (const one of diagnostics) {
    const id = JSON.stringify(diagnosticJson(one))
    if (!seen.has(id)) seen.set(id, one)
  }
  return [...seen.values()]
}
