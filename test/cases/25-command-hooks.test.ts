// Hook sets as people write them for other tools, in bash, Python and Node, run as they are; and the way to trust them on the command line.
import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Case, end, said, server, SLOW } from './driver.ts'

/** A blocker: reads the call with nothing but the shell. */
const BASH = `#!/usr/bin/env bash
set -euo pipefail
input=$(cat)
if [[ "$input" =~ \\"text\\":\\"([^\\"]*)\\" ]] && [[ "\${BASH_REMATCH[1]}" == *"rm -rf"* ]]; then
  echo "Blocked: destructive command" >&2
  exit 2
fi
exit 0
`
/** A gate that asks about one word and refuses another, by JSON. */
const PYTHON = `#!/usr/bin/env python3
import json
import sys

event = json.load(sys.stdin)
text = event.get("tool_input", {}).get("text", "")
if not event["tool_name"].startswith("mcp__"):
    sys.exit(0)
if "prod" in text:
    print(json.dumps({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": f"{event['tool_name']} must not touch prod",
        }
    }))
elif "maybe" in text:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}))
else:
    print("ok")
`
/** A rewriter and an annotator in one, by the event. */
const NODE = `let input = ''
process.stdin.on('data', (chunk) => (input += chunk))
process.stdin.on('end', () => {
  const { hook_event_name: hookEventName, tool_input: args, tool_response: response } = JSON.parse(input)
  if (hookEventName === 'PreToolUse') {
    const updatedInput = { ...args, text: args.text.replace(/\\bcolour\\b/g, 'color') }
    process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName, permissionDecision: 'allow', updatedInput } }))
  } else {
    const blocks = response.content.length
    process.stdout.write(JSON.stringify({ suppressOutput: true, hookSpecificOutput: { hookEventName, additionalContext: \`\${blocks} block(s)\` } }))
  }
})
`
const hook = (command: string, matcher?: string): object => ({
  ...(matcher && { matcher }),
  hooks: [{ type: 'command', command, timeout: 20 }],
})
const project = (): Case => {
  const at = new Case({ mcpServers: { s: server('echo.mjs', ['S', '["echo"]']) }, hooks: [{ commandHooks: '.claude/settings.json' }] })
  for (const [name, text] of Object.entries({ 'block.sh': BASH, 'gate.py': PYTHON, 'rewrite.js': NODE }))
    chmodSync(at.write(`.claude/hooks/${name}`, text), 0o755)
  at.write('.claude/settings.json', {
    permissions: { allow: ['Bash(ls)'] },
    hooks: {
      SessionStart: [hook('echo hello')],
      PreToolUse: [
        hook('"$CLAUDE_PROJECT_DIR"/.claude/hooks/block.sh', 'Bash|mcp__.*'),
        hook('python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/gate.py"'),
        hook('node $CLAUDE_PROJECT_DIR/.claude/hooks/rewrite.js', 'mcp__s__echo'),
      ],
      PostToolUse: [hook('node ./hooks/rewrite.js', '*')],
    },
  })
  return at
}
const call = (at: Case, text: string) => at.run(['call', '--server', 's', 'echo', JSON.stringify({ text })])

test('three hook sets of a project run unchanged, once they are trusted; what changes asks again', SLOW, async () => {
  await using at = project()
  const refused = await call(at, 'x')
  expect([refused.status, said(refused)]).toEqual([2, expect.stringContaining(`tapline hooks trust ${at.path('.claude/settings.json')}`)])
  expect(at.ledger({ ev: 'start' })).toEqual([])
  const list = async () => (await at.run(['hooks', 'list'])).json.hooks.map(({ trusted, hook: { event } }: any) => [event, trusted])
  expect(await list()).toEqual([
    ['PreToolUse', false],
    ['PreToolUse', false],
    ['PreToolUse', false],
    ['PostToolUse', false],
  ])
  const trusted = await at.run(['hooks', 'trust'])
  expect([trusted.status, trusted.json.trusted]).toEqual([0, [at.path('.claude/settings.json')]])

  const [fine, destructive, prod, maybe] = await Promise.all(
    ['the colour red', 'rm -rf /', 'prod db', 'maybe'].map((text) => call(at, text)),
  )
  expect(end(fine!)).toEqual([0, 'completed', 'yes'])
  expect(at.seen('tools/call').map(({ params }) => params.arguments)).toEqual([{ text: 'the color red' }])
  expect(fine!.json.additionalContext).toEqual(['1 block(s)'])
  expect([...end(destructive!), destructive!.json.reason]).toEqual([3, 'refused', 'no', 'Blocked: destructive command'])
  expect([...end(prod!), prod!.json.reason]).toEqual([3, 'refused', 'no', 'mcp__s__echo must not touch prod'])
  expect(end(maybe!)).toEqual([3, 'no_approver', 'no'])

  at.write('.claude/hooks/gate.py', '')
  const changed = await call(at, 'x')
  expect([changed.status, said(changed)]).toEqual([2, expect.stringContaining('gate.py')])
  expect((await at.run(['hooks', 'trust', '.claude/settings.json'])).status).toBe(0)
  expect(end(await call(at, 'prod'))).toEqual([0, 'completed', 'yes'])
  const untrusted = await at.run(['hooks', 'untrust'])
  expect(untrusted.json).toEqual({ trusted: [], untrusted: [at.path('.claude/settings.json')] })
  expect((await call(at, 'x')).status).toBe(2)
})

test('a project file that was found needs both kinds of trust; a hooks file with a mistake is told by config check', SLOW, async () => {
  await using at = project()
  const found = { config: null } as const
  expect((await at.run(['trust'], found)).json).toMatchObject({ commandHooks: [at.path('.claude/settings.json')] })
  const refused = await at.run(['call', '--server', 's', 'echo', '{"text":"x"}'], found)
  expect([refused.status, said(refused)]).toEqual([2, expect.stringContaining('tapline hooks trust')])
  expect((await at.run(['hooks', 'trust'], found)).status).toBe(0)
  expect(end(await at.run(['call', '--server', 's', 'echo', '{"text":"x"}'], found))).toEqual([0, 'completed', 'yes'])
  at.write('.claude/settings.json', '{ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "prompt" }] }], "PreToolUze": [] } }')
  const checked = await at.run(['config', 'check'], found)
  expect(checked.status).toBe(2)
  expect(said(checked)).toContain('settings.json:1:')
  expect(said(checked)).toContain('has the type')
})
