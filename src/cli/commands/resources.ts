/** `tapline resources list` and `tapline resources read`. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { failureText } from '../render/failure.ts'
import { contentsJson, contentsListText, resourceListJson, resourceListText } from '../render/resource.ts'
import { limitedTo } from '../render/tool.ts'
import { requiredSelector, selectorOf } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'
import { approverFor } from '../approver.ts'

/** Options of `resources list` and `resources read`. */
export interface ResourcesCommandOptions extends SelectorOptions {
  readonly cursor?: string
}

/** Exit status 0; 4 where servers failed and no resource came. */
export function list(context: CliContext, options: ResourcesCommandOptions): Promise<number> {
  const { out, progress, interrupt } = context
  const query = selectorOf(options)
  return withSession(context, {}, async (session) => {
    const listing = await progress.during('listing resources', () =>
      session.listResources({ ...query, ...(options.cursor === undefined ? {} : { cursor: options.cursor }), signal: interrupt.signal }),
    )
    await out.result({ json: () => resourceListJson(listing), text: (paint) => resourceListText(listing, paint) })
    for (const failure of listing.errors) if (!out.json) out.line(failureText(failure, out.paintErr))
    if (listing.items.length === 0 && listing.errors.length === 0)
      out.note(`no resources${limitedTo(query) === '' ? '' : ` (${limitedTo(query)})`}`)
    return listing.items.length === 0 && listing.errors.length > 0 ? EXIT_FAILED : EXIT_DONE
  })
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
