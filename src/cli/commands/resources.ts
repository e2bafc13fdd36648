/** `tapline resources list`, `tapline resources templates` and `tapline resources read`. */
import { approverFor } from '../approver.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { withSession } from '../open.ts'
import {
  contentsJson,
  contentsListText,
  resourceListJson,
  resourceListText,
  templateListJson,
  templateListText,
} from '../render/resource.ts'
import { requiredSelector } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'
import type { ListingCommandOptions } from './listing.ts'
import { runListing } from './listing.ts'

/** Exit status 0; 4 where servers failed and no resource came. */
export function list(context: CliContext, options: ListingCommandOptions): Promise<number> {
  return runListing(context, options, 'resources', (session, query) => session.listResources(query), resourceListJson, resourceListText)
}

/** Exit status 0; 4 where servers failed and no template came. */
export function templates(context: CliContext, options: ListingCommandOptions): Promise<number> {
  return runListing(
    context,
    options,
    'resource templates',
    (session, query) => session.listResourceTemplates(query),
    templateListJson,
    templateListText,
  )
}

/** Prints the contents of one resource. Exit status 0; what goes wrong is thrown. */
export function read(context: CliContext, uri: string, options: SelectorOptions): Promise<number> {
  const { out, progress, interrupt } = context
  const selector = requiredSelector(options)
  const approver = approverFor(undefined, context)
  return withSession(context, approver === undefined ? {} : { approver }, async (session) => {
    const result = await progress.during(`reading ${uri}`, () => session.readResource({ ...selector, uri }, { signal: interrupt.signal }))
    await out.result({ json: () => contentsJson(result), text: () => contentsListText(result) })
    return EXIT_DONE
  })
}
