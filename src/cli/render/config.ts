/** A configuration in JSON and for people. */
import type { LoadedConfig } from '../../config/config.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { Paint } from '../output.ts'
import { diagnosticJson, diagnosticText } from './diagnostic.ts'
import { visible, visibleLine } from './escape.ts'

/** The files that were read, and what was found in them. */
export type Checked = Pick<LoadedConfig, 'files' | 'diagnostics'>

/** The document of `tapline config check`. `ok` is false where something must be corrected. */
export function checkJson({ files, diagnostics }: Checked): Readonly<Record<string, unknown>> {
  return {
    ok: !hasErrors(diagnostics),
    files: files.map(({ path, kind }) => ({ path, kind })),
    diagnostics: diagnostics.map(diagnosticJson),
  }
}

/** The files, the findings, and a last line that says how it stands. */
export function checkText({ files, diagnostics }: Checked, paint: Paint): string {
  const errors = diagnostics.filter((one) => one.severity === 'error').length
  const warnings = diagnostics.filter((one) => one.severity === 'warning').length
  const last = errors === 0 ? paint.green('ok') : paint.red('not ok')
  return [
    ...files.map(({ path, kind }) => `${visibleLine(path)} ${paint.dim(`(${kind})`)}`),
    ...diagnostics.map((one) => diagnosticText(one, paint)),
    `${last}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`,
  ].join('\n')
}

/** True where a finding must be corrected. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((one) => one.severity === 'error')
}

/** A description of the merged configuration as indented JSON. */
export function showText(description: unknown): string {
  return visible(JSON.stringify(description, null, 2))
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`
