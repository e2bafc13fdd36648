/** What a command hook finds in its environment: the short list that servers get, the variables that are named, and where things are. */
import path from 'node:path'
import { localEnv } from '../../connections/executors/local-env.ts'

/** Folders that hooks ask for. */
export interface HookPlaces {
  /** of the hooks file: where hooks run */
  readonly folder: string
  /** what hooks take for the project */
  readonly project: string
  /** root and data folder of the plugin package that brings the hooks */
  readonly plugin: { readonly root: string; readonly data: string } | null
}

/** The places of a hooks file that no package brings: the project is the folder that holds `.claude` or `.codex`, else that of the file. */
export function placesOf(folder: string): HookPlaces {
  const parts = folder.split(path.sep)
  const at = parts.findIndex((part) => part === '.claude' || part === '.codex')
  return { folder, project: at > 0 ? parts.slice(0, at).join(path.sep) || path.sep : folder, plugin: null }
}

/** The same for a hooks file of a plugin package; `project` and `data` are those of its installation, the defaults those that trust goes by. */
export function placesInPackage(
  folder: string,
  root: string,
  { project = root, data = root }: { readonly project?: string; readonly data?: string } = {},
): HookPlaces {
  return { folder, project, plugin: { root, data } }
}

/** The variables for places, as other programs name them. */
export function placeVariables({ project, plugin }: HookPlaces): Readonly<Record<string, string>> {
  return {
    CLAUDE_PROJECT_DIR: project,
    ...(plugin !== null && {
      PLUGIN_ROOT: plugin.root,
      CLAUDE_PLUGIN_ROOT: plugin.root,
      PLUGIN_DATA: plugin.data,
      CLAUDE_PLUGIN_DATA: plugin.data,
    }),
  }
}

/** Everything a hook gets; `named` are variables of this process that are passed on where they are set. */
export function hookEnv(places: HookPlaces, named: readonly string[]): Record<string, string> {
  const passed = named.flatMap((name): [string, string][] => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return localEnv({ ...Object.fromEntries(passed), ...placeVariables(places) })
}
