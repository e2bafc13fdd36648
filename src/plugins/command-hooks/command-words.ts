/** The words of a command line that may be paths: more than a shell would open, so that nothing that it opens is missed. */
import { homedir } from 'node:os'
import { type HookPlaces, placeVariables } from './hook-env.ts'
import { MOST_WORDS, ShellVariables, tooMuch } from './shell-variables.ts'
import { cutLine, joined, type ShellWord } from './shell-words.ts'

/** Lines within words of lines that are read with their quotes: `bash -c "sh -c '…'"`. Words within deeper ones are cut only. */
const MOST_DEPTH = 4
/** What makes a word a line of its own. */
const CUTS = /[\s"'`;|&()<>=]+/
const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=(.*)$/s

type Words = readonly (ShellWord | null)[]

/**
 * Words as a shell would cut them, without its quotes, with variables filled in as far as the line itself and the places of the hook say them.
 * What is in quotes is cut once more, for `bash -c "…"`. Throws TooManyPaths for a command that has more than can be gone through.
 */
export function commandWords(command: string, places: HookPlaces): readonly string[] {
  const variables = new ShellVariables({
    ...Object.fromEntries(Object.entries(placeVariables(places)).map(([name, value]) => [name, [value]])),
    // it changes with cd
    PWD: [places.folder, '.'],
    HOME: [homedir()],
  })
  const lines = linesIn(variables.marked(joined(command.replaceAll('\0', ''))), variables, 0)
  for (const line of lines) assign(line, variables)
  const words = new Set<string>()
  const add = (texts: readonly string[]): void => {
    for (const [at, text] of texts.entries()) {
      for (const word of variables.expanded(text)) {
        addWord(words, word, texts[at - 1])
        if (word === text || !CUTS.test(word)) continue
        for (const cut of [word.split(CUTS), cutLine(word).flatMap((one) => one?.text ?? [])])
          for (const [index, part] of cut.entries()) addWord(words, part, cut[index - 1])
      }
    }
  }
  for (const line of lines) {
    const texts = line.map((word) => word?.text ?? '')
    add(texts)
    for (const text of texts) if (CUTS.test(text)) for (const one of new Set([text, joined(text)])) add(one.split(CUTS))
  }
  return [...words]
}

function addWord(words: Set<string>, word: string, before: string | undefined): void {
  if (word === '') return
  words.add(word.startsWith('~/') ? homedir() + word.slice(1) : word)
  // -f./rules.awk; --import=./x.mjs is cut at the sign
  const glued = /^-\w(.+)$/s.exec(word)?.[1]
  if (glued !== undefined) words.add(glued)
  if (before === '-m') words.add(`${word.replaceAll('.', '/')}.py`)
  if (words.size > MOST_WORDS) throw tooMuch()
}

/** The line and those within its words. Names that the shell works out by running something are never left out. */
function linesIn(text: string, variables: ShellVariables, depth: number): readonly Words[] {
  const cut = cutLine(text)
  // nothing more to be cut
  if (depth > 0 && cut.length === 1 && cut[0]?.text === text) return []
  const line = cut.filter((word) => depth > 0 || word === null || !word.isWritten || variables.runsSomething(word.text))
  const inner = line.filter((word) => word !== null && (/[\\$]/.test(word.text) || CUTS.test(word.text)))
  const deeper = depth === MOST_DEPTH ? [] : inner.flatMap((word) => linesIn(joined(word?.text ?? ''), variables, depth + 1))
  return [line, ...deeper]
}

/** `NAME=value`, `NAME+=value`, `${NAME:=value}` and `for NAME in …` within the line: the value may hold the folder of a script. */
function assign(line: Words, variables: ShellVariables): void {
  for (const [at, word] of line.entries()) {
    if (word === null) continue
    // this takes what ${NAME:=value} sets
    variables.expanded(word.text)
    const [, name, adds, value = ''] = ASSIGNMENT.exec(word.text) ?? []
    if (name !== undefined) {
      const values = value === '' ? [''] : variables.expanded(value)
      variables.add(name, values)
      if (adds !== '')
        variables.add(
          name,
          variables.valuesOf(name).flatMap((start) => values.map((end) => start + end)),
        )
    }
    const variable = line[at + 1]?.text
    if (!/^(?:for|select)$/.test(word.text) || variable === undefined || line[at + 2]?.text !== 'in') continue
    const end = line.indexOf(null, at)
    const listed = line.slice(at + 3, end < 0 ? undefined : end).flatMap((one) => variables.expanded(one?.text ?? ''))
    variables.add(variable, [...listed, ...listed.flatMap((one) => one.split(/\s+/))])
  }
}
