/** Whether a row of answers to one and the same request has the pattern of something that is counted or remembered. */

const LONGEST_PERIOD = 24
/** the first answers may be those before something was known */
const FIRST = 2
const FEW_CHANGES = 3
const NUMBER = /-?\d+(?:\.\d+)?/g

/** True for rows that change now and then, go round in a circle, or count; false for rows that look like chance. */
export function looksCounted(row: readonly string[]): boolean {
  const rest = row.slice(FIRST)
  const changes = rest.filter((text, at) => at > 0 && text !== rest[at - 1]).length
  return changes <= FEW_CHANGES || isPeriodic(rest) || isSteady(rest.map((text) => text.length)) || isProgression(rest)
}

function isPeriodic(row: readonly string[]): boolean {
  for (let period = 1; period <= Math.min(LONGEST_PERIOD, row.length / 3); period++)
    if (row.every((text, at) => at < period || text === row[at - period])) return true
  return false
}

/** The same text but for numbers, each of which stays or goes on by the same step. */
function isProgression(row: readonly string[]): boolean {
  const [skeleton] = row.map((text) => text.replace(NUMBER, '#'))
  if (!row.every((text) => text.replace(NUMBER, '#') === skeleton)) return false
  const numbers = row.map((text) => (text.match(NUMBER) ?? []).map(Number))
  return (numbers[0] ?? []).every((_, column) => {
    const values = numbers.map((one) => one[column] as number)
    return values.every((value) => value === values[0]) || isSteady(values)
  })
}

/** Every step the same, and not nothing. */
function isSteady(values: readonly number[]): boolean {
  const step = (values[1] ?? 0) - (values[0] ?? 0)
  return step !== 0 && values.every((value, at) => at === 0 || value - (values[at - 1] as number) === step)
}
