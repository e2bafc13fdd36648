import { expect, test } from 'vitest'
import { RpcError } from '../../../src/connections/executors/exec-server/exec-connection.ts'
import { fileUri, pathOfUri } from '../../../src/connections/executors/exec-server/exec-files.ts'
import { discoverExecPackages } from '../../../src/connections/executors/exec-server/exec-packages.ts'
import type { JsonObject } from '../../../src/json.ts'

type Answers = Record<string, (params: JsonObject) => JsonObject>
/** Answers by method; others are not known there, and what was asked is kept. */
function executor(answers: Answers): { call: (method: string, params: JsonObject) => Promise<JsonObject>; readonly asked: unknown[] } {
  const asked: unknown[] = []
  return {
    asked,
    call: async (method, params) => {
      asked.push([method, params])
      const answer = answers[method]
      if (answer === undefined) throw new RpcError(-32601, 'unknown method', null)
      return answer(params)
    },
  }
}

test('what is installed there, by the newer method', async () => {
  const { call, asked } = executor({
    'capabilities/discoverV2': () => ({
      plugins: [
        { id: 'probe@market', root: 'file:///home/u/my%20plugins/probe' },
        { id: 'odd' },
        7,
        { root: 'http://x/y' },
        { root: 'file:///C:/p' },
      ],
    }),
  })
  expect(await discoverExecPackages(call, '/work dir', 'file:///home/u')).toEqual(['/home/u/my plugins/probe', 'C:/p'])
  expect(asked).toEqual([['capabilities/discoverV2', { cwd: 'file:///work%20dir' }]])
})

test('by the older one: every folder of the cache is asked about, those that are plugins count', async () => {
  const folders: Record<string, string[]> = { cache: ['market'], market: ['probe'], probe: ['1.0.0', '2.0.0'] }
  const { call } = executor({
    'fs/readDirectory': ({ path }) => ({
      entries: (folders[(path as string).split('/').at(-1) as string] ?? []).map((fileName) => ({
        fileName,
        isDirectory: true,
        isFile: false,
      })),
    }),
    'capabilityRoots/discoverV1': ({ roots }) => ({
      roots: (roots as unknown as { path: string }[]).map((root, index) => ({
        ...root,
        plugin: index === 0 ? null : { manifest: {} },
      })) as never,
    }),
  })
  expect(await discoverExecPackages(call, '/', 'file:///home/u')).toEqual(['/home/u/.codex/plugins/cache/market/probe/2.0.0'])
})

test('nonsense finds nothing; other errors are passed on', async () => {
  for (const plugins of [null, 5, {}, 'x']) {
    const { call } = executor({ 'capabilities/discoverV2': () => ({ plugins }) })
    expect(await discoverExecPackages(call, '/', null)).toEqual([])
  }
  expect(await discoverExecPackages(executor({}).call, '/', null)).toEqual([])
  const refusing = async (): Promise<never> => {
    throw new RpcError(-32603, 'internal', null)
  }
  await expect(discoverExecPackages(refusing, '/', null)).rejects.toMatchObject({ code: -32603 })
})

test('URIs and paths, there and back', () => {
  for (const path of ['/a b/ü#?%', '/', 'C:/x y']) expect(pathOfUri(fileUri(path))).toBe(path)
  for (const odd of [undefined, 5, '', 'a', 'http://x/y', 'file://%', 'file:///%ff']) expect(pathOfUri(odd)).toBeNull()
})
