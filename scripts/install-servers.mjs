// Installs the real MCP servers of test/real/servers.json into a cache folder outside the repository, without their install scripts.
// The folder is TAPLINE_CACHE, else ~/.cache/tapline-test; each server has a folder of its own there, named after package and version.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { captureNpm, QUIET_NPM, ROOT } from './tools.mjs'

const LIST = path.join(ROOT, 'test', 'real', 'servers.json')
const DONE = '.done'

const cacheFolder = () => path.resolve(process.env.TAPLINE_CACHE || path.join(os.homedir(), '.cache', 'tapline-test'))

async function installOne({ package: name, version, script }) {
  const folder = path.join(cacheFolder(), `${name.replace('/', '+')}@${version}`)
  const file = path.join(folder, 'node_modules', name, script)
  if (fs.existsSync(path.join(folder, DONE)) && fs.existsSync(file)) return file
  console.error(`installing ${name}@${version} …`)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n')
  const { status, output } = await captureNpm(['install', '--prefix', folder, '--ignore-scripts', ...QUIET_NPM, `${name}@${version}`])
  if (status !== 0) throw new Error(`${name}@${version} could not be installed: check that the npm registry can be reached\n${output}`)
  if (!fs.existsSync(file)) throw new Error(`${name}@${version} has no ${script}: correct test/real/servers.json`)
  fs.writeFileSync(path.join(folder, DONE), '')
  return file
}

/** Installs what is missing; resolves with name → absolute path of the script that starts the server. */
export async function installServers() {
  const scripts = {}
  for (const entry of JSON.parse(fs.readFileSync(LIST, 'utf8'))) scripts[entry.name] = await installOne(entry)
  return scripts
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
  try {
    console.log(JSON.stringify(await installServers(), null, 2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
