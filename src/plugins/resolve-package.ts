/** Finds the module of a package as an `import` in a given folder would. Node has no stable call for that without a flag. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** In the sense of an exports map; the order is that of the map. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'node-addons', 'default'])
const SPECIFIER = /^((?:@[^/\\%\0]+\/)?[^./\\%@\0][^/\\%\0]*)((?:\/[^\\%\0]+)*)$/

/** Absolute path of the module that `name` (a package, or a package and a subpath) means for a file in `folder`. Throws Error with one line. */
export async function resolvePackage(name: string, folder: string): Promise<string> {
  const [, packageName, subpath = ''] = SPECIFIER.exec(name) ?? []
  if (packageName === undefined) throw new Error(`${JSON.stringify(name)} is not the name of a package`)
  const require = createRequire(join(folder, 'noop.js'))
  for (const place of require.resolve.paths(packageName) ?? []) {
    const root = join(place, packageName)
    const text = await readFile(join(root, 'package.json'), 'utf8').catch(() => null)
    if (text === null) continue
    const manifest: unknown = JSON.parse(text)
    const map = isJsonObject(manifest) ? manifest.exports : undefined
    if (map === undefined || map === null) return require.resolve(name)
    const target = exportedTarget(map, `.${subpath}`)
    if (target === null) throw new Error(`the package ${packageName} does not export ${JSON.stringify(`.${subpath}`)}`)
    const file = join(root, target)
    if (!target.startsWith('./') || !file.startsWith(root + sep))
      throw new Error(`the package ${packageName} exports ${JSON.stringify(target)}, which is not inside it`)
    return file
  }
  throw new Error(`there is no package ${packageName} to be found from ${folder}`)
}

function exportedTarget(map: Json, subpath: string): string | null {
  const paths: JsonObject = isJsonObject(map) && Object.keys(map).some((key) => key.startsWith('.')) ? map : { '.': map }
  if (Object.hasOwn(paths, subpath)) return choose(paths[subpath] as Json, '')
  // The longest beginning wins, as in Node.
  const patterns = Object.keys(paths).filter((key) => key.includes('*'))
  for (const key of patterns.sort((a, b) => b.indexOf('*') - a.indexOf('*'))) {
    const [before = '', after = ''] = key.split('*')
    if (subpath.length >= key.length && subpath.startsWith(before) && subpath.endsWith(after)) {
      return choose(paths[key] as Json, subpath.slice(before.length, subpath.length - after.length))
    }
  }
  return null
}

function choose(target: Json, star: string): string | null {
  if (typeof target === 'string') return target.replaceAll('*', star)
  if (Array.isArray(target)) {
    for (const one of target) {
      const found = choose(one as Json, star)
      if (found !== null) return found
    }
    return null
  }
  if (!isJsonObject(target)) return null
  for (const [condition, member] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? choose(member, star) : null
    if (found !== null) return found
  }
  return null
}
