/** What a model reads about a namespace. */
import type { KeyParts } from './key.ts'

/** The server's instructions, for a scoped server after one line that names its environment. */
export function namespaceDescription({ environmentId }: KeyParts, instructions: string): string {
  if (environmentId === null) return instructions
  const line = `Runs in environment ${environmentId}.`
  return instructions === '' ? line : `${line}\n${instructions}`
}
