import { expect, test } from 'vitest'
import { ERROR_CODES } from '../../src/errors.ts'
import { statusOfCode, statusOfExplanation, statusOfOutcome } from '../../src/cli/exit-status.ts'
import { outcomes, trace } from './samples.ts'

const EXPECTED = {
  completed: 0,
  refused: 3,
  no_approver: 3,
  cancelled: 4,
  timed_out: 4,
  ownership_violation: 5,
  authority_changed: 5,
  server_failed: 4,
  result_withheld: 3,
  invalid_request: 2,
}

test('every outcome has the exit status of the specification', () => {
  const found = Object.fromEntries(Object.entries(outcomes()).map(([kind, outcome]) => [kind, statusOfOutcome(outcome)]))
  expect(found).toEqual(EXPECTED)
})

test('the error of the tool itself is 1, and a person who leaves the question with Ctrl-C is 130', () => {
  const { completed, cancelled } = outcomes()
  expect(statusOfOutcome({ ...completed, result: { content: [], isError: true } })).toBe(1)
  expect(statusOfOutcome({ ...completed, result: { content: [], isError: false } })).toBe(0)
  expect(statusOfOutcome({ ...cancelled, by: 'person' })).toBe(130)
})

test('an explanation has the status of the call, and 0 where it would go out or be asked about', () => {
  const rest = { owner: null, tool: null, trace: trace(), wouldSend: null }
  expect(statusOfExplanation({ ...rest, wouldEnd: 'sent', outcome: null })).toBe(0)
  expect(statusOfExplanation({ ...rest, wouldEnd: 'asked', outcome: null })).toBe(0)
  expect(statusOfExplanation({ ...rest, wouldEnd: 'invalid_request', outcome: outcomes().invalid_request })).toBe(2)
  expect(statusOfExplanation({ ...rest, wouldEnd: 'no_approver', outcome: null })).toBe(3)
})

test('every code has one of the statuses, and none of them is success', () => {
  for (const code of ERROR_CODES) expect([2, 3, 4, 5], code).toContain(statusOfCode(code))
  expect(
    ['CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'CONFIG_UNTRUSTED', 'INVALID_CURSOR', 'AMBIGUOUS_SERVER', 'FLAG_UNKNOWN', 'CLI_USAGE'].map(
      (code) => statusOfCode(code as never),
    ),
  ).toEqual(Array(7).fill(2))
  expect([
    statusOfCode('SERVER_FAILED'),
    statusOfCode('CALL_TIMED_OUT'),
    statusOfCode('HOOK_CHANGED_OWNER'),
    statusOfCode('CALL_NO_APPROVER'),
  ]).toEqual([4, 4, 5, 3])
})

test('the code of a newer copy of the library is a failure', () => {
  expect(statusOfCode('CODE_OF_TOMORROW' as never)).toBe(4)
})
