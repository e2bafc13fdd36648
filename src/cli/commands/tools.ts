/** `tapline tools`: every tool of every server, and the servers that failed. */
import { TaplineError } from '../../errors.ts'
import type { Session, StatusQuery, ToolList } from '../../runtime/types.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { withSession } from '../open.ts'
import { failureText } from '../render/failure.ts'
import { limitedTo, toolListJson, toolListText } from '../render/tool.ts'
import { selectorOf } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'

/** Options of `tools`. */
export interface ToolsCommandOptions extends SelectorOptions {
  /** start nothing */
  readonly cached?: boolean
}

/** Exit status 0; 4 where servers failed and none is left that did not; throws UNKNOWN_SERVER for a --server that is not there. */
export function run(context: CliContext, options: ToolsCommandOptions): Promise<number> {
  const query = selectorOf(options)
  return withSession(context, {}, async (session, diagnostics) => {
    const { out, progress, interrupt } = context
    const { cached = false } = options
    const list = await progress.during(cached ? 'reading the inventory' : 'starting servers and listing their tools', () =>
      session.listTools({ ...query, cached, signal: interrupt.signal }),
    )
    if (
      list.tools.length === 0 &&
      list.errors.length === 0 &&
      list.pending.length === 0 &&
      (query.server !== undefined || query.environmentId !== undefined || query.installationId !== undefined)
    )
      await mustBeThere(session, query)
    await out.result({ json: () => toolListJson(list, diagnostics()), text: (paint) => toolListText(list, paint) })
    for (const failure of list.errors) if (!out.json) out.line(failureText(failure, out.paintErr))
    // without --cached they are pending after Ctrl-C only, and what was done is known
    if (cached && list.pending.length > 0)
      out.note(
        `${list.pending.length} ${list.pending.length === 1 ? 'server was' : 'servers were'} never listed; tapline tools starts and lists them`,
      )
    else if (list.tools.length === 0 && list.resourceTools.length === 0 && list.errors.length === 0 && list.pending.length === 0)
      out.note(`no tools${limitedTo(query) === '' ? '' : ` (${limitedTo(query)})`}`)
    // a server under a name that is none is in no list
    const lost = diagnostics().some(({ severity, code, owner }) => severity === 'error' && code === 'CONFIG_INVALID' && owner === undefined)
    return allFailed(list, lost) ? EXIT_FAILED : EXIT_DONE
  })
}

/** A server without tools is no mistake, a name that fits no server is one. Contacts nobody: whoever is there has just been listed. */
async function mustBeThere(session: Session, query: Pick<StatusQuery, 'server' | 'environmentId' | 'installationId'>): Promise<void> {
  const { data } = await session.status({ ...query, limit: 1, detail: 'tools_and_auth' })
  if (data.length === 0)
    throw new TaplineError('UNKNOWN_SERVER', `there is no ${query.server === undefined ? 'server ' : ''}${limitedTo(query)}`)
}

/** True where at least one server failed, or could not even be listed, and no server gave a tool. */
function allFailed({ tools, errors }: ToolList, lost: boolean): boolean {
  return tools.length === 0 && (errors.length > 0 || lost)
}
