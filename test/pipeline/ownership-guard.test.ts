// The rows of the vectors say what is expected, and each kind of end has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
// vectors/ownership-guard.json. `updatedInput` is what a tap of resolve returns as arguments. Rows of other-144 to other-151 are tools of
// Codex itself (`ours`: not applicable). other-152 and other-153 are outputs of command hooks, and so is every other row once more.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandHooks } from '../../src/plugins/builtin/index.ts'
import type { HookPlugin, JsonObject } from '../../src/plugin.ts'
import { ALL_METHODS } from '../../src/plugin.ts'
import type { LiveSession } from '../../src/runtime/live-session.ts'
import { unwrap } from '../../src/runtime/unwrap.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { newFolder } from '../plugins/command-hooks/kit.ts'
import { plugin } from './kit.ts'

interface Row {
  readonly id: string
  readonly tool: string
  readonly flag: boolean
  readonly selected: readonly string[]
  readonly namespace?: string
  readonly arguments: JsonObject & { readonly server?: string; readonly environment_id?: string; readonly uri?: string }
  readonly updatedInput: unknown
  readonly hookOutput?: object
  readonly outcome: string
  readonly field?: string
  readonly stage?: string
  readonly target?: readonly {
    readonly server: string
    readonly where: string
    readonly uri?: string
    readonly cursor?: string
    readonly arguments?: JsonObject
  }[]
  readonly ours: 'same' | { readonly outcome: string; readonly field?: string; readonly stage?: string; readonly code?: string }
}
const { cases } = JSON.parse(readFileSync(new URL('../vectors/ownership-guard.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
const rows = cases.filter(({ id }) => !id.startsWith('other-'))

const METHODS: Readonly<Record<string, string>> = {
  read_mcp_resource: 'resources/read',
  list_mcp_resources: 'resources/list',
  list_mcp_resource_templates: 'resources/templates/list',
  echo: 'tools/call',
}
const server = { tools: { echo: {} }, resources: { 'mem://probe/one': '1', 'mem://probe/two': '2' } }

/** The same by a tool of the model; throws what it ends with. */
async function ask(t: TestRuntime, { tool, arguments: args }: Row): Promise<unknown> {
  const outcome = await t.callTool({ name: tool, arguments: args })
  const result = unwrap(outcome)
  const { errors = [] } = (result.structuredContent ?? {}) as { readonly errors?: readonly { readonly code: string }[] }
  // a hook that fails blocks each server by itself
  if (errors.length > 0) throw errors[0] as unknown
  return result
}

/** Makes the call of a row; throws what it ends with. */
async function make(t: TestRuntime, { tool, flag, arguments: args, namespace, selected }: Row): Promise<unknown> {
  const { server: name, environment_id: environmentId, uri } = args
  const selector = { ...(name !== undefined && { server: name }), ...(environmentId !== undefined && { environmentId }) }
  switch (tool) {
    case 'read_mcp_resource':
      return t.session.readResource({ ...selector, uri } as never)
    case 'list_mcp_resources': {
      const { errors } = await t.session.listResources(selector)
      if (errors.length > 0) throw errors[0]!.error
      return undefined
    }
    case 'list_mcp_resource_templates': {
      const { pipeline } = t.session as LiveSession
      const outcome = await pipeline.call({
        method: 'resources/templates/list',
        target: { by: 'server', server: String(name), environmentId, installationId: undefined },
        subject: '',
        arguments: args,
      })
      return unwrap(outcome as never)
    }
    default: {
      const [owner, environment] = /^\{probe:(.*)\}$/.test(namespace!) ? ['probe', namespace!.slice(7, -1)] : ['shared', undefined]
      // without the flag one of the servers wins the name
      const where = flag && environment !== undefined && selected.length > 0 ? { environmentId: environment } : {}
      return unwrap(await t.callTool({ server: owner, tool: 'echo', arguments: args, ...where }))
    }
  }
}

const byTool = rows.filter(({ tool }) => tool !== 'echo')
/** What command hooks say beside the arguments: a tool of the thread-wide server is called. */
const ofCommands = cases
  .filter(({ hookOutput }) => hookOutput !== undefined)
  .map((row): Row => ({ ...row, tool: 'echo', namespace: '{shared}' }))

/** A command hook for every call that gives the answer of the row. */
function answering({ updatedInput, hookOutput }: Row, folder: string): Promise<HookPlugin> {
  const said = hookOutput ?? { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput } }
  writeFileSync(join(folder, 'answer'), JSON.stringify(said))
  return commandHooks({ cwd: folder, hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'touch ran; cat answer' }] }] } })
}
describe.each([
  { by: 'requests of the host', given: rows, run: make, via: 'a tap' },
  { by: 'tools of the model', given: byTool, run: ask, via: 'a tap' },
  { by: 'requests of the host', given: [...rows, ...ofCommands], run: make, via: 'a command hook' },
] as const)('the guard of $by, by $via', ({ given, run, via }) => {
  test.each(given)('$id', async (row) => {
    let hasRun = false
    const folder = via === 'a tap' ? null : newFolder()
    const tap = plugin(({ hooks }) =>
      hooks.resolve.tap({ name: 'rewrite', methods: ALL_METHODS }, () => ((hasRun = true), { arguments: row.updatedInput })),
    )
    await using t = await openTestRuntime({
      hooks: [folder === null ? tap : await answering(row, folder)],
      resourceTools: true,
      features: { multi_environment_mcp: row.flag },
      environments: { 'env-a': { probe: server }, 'env-b': { probe: server } },
      threadWide: { shared: server },
      policies: { probe: { defaultToolsApprovalMode: 'approve' }, shared: { defaultToolsApprovalMode: 'approve' } },
      session: { environments: row.selected },
    })
    const error = await run(t, row).then(
      () => null,
      (thrown: unknown) => thrown as { code: string; message: string; cause?: { outcome: string } },
    )
    if (folder !== null) hasRun = existsSync(join(folder, 'ran'))
    const got = t.sent
      .filter(({ method }) => method === METHODS[row.tool])
      .map(({ owner, params }) => ({
        server: owner.name,
        where: owner.environmentId ?? 'host',
        ...(params['uri'] !== undefined && { uri: params['uri'] }),
        ...(params['cursor'] !== undefined && { cursor: params['cursor'] }),
        ...(row.tool === 'echo' && { arguments: params['arguments'] }),
      }))
    const want = row.ours === 'same' ? row : row.ours
    switch (want.outcome) {
      case 'rejected':
        expect(error).toMatchObject({
          code: 'HOOK_CHANGED_OWNER',
          message: expect.stringContaining(`hook cannot change the tool environment (${want.field})`),
        })
        expect(got).toEqual([])
        break
      case 'failed': {
        expect(error).not.toBeNull()
        expect(hasRun).toBe(want.stage === 'after the hook')
        if (row.ours !== 'same') expect(error!.code).toBe(row.ours.code)
        else if (row.stage === 'before the hook')
          expect(error).toMatchObject({
            code: 'AMBIGUOUS_SERVER',
            message: expect.stringContaining("environment_id is required for MCP server 'probe' when multiple environments are selected"),
          })
        expect(got).toEqual([])
        break
      }
      default:
        expect({ outcome: want.outcome, error }).toEqual({ outcome: 'accepted', error: null })
        expect(new Set(got.map((one) => JSON.stringify(one)))).toEqual(
          new Set(
            row.target!.map((one) =>
              JSON.stringify({
                server: one.server,
                where: one.where,
                ...(one.uri && { uri: one.uri }),
                ...(one.cursor && { cursor: one.cursor }),
                ...(one.arguments && { arguments: one.arguments }),
              }),
            ),
          ),
        )
        expect(got).toHaveLength(row.target!.length)
    }
  })
})
