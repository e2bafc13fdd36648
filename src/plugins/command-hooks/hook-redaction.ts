/** What hooks were given in variables is taken out of what they say. */
import { Secrets } from '../../secrets.ts'

/** Takes the values of these variables of this process, as they are now, out of a text. */
export function hookRedaction(names: readonly string[]): (text: string) => string {
  const secrets = new Secrets()
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) secrets.add(value)
  }
  return (text) => secrets.redact(text)
}
