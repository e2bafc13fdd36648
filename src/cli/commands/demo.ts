/** `tapline demo`: the main job in four steps, on two real server processes. */
import type { CallOutcome } from '../../hooks/outcome.ts'
import { openSession } from '../../runtime/open-runtime.ts'
import type { RuntimeOptions, Session, Tool } from '../../runtime/types.ts'
import type { CliContext } from '../context.ts'
import { mover } from '../demo/mover.ts'
import { createPlayground, PLACES, type Playground } from '../demo/playground.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'

interface Step {
  readonly title: string
  readonly lines: readonly string[]
  /** what makes this step a success */
  readonly holds: boolean
}

/** Exit status 0 where every step did what it shows; 4 otherwise. Leaves nothing behind. */
export async function run({ out, progress }: CliContext): Promise<number> {
  const playground = await createPlayground()
  try {
    const steps: Step[] = []
    for (const step of [flagOff, flagOn, movedCall])
      steps.push(await progress.during('starting the servers of the demo', () => step(playground)))
    const ok = steps.every(({ holds }) => holds)
    await out.result({
      json: () => ({ ok, steps }),
      text: (paint) =>
        [
          paint.bold(
            'Two environments, laptop and staging, have the same plugin package "notes" installed. Each runs its own server process.',
          ),
          ...steps.map(({ title, lines, holds }) =>
            [`\n${holds ? paint.green('ok') : paint.red('failed')}  ${paint.bold(title)}`, ...lines.map((line) => `    ${line}`)].join(
              '\n',
            ),
          ),
          ok ? `\nNext: write a tapline.json or use your .mcp.json, then ${paint.cyan('tapline tools')}. The README shows how.` : '',
        ].join('\n'),
    })
    return ok ? EXIT_DONE : EXIT_FAILED
  } finally {
    await playground[Symbol.asyncDispose]()
  }
}

async function flagOff(playground: Playground): Promise<Step> {
  return within({ ...playground.config, features: { multi_environment_mcp: false } }, async (session) => {
    const { tools } = await session.listTools()
    const shadowed = session.diagnostics.filter(({ code }) => code === 'shadowed')
    return {
      title: 'multi_environment_mcp off: one server for each name',
      lines: [
        ...tools.map(shown),
        ...shadowed.map(() => 'shadowed: notes (environment staging) has lost its name to notes (environment laptop), and is not started'),
      ],
      holds: tools.length === 2 && shadowed.length === 1 && tools.every(({ owner }) => owner.environmentId === 'laptop'),
    }
  })
}

async function flagOn(playground: Playground): Promise<Step> {
  return within({ ...playground.config, features: { multi_environment_mcp: true } }, async (session) => {
    const { tools } = await session.listTools()
    const lines = tools.map(shown)
    const answers: string[] = []
    for (const place of PLACES) {
      const where = tools.find((tool) => tool.owner.environmentId === place && tool.tool === 'where')
      const outcome = await session.callTool({ name: where?.name ?? '', arguments: {} })
      answers.push(outcome.forModel.text)
      lines.push(`${where?.name} answered: ${outcome.forModel.text}`)
    }
    return {
      title: 'multi_environment_mcp on: two namespaces, each call answered by its own process',
      lines,
      holds:
        tools.length === 4 &&
        new Set(tools.map(({ name }) => name)).size === 4 &&
        PLACES.every((place, index) => answers[index]?.endsWith(place)) &&
        answers[0] !== answers[1],
    }
  })
}

async function movedCall(playground: Playground): Promise<Step> {
  return within({ ...playground.config, features: { multi_environment_mcp: true }, hooks: [mover('staging')] }, async (session) => {
    const before = await Promise.all(PLACES.map((place) => playground.calls(place)))
    const outcome: CallOutcome = await session.callTool({
      server: 'notes',
      environmentId: 'laptop',
      tool: 'add',
      arguments: { text: 'hello' },
    })
    const after = await Promise.all(PLACES.map((place) => playground.calls(place)))
    const reached = after.reduce((sum, count, index) => sum + count - (before[index] ?? 0), 0)
    return {
      title: 'a hook that tries to move a call is rejected by name',
      lines: [
        `${outcome.outcome}: ${outcome.outcome === 'completed' ? '' : outcome.message}`,
        `sent: ${outcome.sent}; calls that reached a server: ${reached}`,
      ],
      holds: outcome.outcome === 'ownership_violation' && outcome.code === 'HOOK_CHANGED_OWNER' && outcome.sent === 'no' && reached === 0,
    }
  })
}

const shown = ({ name, owner }: Tool): string => `${name}  of ${String(owner)}`

async function within(options: RuntimeOptions, work: (session: Session) => Promise<Step>): Promise<Step> {
  const session = await openSession(options)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}
