/** `tapline status`: one row for each server, a page at a time. */
import type { Page, ServerStatus, StatusQuery } from '../../runtime/types.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { statusPageJson, statusPageText } from '../render/status.ts'
import { limitedTo } from '../render/tool.ts'
import { selectorOf } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'

/** Options of `status`. */
export interface StatusCommandOptions extends SelectorOptions {
  readonly limit?: number
  readonly cursor?: string
  readonly detail?: 'full' | 'tools_and_auth'
  readonly watch?: boolean
}

/** Exit status 0; 4 where a page of all servers, or the one server that was named, shows nothing but failures. */
export async function run(context: CliContext, options: StatusCommandOptions): Promise<number> {
  const { out, progress, interrupt } = context
  const selector = selectorOf(options)
  const query: StatusQuery = {
    ...selector,
    ...(options.limit === undefined ? {} : { limit: options.limit }),
    ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
    ...(options.detail === undefined ? {} : { detail: options.detail }),
    signal: interrupt.signal,
  }
  if (options.watch) return (await import('./status-watch.ts')).watch(context, query)
  return withSession(context, {}, async (session) => {
    const page = await progress.during('asking servers for their status', () => session.status(query))
    await out.result({ json: () => statusPageJson(page), text: (paint) => statusPageText(page, paint) })
    if (page.data.length === 0) out.note(`no servers${limitedTo(selector) === '' ? '' : ` (${limitedTo(selector)})`}`)
    return allFailed(page) ? EXIT_FAILED : EXIT_DONE
  })
}

/** True where rows are there and every one of a server that is switched on has an error. */
export function allFailed({ data }: Page<Pick<ServerStatus, 'error' | 'runtimeStatus'>>): boolean {
  const on = data.filter((row) => row.runtimeStatus !== 'disabled')
  return on.length > 0 && on.every((row) => row.error !== null)
}
