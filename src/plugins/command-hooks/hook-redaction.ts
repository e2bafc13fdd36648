/** What hooks were given in variables is taken out of what they say. */
import { Secrets } from '../../secrets.ts'

/** The values of these variables of this process, as they are now. */
export function hookSecrets(names: readonly string[]): Secrets {
  const secrets = new Secrets()
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) secrets.add(value)
  }
  return secrets
}
