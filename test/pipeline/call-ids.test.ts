import { expect, test } from 'vitest'
import { CallIds } from '../../src/pipeline/call-ids.ts'

test('calls of a session are numbered from 1, each number once', () => {
  const ids = new CallIds('a.b')
  for (let number = 1; number <= 12_345; number++) expect(ids.next()).toBe(`a.b.${number}`)
})
