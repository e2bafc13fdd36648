// node stubborn.mjs MODE: servers that are hard to end. The tool `hang` never answers, `pid` gives the pid; helpers end by themselves after two minutes.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { note, serve, text, tool } from './base.mjs'

const mode = process.argv[2]
const alive = (ms = 120_000) => setTimeout(() => process.exit(0), ms)
const deaf = (...signals) => signals.forEach((signal) => process.on(signal, () => note(signal.toLowerCase())))

if (mode === 'double-fork') {
  // as a daemon does it: a session of its own, and a parent that is gone before anybody looks
  const script =
    'const { spawn } = require("node:child_process"); const c = spawn("sleep", ["120"], { detached: true, stdio: "ignore" }); console.log(c.pid); c.unref(); process.exit(0)'
  const middle = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  middle.stdout.on('data', (pid) => note('kid', { kid: Number(String(pid)) }))
}
if (mode === 'slow-goodbye') {
  // needs a second to write what it has to; must get it
  alive()
  process.on('SIGTERM', () => {
    note('sigterm')
    setTimeout(() => {
      note('saved')
      process.exit(0)
    }, 1000)
  })
}
if (mode === 'only-sigint') {
  alive()
  deaf('SIGTERM', 'SIGHUP')
  process.on('SIGINT', () => process.exit(0))
}
if (mode === 'shell') {
  // sh waits for its child and passes no signal on
  const kid = spawn('sh', ['-c', `trap '' TERM HUP INT; sleep 120 & sleep 120; true`], { stdio: 'inherit' })
  note('kid', { kid: kid.pid })
}
if (mode === 'many') {
  for (let i = 0; i < 20; i++) note('kid', { kid: spawn('sleep', ['120'], { stdio: 'ignore', detached: i % 2 === 0 }).pid })
}
if (mode === 'respawns') {
  // a supervisor: who ends its child gets another one
  deaf('SIGTERM')
  alive()
  const start = () => {
    const kid = spawn('sleep', ['120'], { stdio: 'ignore' })
    note('kid', { kid: kid.pid })
    kid.on('exit', start)
  }
  start()
}

serve(
  {
    'tools/list': () => ({ tools: [tool('pid'), tool('hang'), tool('mute')] }),
    'tools/call': ({ name }) => {
      if (name === 'pid') return text(String(process.pid))
      if (name === 'mute') {
        // says nothing any more, but stays
        alive()
        fs.closeSync(1)
      }
      return undefined
    },
  },
  { stay: mode !== 'polite' },
)
