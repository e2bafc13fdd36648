/** Asks for the inputs of a configuration file at the terminal. Loaded only when there is one. */
import type { Readable, Writable } from 'node:stream'
import { password, select, text } from '@clack/prompts'
import type { ConfigInput } from '../config/inputs.ts'
import { visibleLine } from './render/escape.ts'

interface Terminal {
  readonly signal: AbortSignal
  readonly stdin: Readable
  readonly stderr: Writable & { columns?: number; rows?: number }
}

/** The answer, or null after Ctrl-C or Escape. What is typed for a password is masked. */
export async function askInput(input: ConfigInput, { signal, stdin, stderr }: Terminal): Promise<string | null> {
  // a terminal that does not say how large it is says 0, and clack would break every line after one letter
  if (!stderr.columns) Object.assign(stderr, { columns: 80, rows: stderr.rows || 24 })
  const common = { message: `${visibleLine(input.description)} (input "${visibleLine(input.id)}")`, input: stdin, output: stderr, signal }
  const answer = await ask(input, common)
  return typeof answer === 'symbol' ? null : (answer ?? '')
}

function ask(
  input: ConfigInput,
  common: { message: string; input: Readable; output: Writable; signal: AbortSignal },
): Promise<string | symbol | undefined> {
  const { options, default: fallback } = input
  if (options !== null) {
    const choices = options.map(({ value, label }) => ({ value, label: visibleLine(label) }))
    return select<string>({ ...common, options: choices, ...(fallback !== null && { initialValue: fallback }) })
  }
  if (input.password) return password(common)
  return text({ ...common, ...(fallback !== null && { defaultValue: fallback, placeholder: visibleLine(fallback) }) })
}
