/** A server as a configuration defines it, normalised: plain data that every later room works on. */
import type { Json } from '../json.ts'
import type { TaplineError } from '../errors.ts'
import type { KeyParts } from './key.ts'

/** How a process server is started. All values are expanded. */
export interface StdioLaunch {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** literal and expanded values that the definition names */
  readonly env: Readonly<Record<string, string>>
  /** names of variables of the host that are passed on where they are set */
  readonly envVars: readonly string[]
  /** null: the default (environment, plugin or folder of the file) was not resolved to anything; absolute otherwise */
  readonly cwd: string | null
}

/** How an HTTP server is reached. Values are expanded, but for those that come from a variable by its name: these are looked up at each start, so that a rotated token counts. */
export interface HttpLaunch {
  readonly type: 'http'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** name of a header → name of the variable of this process that has its value */
  readonly envHeaders: Readonly<Record<string, string>>
  /** name of the variable whose value is the token of `Authorization: Bearer`; null: none */
  readonly bearerTokenEnvVar: string | null
}

export type Launch = StdioLaunch | HttpLaunch

/** When a person is asked before a tool runs (spec 60). */
export type ApprovalMode = 'auto' | 'writes' | 'prompt' | 'approve' | 'deny'

/** What is not part of the connection: editing it never reconnects. */
export interface ServerPolicy {
  readonly enabled: boolean
  readonly required: boolean
  /** ms; connect, initialize and the first list together; default 30,000 */
  readonly startupTimeoutMs: number
  /** ms without progress after which a call ends; default 300,000 */
  readonly toolTimeoutMs: number
  /** ms for a whole call, the start included; null: no limit */
  readonly toolTotalTimeoutMs: number | null
  /** raw tool names; null: all */
  readonly enabledTools: ReadonlySet<string> | null
  readonly disabledTools: ReadonlySet<string>
  readonly defaultApprovalMode: ApprovalMode
  /** raw tool name → mode */
  readonly toolApprovalModes: ReadonlyMap<string, ApprovalMode>
  readonly trustAnnotations: boolean
  readonly outputSchema: 'enforce' | 'report'
  /** false: one call at a time */
  readonly supportsParallelToolCalls: boolean
  /** `runtime`: sessions that can answer questions of the server share its process all the same; default `session`: each of them has one of its own */
  readonly sharing: 'session' | 'runtime'
  /** bytes that the result of a tool may have; what is larger is cut. Default 8 MiB */
  readonly maxResultBytes: number
  /** the newest revision of MCP that is offered to the server */
  readonly protocol: 'auto' | '2025-11-25'
}

/** Where a registration came from. */
export interface Provenance {
  /** weakest first: discovered plugin, selected plugin, configuration file, host */
  readonly source: 'discovered' | 'selected' | 'file' | 'host'
  /** orders files among each other: higher is stronger */
  readonly rank: number
  /** `file:line:column`, the root of the plugin, or `host` */
  readonly where: string
  readonly pluginId: string | null
  /** real path of the plugin's root, or null */
  readonly root: string | null
}

/** One server as one source declares it. */
export interface ServerRegistration {
  readonly key: KeyParts
  readonly launch: Launch
  readonly policy: ServerPolicy
  /** environment where it executes: the key's for a scoped server; for a thread-wide one `environment` of its definition, else `local` */
  readonly executesOn: string
  /** the definition before expansion (command, args, cwd, url, env names and literal values): what approvals are bound to */
  readonly template: Json
  readonly provenance: Provenance
  /** set where the server cannot be started as written (a variable is missing, a field is wrong): every use of it ends with this error */
  readonly problem: TaplineError | null
}

/** The registry's name rule: 1 to 128 characters of this set (spec 10). */
export const SERVER_NAME: RegExp = /^[a-zA-Z0-9_:@/.-]{1,128}$/
/** Ids of environments (spec 30). `thread-wide` is reserved. */
export const ENVIRONMENT_ID: RegExp = /^[A-Za-z0-9_-]{1,64}$/
/** Selector of the thread-wide server where an environment id is expected. */
export const THREAD_WIDE = 'thread-wide'
/** Selector of the server without installation id where one is expected. */
export const DEFAULT_INSTALLATION = 'default'

/** Defaults of a policy; `trustAnnotations` depends on the source and is set by the reader. */
export const DEFAULT_POLICY: ServerPolicy = Object.freeze({
  enabled: true,
  required: false,
  startupTimeoutMs: 30_000,
  toolTimeoutMs: 300_000,
  toolTotalTimeoutMs: null,
  enabledTools: null,
  disabledTools: new Set<string>(),
  defaultApprovalMode: 'auto',
  toolApprovalModes: new Map<string, ApprovalMode>(),
  trustAnnotations: true,
  outputSchema: 'enforce',
  supportsParallelToolCalls: true,
  sharing: 'session',
  maxResultBytes: 8 * 1024 * 1024,
  protocol: 'auto',
})

/** The approval mode that counts for one raw tool name. */
export function approvalModeOf(policy: ServerPolicy, tool: string): ApprovalMode {
  return policy.toolApprovalModes.get(tool) ?? policy.defaultApprovalMode
}

/** True where the filters of the policy let the tool through. */
export function toolIsEnabled(policy: ServerPolicy, tool: string): boolean {
  return (policy.enabledTools === null || policy.enabledTools.has(tool)) && !policy.disabledTools.has(tool)
}
