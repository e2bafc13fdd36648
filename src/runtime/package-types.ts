/** Plugin packages as a runtime tells of them. */
import type { TaplineError } from '../errors.ts'
import type { KeyParts } from '../servers/key.ts'

/** One installation of a plugin package: a folder in one environment. */
export interface PluginPackage {
  /** its name, or that of its folder where it has no manifest */
  readonly id: string
  readonly version: string | null
  readonly description: string | null
  readonly environmentId: string
  readonly installationId: string | null
  /** real path on the machine of the environment */
  readonly root: string
  /** path of its manifest; null: it has only `.mcp.json` */
  readonly manifest: string | null
  /** `selected`: named under `plugins`; `discovered`: found by `pluginRoots` or `discover` */
  readonly source: 'selected' | 'discovered'
  /** how it was reached, the strongest way first */
  readonly where: readonly string[]
  /** files on this machine that have its command hooks */
  readonly hooks: readonly string[]
  /** `error`: it cannot be used as written */
  readonly servers: readonly { readonly owner: KeyParts; readonly enabled: boolean; readonly error: TaplineError | null }[]
}

/** Which packages are asked for. */
export interface PackageQuery {
  /** only these environments; default: those that the configuration selects. Throws ENVIRONMENT_UNKNOWN */
  readonly environments?: readonly string[]
  readonly signal?: AbortSignal
}
