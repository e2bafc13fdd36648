/** `tapline rollout report`: what plugins in shadow would have done, against what happened. */
import { Rollout } from '../../trace/rollout.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { rolloutText } from '../render/rollout.ts'
import { TraceSource } from '../trace-source.ts'

/** Exit status 0; lines that cannot be read are warnings. Throws TRACE_UNREADABLE. */
export async function report(context: CliContext, files: readonly string[]): Promise<number> {
  const { out, progress } = context
  const source = new TraceSource(context)
  const rollout = new Rollout()
  await progress.during('reading traces', async () => {
    for (const file of files) for await (const record of source.records(file)) rollout.add(record)
  })
  const { problems, problemCount } = source
  const counted = rollout.report()
  await out.result({ json: () => ({ ...counted, problems, problemCount }), text: (paint) => rolloutText(counted, paint) })
  if (!out.json) source.tell()
  return EXIT_DONE
}
