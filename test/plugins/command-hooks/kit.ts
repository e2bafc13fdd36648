// What the tests of command hooks share: a folder with a hooks file whose hooks are small shell commands, on the real runtime with scripted servers.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CommandHooksOptions } from '../../../src/plugins/builtin/index.ts'
import { commandHooks } from '../../../src/plugins/builtin/index.ts'
import type { ScriptedTool, TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import { openTestRuntime } from '../../../src/testing/index.ts'
import { newFolder as folderOf } from '../../new-folder.ts'

export const newFolder = (): string => folderOf('tapline-hooks-')

/** One hook of an event; everything else of it by name. */
export type Written = { readonly matcher?: string; readonly command: string; readonly [key: string]: unknown }

/** Writes a hooks file, each hook in a group of its own; gives its path. */
export function writeHooks(folder: string, events: Readonly<Record<string, readonly Written[]>>, name = 'hooks.json'): string {
  const hooks = Object.fromEntries(
    Object.entries(events).map(([event, list]) => [
      event,
      list.map(({ matcher, ...hook }) => ({ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', ...hook }] })),
    ]),
  )
  const file = path.join(folder, name)
  writeFileSync(file, JSON.stringify({ hooks }))
  return file
}

let texts = 0
/** A command that prints the value as JSON (text as it is) and ends with the status. */
export function prints(folder: string, value: unknown, status = 0): string {
  const name = `said-${++texts}`
  writeFileSync(path.join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  return `cat ${name}; exit ${status}`
}

/** A command that keeps its input as `input-NAME-N` and prints nothing. */
export const keeps = (name: string): string => `mkdir -p kept && cat > "kept/.${name}-$$" && mv "kept/.${name}-$$" "kept/${name}-$$"`

/** What `keeps` kept, as JSON, in no order. */
export function kept(folder: string, name: string): any[] {
  const files = path.join(folder, 'kept')
  mkdirSync(files, { recursive: true })
  return readdirSync(files)
    .filter((file) => file.startsWith(`${name}-`))
    .map((file) => JSON.parse(readFileSync(path.join(files, file), 'utf8')))
}

/** A server `db` with the tools `echo`, `drop`, `misses` and `fails` in `prod`; needs no approval unless `more` says so. */
export async function openHooked(
  hooks: CommandHooksOptions | readonly CommandHooksOptions[],
  more: TestRuntimeOptions = {},
  tools: Readonly<Record<string, ScriptedTool>> = {},
): Promise<TestRuntime> {
  const plugins = await Promise.all([hooks].flat().map((one) => commandHooks(one)))
  return openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: {
      prod: {
        db: {
          tools: {
            echo: {},
            drop: {},
            // answers with what its own schema does not allow: the request as a whole fails
            misses: { outputSchema: { type: 'object', required: ['a'] }, run: () => ({ content: [], structuredContent: { b: 1 } }) },
            fails: {
              run: () => {
                throw new Error('it broke')
              },
            },
            ...tools,
          },
          resources: { 'mem://a': 'A' },
        },
      },
    },
    policies: { db: { defaultToolsApprovalMode: 'approve' } },
    ...more,
    hooks: [...plugins, ...(more.hooks ?? [])],
  })
}

export const CALL = { server: 'db', tool: 'echo', arguments: { text: 'x' } } as const
export const toolCalls = (t: TestRuntime): unknown[] =>
  t.sent.filter(({ method }) => method === 'tools/call').map(({ params }) => params['arguments'])

/** Processes whose environment has the folder, by pid and command. */
export function left(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder)
        if (!isOurs || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return []
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1')}`]
      } catch {
        // gone since the folder was read
        return []
      }
    })
}
