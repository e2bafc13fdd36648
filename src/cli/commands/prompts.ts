/** `tapline prompts list` and `tapline prompts get`. */
import { approverFor } from '../approver.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { promptJson, promptListJson, promptListText, promptText } from '../render/prompt.ts'
import { requiredSelector } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'
import { readToolArguments } from '../tool-arguments.ts'
import type { ListingCommandOptions } from './listing.ts'
import { runListing } from './listing.ts'

/** Exit status 0; 4 where servers failed and no prompt came. */
export function list(context: CliContext, options: ListingCommandOptions): Promise<number> {
  return runListing(context, options, 'prompts', (session, query) => session.listPrompts(query), promptListJson, promptListText)
}

/** Prints the messages of one prompt. Exit status 0; what goes wrong is thrown. */
export async function get(context: CliContext, prompt: string, args: string | undefined, options: SelectorOptions): Promise<number> {
  const { out, progress, interrupt } = context
  const selector = requiredSelector(options)
  const value = await readToolArguments(args, context)
  const request = { ...selector, prompt, ...(value !== undefined && { arguments: value as Record<string, string> }) }
  const approver = approverFor(undefined, context)
  return withSession(context, approver === undefined ? {} : { approver }, async (session) => {
    const result = await progress.during(`getting ${prompt}`, () => session.getPrompt(request, { signal: interrupt.signal }))
    await out.result({ json: () => promptJson(result), text: (paint) => promptText(result, paint) })
    return EXIT_DONE
  })
}
