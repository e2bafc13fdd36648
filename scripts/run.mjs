// `node scripts/run.mjs demo …` installs and builds what is missing, then runs the command line with the arguments.
import path from 'node:path'
import { prepare } from './prepare.mjs'
import { DIST, runNode } from './tools.mjs'

const status = await prepare()
const command = [path.join(DIST, 'cli', 'main.js'), ...process.argv.slice(2)]
process.exitCode = status === 0 ? runNode(command, { cwd: process.cwd(), env: process.env }) : status
