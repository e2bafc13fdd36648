// Installs the real MCP servers of test/real/servers.json into a cache folder outside the repository, without their install scripts.
// The folder is TAPLINE_CACHE, else ~/.cache/tapline-test; each package has a folder of its own there, named after package and version.
// Three at a time; what is there already is kept, so a run that was interrupted goes on where it was.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { captureNpm, QUIET_NPM, ROOT } from './tools.mjs'

const LIST = path.join(ROOT, 'test', 'real', 'servers.json')
const DONE = '.done'
/** Installs at once: more only wait for each other's disk. */
const LANES = 3

const cacheFolder = () => path.resolve(process.env.TAPLINE_CACHE || path.join(os.homedir(), '.cache', 'tapline-test'))

const runsHere = ({ platform }) => platform === undefined || platform === `${process.platform} ${process.arch}`

const folderOf = ({ package: name, version }) => path.join(cacheFolder(), `${name.replace('/', '+')}@${version}`)

/** The file that starts it: what another program needs to know of an install. */
function scriptOf(entry) {
  const modules = path.join(folderOf(entry), 'node_modules')
  const part = entry.command?.find((word) => word.startsWith('{modules}'))
  return part?.replace('{modules}', modules) ?? path.join(modules, entry.package, entry.script ?? '')
}

async function installOne(entry) {
  const { package: name, version, executable, peers = false, mb } = entry
  const folder = folderOf(entry)
  if (fs.existsSync(path.join(folder, DONE))) return
  console.error(`installing ${name}@${version}${mb === undefined ? '' : ` (${mb} MB)`} …`)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n')
  // most of them work without their peers, which are larger than they are
  const options = ['--ignore-scripts', ...(peers ? [] : ['--legacy-peer-deps']), '--prefer-offline', ...QUIET_NPM]
  const { status, output } = await captureNpm(['install', '--prefix', folder, ...options, `${name}@${version}`])
  if (status !== 0) throw new Error(`${name}@${version} could not be installed: check that the npm registry can be reached\n${output}`)
  // a script of its own would have done this
  if (executable) fs.chmodSync(executable.replace('{modules}', path.join(folder, 'node_modules')), 0o755)
  if (!fs.existsSync(scriptOf(entry))) throw new Error(`${scriptOf(entry)} is not there: correct test/real/servers.json`)
  fs.writeFileSync(path.join(folder, DONE), '')
}

/** Installs what is missing, of these names or of all; resolves with name → absolute path of the file that starts it. Servers for another platform are left out. */
export async function installServers(names = null) {
  const listed = JSON.parse(fs.readFileSync(LIST, 'utf8'))
  const wanted = listed.filter((entry) => runsHere(entry) && (names === null || names.includes(entry.name)))
  // the large ones first, so that the lanes end at about the same time; a package of two servers is installed once
  const packages = [...new Map(wanted.map((entry) => [folderOf(entry), entry])).values()].sort((a, b) => (b.mb ?? 0) - (a.mb ?? 0))
  const failures = []
  async function lane() {
    for (let entry = packages.shift(); entry !== undefined; entry = packages.shift()) {
      await installOne(entry).catch((error) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join('\n'))
  return Object.fromEntries(wanted.map((entry) => [entry.name, scriptOf(entry)]))
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
  try {
    console.log(JSON.stringify(await installServers(), null, 2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
