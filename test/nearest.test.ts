import { expect, test } from 'vitest'
import { nearest } from '../src/nearest.ts'

test.each([
  ['comand', ['command', 'args', 'url'], 'command'],
  ['commnad', ['comma', 'command'], 'command'],
  ['MCPSERVERS', ['mcpServers', 'mcpServer'], 'mcpServers'],
  ['a', ['b'], 'b'],
  ['xyz', ['command'], null],
  ['', ['command'], null],
  ['urll', ['url', 'args'], 'url'],
  ['environment', [], null],
])('%s among %j is %s', (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected)
})

test('a very long name costs nothing', () => {
  expect(nearest('x'.repeat(5_000_000), ['command'])).toBe(null)
})
