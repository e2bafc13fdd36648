/** The plain-data part of a set-up, word for word the configuration file in camelCase, and what a reader makes of it. */
import type { PluginMode } from '../plugin-mode.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Reviewer } from '../servers/approval-question.ts'
import type { ApprovalMode, ServerRegistration } from '../servers/definition.ts'
import type { ApprovalPolicy, EnvironmentSpec, PermissionProfile } from '../servers/environment.ts'
import type { JsonObject } from '../json.ts'
import type { ObjectValue } from '../documents/value.ts'

interface ServerCommon {
  readonly enabled?: boolean
  readonly required?: boolean
  readonly startupTimeoutSec?: number
  /** idle limit of a call in seconds; progress resets it */
  readonly toolTimeoutSec?: number
  /** limit of a whole call in seconds, the start included */
  readonly toolTotalTimeoutSec?: number
  readonly enabledTools?: readonly string[]
  readonly disabledTools?: readonly string[]
  readonly defaultToolsApprovalMode?: ApprovalMode
  readonly tools?: Readonly<Record<string, { readonly approvalMode?: ApprovalMode }>>
  readonly trustAnnotations?: boolean
  /** false: one call at a time; default true */
  readonly supportsParallelToolCalls?: boolean
  /** `runtime`: also sessions that answer questions of the server share its process; default `session` */
  readonly sharing?: 'session' | 'runtime'
  /** bytes that a result may have, 1,024 to 67,108,864; default 8 MiB */
  readonly maxResultBytes?: number
  readonly protocol?: 'auto' | '2025-11-25' | '2026-07-28'
  readonly outputSchema?: 'enforce' | 'report'
  /** where a thread-wide server executes */
  readonly environment?: string
  /** tells two installations of one server in one environment apart */
  readonly installation?: string
}

/** A server as a file or code writes it. */
export type ServerDefinition = ServerCommon &
  (
    | {
        readonly command: string
        readonly args?: readonly string[]
        readonly env?: Readonly<Record<string, string>>
        readonly envVars?: readonly string[]
        readonly cwd?: string
        readonly url?: never
      }
    | {
        readonly url: string
        readonly httpHeaders?: Readonly<Record<string, string>>
        readonly envHttpHeaders?: Readonly<Record<string, string>>
        readonly bearerTokenEnvVar?: string
        readonly command?: never
      }
  )

/** An environment as a file or code writes it. */
export interface EnvironmentDefinition {
  /** `local`; other kinds come with their executors */
  readonly executor?: string | ({ readonly kind: string } & JsonObject)
  /** relative to the folder of the file, or to the working directory of the process */
  readonly cwd?: string
  readonly extraRoots?: readonly string[]
  readonly permissions?: PermissionProfile
  readonly approvalPolicy?: ApprovalPolicy
  /** only in code: a second opinion before a person is asked */
  readonly reviewer?: Reviewer | null
  readonly mcpServers?: Readonly<Record<string, ServerDefinition>>
  /** absolute path of a full Codex CLI; only `local` offers it to servers, once it passed the probe */
  readonly codexExecutable?: string
  /** folders of plugin packages on that machine; `*` stands for any name */
  readonly pluginRoots?: readonly string[]
  /** exec-server: also the plugin packages that are installed there */
  readonly discover?: boolean
}

/** What a host may say about a server of a plugin package: policy, never how it is started. */
export type ServerOverlay = Omit<ServerCommon, 'environment' | 'installation'>

/** A plugin package that is selected by its folder. */
export interface PackageSelection {
  /** on this machine from the folder of the file or the working directory; elsewhere from the `cwd` of the environment */
  readonly path: string
  /** where it is installed; default `local` */
  readonly environment?: string
  /** tells two installations in one environment apart */
  readonly installation?: string
  /** server of the package → its policy */
  readonly mcpServers?: Readonly<Record<string, ServerOverlay>>
}

/** One schema for files and code. */
export interface Config {
  readonly environments?: Readonly<Record<string, EnvironmentDefinition>>
  readonly selectedEnvironments?: readonly string[]
  readonly mcpServers?: Readonly<Record<string, ServerDefinition>>
  /** plugin packages: folders that bring servers. Hook plugins are something else */
  readonly plugins?: readonly PackageSelection[]
  readonly features?: Readonly<Record<string, boolean | string>>
  /** `maxLength` belongs to the scheme `stable` */
  readonly naming?: { readonly scheme?: 'stable' | 'codex'; readonly maxLength?: number }
  /** offers `list_mcp_resources`, `list_mcp_resource_templates` and `read_mcp_resource` to the model; default false */
  readonly resourceTools?: boolean
}

/** A hook plugin that a file names; nothing of it is imported yet. */
export interface HookModule {
  /** absolute path of a module or of a file of command hooks, the name of a package to be resolved from `folder`, or that of a built-in plugin */
  readonly module: string
  readonly kind: 'path' | 'package' | 'builtin' | 'commandHooks'
  readonly options: JsonObject | null
  /** folder of the file that names it */
  readonly folder: string
  readonly where: string
  /** a mode, or the flag that decides it for each session */
  readonly mode: PluginMode | { readonly flag: string; readonly default: PluginMode }
  readonly environments?: readonly (string | null)[]
  readonly servers?: readonly string[]
  readonly tools?: readonly string[]
  /** of command hooks: what their entry says of all of them, and whether the user's own file names them, which is trust enough */
  readonly commands?: { readonly onFailure: 'block' | 'continue'; readonly env: readonly string[]; readonly byUser: boolean }
}

/** A selected plugin package; nothing of it is read yet. */
export interface PackageChoice {
  /** of the machine of its environment, absolute */
  readonly path: string
  readonly environmentId: string
  readonly installationId: string | null
  /** server of the package → policy as written, already checked */
  readonly overlays: ReadonlyMap<string, ObjectValue>
  readonly rank: number
  /** true where the user's own file, one that the user named, or code selects it; false for a project file that was found */
  readonly byUser: boolean
  readonly where: string
}

/** All files and code, read, checked and merged; nothing started, nothing imported. */
export interface LoadedConfig {
  /** absolute paths, weakest first, with how each came in */
  readonly files: readonly { readonly path: string; readonly kind: 'named' | 'found' | 'user' }[]
  /** in file order; the implicit `local` is last where it was not declared */
  readonly environments: readonly EnvironmentSpec[]
  /** ids in order, the first is primary; all known */
  readonly selectedEnvironments: readonly string[]
  /** every registration of every source, weakest source first, in file order inside one */
  readonly registrations: readonly ServerRegistration[]
  readonly hooks: readonly HookModule[]
  readonly packages: readonly PackageChoice[]
  /** flag name → value and place, strongest file last */
  readonly features: readonly { readonly name: string; readonly value: boolean | string; readonly where: string }[]
  readonly naming: { readonly scheme: 'stable' | 'codex'; readonly maxLength: number }
  readonly resourceTools: boolean
  /** absolute path of the flagd definition, or null without one */
  readonly flagFile: string | null
  /** absolute folder of the file store, or null for the default */
  readonly storeFolder: string | null
  /** `file` is absolute; null where no trace is kept */
  readonly trace: { readonly file: string; readonly arguments: boolean } | null
  readonly diagnostics: readonly Diagnostic[]
}
