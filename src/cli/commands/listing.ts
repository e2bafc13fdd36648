/** What `resources list`, `resources templates` and `prompts list` have in common. */
import type { ListQuery, Listing, Session } from '../../runtime/types.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { withSession } from '../open.ts'
import type { Paint } from '../output.ts'
import { failureText } from '../render/failure.ts'
import { limitedTo } from '../render/tool.ts'
import { selectorOf } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'

/** Options of a listing. */
export interface ListingCommandOptions extends SelectorOptions {
  readonly cursor?: string
}

/** Exit status 0; 4 where servers failed and nothing came. */
export function runListing<T>(
  context: CliContext,
  options: ListingCommandOptions,
  what: string,
  listing: (session: Session, query: ListQuery) => Promise<Listing<T>>,
  json: (listing: Listing<T>) => unknown,
  text: (listing: Listing<T>, paint: Paint) => string,
): Promise<number> {
  const { out, progress, interrupt } = context
  const query = selectorOf(options)
  return withSession(context, {}, async (session) => {
    const list = await progress.during(`listing ${what}`, () =>
      listing(session, { ...query, ...(options.cursor === undefined ? {} : { cursor: options.cursor }), signal: interrupt.signal }),
    )
    await out.result({ json: () => json(list), text: (paint) => text(list, paint) })
    for (const failure of list.errors) if (!out.json) out.line(failureText(failure, out.paintErr))
    const isEmpty = list.items.length === 0
    if (isEmpty && list.errors.length === 0) out.note(`no ${what}${limitedTo(query) === '' ? '' : ` (${limitedTo(query)})`}`)
    return isEmpty && list.errors.length > 0 ? EXIT_FAILED : EXIT_DONE
  })
}
