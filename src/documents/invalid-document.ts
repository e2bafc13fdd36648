/** The one error for everything that is wrong with a document. */
import { TaplineError } from '../errors.ts'
import type { Mistake } from './value.ts'

/** CONFIG_INVALID with every mistake in its text and in `data.mistakes`; `what` names the document, such as "the configuration"; `data.diagnostics` has errors of its parts. */
export function invalidDocument(mistakes: readonly Mistake[], what: string, diagnostics: readonly object[] = []): TaplineError {
  const lines = mistakes.map(({ where, message }) => `${where}: ${message}`)
  const [first] = mistakes
  const message =
    lines.length === 1 ? (lines[0] as string) : `${what} has ${lines.length} mistakes:\n${lines.map((line) => `  ${line}`).join('\n')}`
  return new TaplineError('CONFIG_INVALID', message, {
    ...(first && { where: first.where }),
    data: { mistakes, ...(diagnostics.length > 0 && { diagnostics }) },
  })
}
