/** The merged configuration for people: with the place of everything, and without secrets. */
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { ServerPolicy, ServerRegistration } from '../servers/definition.ts'
import { displayKey } from '../servers/key.ts'
import { compareStrength } from '../servers/strength.ts'
import type { LoadedConfig } from './config.ts'
import { looksSecret, refersToVariable } from './expand.ts'
import { toJson } from '../documents/value.ts'

const HIDDEN = '[redacted]'

/** What `tapline config show` prints. Values are shown as they are written, before expansion; literal ones that look secret, and every header, are `[redacted]`. */
export function describeConfig(loaded: LoadedConfig, secrets: Secrets): JsonObject {
  return redact(
    {
      files: loaded.files.map(({ path, kind }) => ({ path, kind })),
      environments: loaded.environments.map(({ executor, ...spec }) => ({
        ...spec,
        executor: executor.kind,
        options: hideByName(executor.options),
      })) as unknown as Json,
      selectedEnvironments: loaded.selectedEnvironments,
      servers: loaded.registrations.map((registration) => describeServer(registration, loaded.registrations)),
      hooks: loaded.hooks.map((hook) => ({ ...hook, options: hook.options && hideByName(hook.options) })) as unknown as Json,
      plugins: loaded.packages.map(({ path, environmentId, installationId, overlays, where }) => ({
        path,
        environmentId,
        installationId,
        mcpServers: Object.fromEntries([...overlays].map(([name, policy]) => [name, toJson(policy, () => {})])),
        where,
      })),
      features: loaded.features as unknown as Json,
      naming: loaded.naming,
      resourceTools: loaded.resourceTools,
      flags: { flagd: loaded.flagFile },
      store: loaded.storeFolder,
      trace: loaded.trace,
      diagnostics: loaded.diagnostics as unknown as Json,
    },
    secrets,
  ) as JsonObject
}

function describeServer(registration: ServerRegistration, all: readonly ServerRegistration[]): JsonObject {
  const { key, launch, template, policy, executesOn, provenance, problem } = registration
  const display = displayKey(key)
  // sort is stable: among equally strong ones the first stays first
  const winner = all.filter((other) => displayKey(other.key) === display).sort((a, b) => compareStrength(a.provenance, b.provenance))[0]
  return {
    owner: { name: key.name, environmentId: key.environmentId, installationId: key.installationId, display },
    where: provenance.where,
    effective: winner === registration,
    ...(winner !== undefined && winner !== registration && { shadowedBy: winner.provenance.where }),
    executesOn,
    launch: isJsonObject(template)
      ? { ...describeTemplate(template), ...(launch.type === 'stdio' && template['cwd'] === null && { cwd: launch.cwd }) }
      : null,
    policy: describePolicy(policy),
    problem: problem && { code: problem.code, message: problem.message },
  }
}

function describeTemplate(template: JsonObject): JsonObject {
  const { filled: _shownWhereItIsUsed, ...written } = template
  const { env, headers, url } = written
  return {
    ...written,
    ...(isJsonObject(env) && { env: hideByName(env) }),
    ...(isJsonObject(headers) && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])) }),
    ...(typeof url === 'string' && { url: url.replace(/^(\w+:\/\/)[^/@]*@/, `$1${HIDDEN}@`) }),
  }
}

function describePolicy({
  enabledTools,
  disabledTools,
  toolApprovalModes,
  defaultApprovalMode,
  startupTimeoutMs,
  toolTimeoutMs,
  toolTotalTimeoutMs,
  ...policy
}: ServerPolicy): JsonObject {
  return {
    ...policy,
    startupTimeoutSec: startupTimeoutMs / 1000,
    toolTimeoutSec: toolTimeoutMs / 1000,
    toolTotalTimeoutSec: toolTotalTimeoutMs === null ? null : toolTotalTimeoutMs / 1000,
    enabledTools: enabledTools && [...enabledTools],
    disabledTools: [...disabledTools],
    defaultToolsApprovalMode: defaultApprovalMode,
    tools: Object.fromEntries([...toolApprovalModes].map(([tool, approvalMode]) => [tool, { approvalMode }])),
  }
}

/** Hides the literal texts whose name looks like that of a secret. */
function hideByName(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'string' && looksSecret(name) && !name.endsWith('EnvVar') && value !== '' && !refersToVariable(value)
        ? HIDDEN
        : value,
    ]),
  )
}

function redact(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return secrets.redact(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item: Json) => redact(item, secrets))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, redact(member, secrets)]),
  )
}
