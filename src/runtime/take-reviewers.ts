/** Reviewers are functions, which no configuration carries: they are taken out of the definitions that code gives. */
import type { Config } from '../config/config.ts'
import { TaplineError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { Reviewer } from '../servers/approval-question.ts'

type Definitions = Config['environments']

/** The definitions without reviewers, and the reviewer of each environment that has one. Throws CALL_INVALID_REQUEST for one that is no function. */
export function takeReviewers(given: Definitions): {
  readonly definitions: Definitions
  readonly reviewers: ReadonlyMap<string, Reviewer>
} {
  const reviewers = new Map<string, Reviewer>()
  // what is no object is for the reader of the configuration to say
  if (!isJsonObject(given)) return { definitions: given, reviewers }
  const definitions = Object.entries(given as NonNullable<Definitions>).map(([id, definition]) => {
    if (!isJsonObject(definition) || !('reviewer' in definition)) return [id, definition] as const
    const { reviewer, ...rest } = definition as NonNullable<Definitions>[string]
    if (typeof reviewer === 'function') reviewers.set(id, reviewer)
    else if (reviewer !== null && reviewer !== undefined)
      throw new TaplineError('CALL_INVALID_REQUEST', `reviewer of the environment ${JSON.stringify(id)} must be a function or null`)
    return [id, rest] as const
  })
  return { definitions: Object.fromEntries(definitions), reviewers }
}
