// Hook modules that behave like the scripts that they once were: they end the process, print, and throw where nobody waits.
import { expect, test } from 'vitest'
import { Case, end, server, SLOW } from './driver.ts'

/** Writes the module and calls the one tool. */
async function call(at: Case, body: string, options: { readonly json?: boolean } = {}) {
  at.write('hook.mjs', body)
  at.write('tapline.json', { mcpServers: { s: server('echo.mjs', ['S']) }, hooks: ['./hook.mjs'] })
  return at.run(['call', '--server', 's', 'whoami', '{}'], options)
}
const tap = (hook: string, body: string): string =>
  `export default { name: 'h', apply({ hooks }) { hooks.${hook}.tapPromise('t', async (call, next) => { ${body} }) } }\n`

test.each([
  ['resolve', 'process.exit(0)', []],
  ['dispatch', 'const result = await next(); process.exit(0); return result', ['S whoami']],
] as const)('a tap of %s that ends the process is no success, and is told', SLOW, async (hook, body, calls) => {
  await using at = new Case()
  const out = await call(at, tap(hook, body))
  expect(out.status).toBe(4)
  expect(out.json).toMatchObject({
    error: { code: 'INTERNAL', message: expect.stringContaining('ended the process'), remedy: expect.stringContaining('process.exit') },
  })
  expect(at.calls()).toEqual(calls)
})

test('what a hook prints is not on stdout: neither in the JSON of a command nor in its text', SLOW, async () => {
  await using at = new Case()
  const noise = `console.log('loading'); const print = process.stdout.write.bind(process.stdout)\n${tap('resolve', `console.log({ a: 1 }); console.table([1]); print('raw')`)}`
  const out = await call(at, noise)
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  expect(out.stdout.trim().split('\n')).toHaveLength(1)
  for (const word of ['loading', '{ a: 1 }', 'raw']) expect(out.stderr).toContain(word)
  expect((await call(at, noise, { json: false })).stdout).not.toMatch(/loading|a: 1|raw/)
})

test('what a hook throws where nobody waits is told, and stops nothing', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, tap('resolve', `Promise.reject(new Error('floating')); setTimeout(() => { throw new Error('later') })`))
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  for (const word of ['floating', 'later']) expect(out.stderr).toContain(`an error outside any call: ${word}`)
})
