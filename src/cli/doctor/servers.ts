/** What happens when every server is started: versions and counts of those that answer, cause and remedy of the others. */
import type { ServerStatus } from '../../runtime/types.ts'
import type { ServerRegistration } from '../../servers/definition.ts'
import type { EnvironmentSpec } from '../../servers/environment.ts'
import { compareKeys } from '../../servers/key.ts'
import type { Check } from './check.ts'

/** The check of one server. */
export function checkServer(row: ServerStatus): Check {
  const { owner, runtimeStatus, error, protocolVersion, serverInfo, startMs, tools } = row
  if (runtimeStatus === 'disabled') return { check: 'server', status: 'skipped', owner, message: 'is switched off' }
  const answered = { protocolVersion, serverInfo, startMs, tools: tools.length }
  if (error !== null) {
    const { code, message, remedy } = error
    return { check: 'server', status: 'failed', owner, code, message, remedy, ...(protocolVersion !== null && { found: answered }) }
  }
  const { name, version } = (serverInfo ?? {}) as { readonly name?: unknown; readonly version?: unknown }
  const said = [name, version].filter((part) => typeof part === 'string').join(' ')
  const parts = [
    `${runtimeStatus} in ${((startMs ?? 0) / 1000).toFixed(1)} s`,
    said,
    `MCP ${protocolVersion}`,
    `${tools.length} tool${tools.length === 1 ? '' : 's'}`,
  ]
  return { check: 'server', status: 'ok', owner, message: parts.filter(Boolean).join(', '), found: answered }
}

/** Environments are seen through the servers that run there: one that none of them reaches has failed. */
export function checkEnvironment(
  { id, executor, cwd }: EnvironmentSpec,
  servers: readonly ServerRegistration[],
  rows: readonly ServerStatus[],
): Check {
  const here = servers.filter(({ executesOn, policy }) => executesOn === id && policy.enabled)
  const seen = rows.filter(({ owner }) => here.some(({ key }) => compareKeys(key, owner) === 0))
  const what = `${executor.kind}, ${cwd}`
  const error = seen.map((row) => row.error).find((one) => one !== null && one.code.startsWith('ENVIRONMENT_'))
  if (error) return { check: 'environment', status: 'failed', environmentId: id, ...error }
  if (executor.kind !== 'local' && seen.length === 0)
    return { check: 'environment', status: 'skipped', environmentId: id, message: `${what}; no server shows whether it can be reached` }
  return { check: 'environment', status: 'ok', environmentId: id, message: what }
}
