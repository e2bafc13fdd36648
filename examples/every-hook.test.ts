// Run with `node --test`; any other test runner will do as well.
import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestRuntime, scriptedServer } from 'tapline/testing'
import { everyHook } from './every-hook.ts'

const notes = scriptedServer({
  tools: {
    add: { annotations: { destructiveHint: false, openWorldHint: false }, run: ({ text }) => `kept ${JSON.stringify(text)}` },
    list: { annotations: { readOnlyHint: true }, run: () => 'a note' },
    clear: { run: () => 'cleared' },
  },
})

await test('rewrites, refuses, asks, adds metadata and caches', async () => {
  const runtime = await openTestRuntime({ threadWide: { notes }, hooks: [everyHook] })
  try {
    const call = (tool: string, args = {}) => runtime.callTool({ server: 'notes', tool, arguments: args })

    assert.equal((await call('add', { text: '  milk ' })).forModel.text, 'kept "milk"')
    assert.equal((await call('add', { text: ' ' })).code, 'CALL_REFUSED')

    // the test runtime says yes to every question and keeps it
    assert.equal((await call('clear')).outcome, 'completed')
    assert.deepEqual(
      runtime.asked.map(({ tool, notes }) => [tool, notes[0]?.question]),
      [['clear', 'This deletes every note.']],
    )

    await call('list')
    await call('list')
    const sent = runtime.sent.filter(({ method }) => method === 'tools/call')
    assert.deepEqual(
      sent.map(({ params }) => params['name']),
      ['add', 'clear', 'list'],
    )
    assert.equal(sent[0]?.params._meta?.['example.com/session'], runtime.session.id)
  } finally {
    await runtime.close()
  }
})
