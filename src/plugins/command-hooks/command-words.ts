/** The words of a command line that may be paths: more than a shell would open, so that nothing that it opens is missed. */
import { homedir } from 'node:os'
import { type HookPlaces, placeVariables } from './hook-env.ts'

/** Characters of a value or word that may be a path: no system opens longer ones, and values of values would double with each other. */
const LONGEST = 4096

/** Words as a shell would cut them, without its quotes, with variables filled in as far as the line itself and the places of the hook say them. */
export function commandWords(command: string, places: HookPlaces): readonly string[] {
  // a shell joins lines that end in a backslash, but within single quotes
  return [...new Set([command, command.replaceAll('\\\n', '')].flatMap((line) => lineWords(line, places)))]
}

function lineWords(command: string, places: HookPlaces): readonly string[] {
  const variables = { ...placeVariables(places), PWD: places.folder, HOME: homedir(), ...assigned(command, places) }
  const words = new Set<string>()
  for (const cut of [wordsOf(filledIn(command, variables)), wholeWords(command, variables)]) {
    for (const [at, word] of cut.entries()) {
      words.add(word.startsWith('~/') ? homedir() + word.slice(1) : word)
      // -f./rules.awk; --import=./x.mjs was cut at the sign
      const glued = /^-\w(.+)$/s.exec(word)?.[1]
      if (glued !== undefined) words.add(glued)
      if (cut[at - 1] === '-m') words.add(`${word.replaceAll('.', '/')}.py`)
    }
  }
  return [...words].filter((text) => text !== '' && text.length <= LONGEST && !text.includes('\0'))
}

/** The words where no value is cut, whatever is in it: folders may have blanks and quotes in their names. */
function wholeWords(command: string, variables: Readonly<Record<string, string>>): readonly string[] {
  const names = Object.keys(variables)
  // a NUL is in no command
  const marked = filledIn(command, Object.fromEntries(names.map((name, index) => [name, `\0${index}\0`])))
  return wordsOf(marked).map((word) => word.replace(/\0(\d+)\0/g, (_, index: string) => variables[names[Number(index)] ?? ''] ?? ''))
}

/** `NAME=value` within the line: the value may hold the folder of a script. */
function assigned(command: string, places: HookPlaces): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>
  const known = { ...placeVariables(places), PWD: places.folder, HOME: homedir() }
  for (const [, name = '', value = ''] of command.matchAll(/(?:^|[\s;&|(])([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;&|()]*)/g)) {
    const filled = filledIn(value.replace(/^(["'])(.*)\1$/s, '$2'), { ...known, ...found })
    if (filled.length <= LONGEST) found[name] = filled
  }
  return found
}

/** `$NAME`, `${NAME}` and `${NAME:-…}` in all their forms; what is not known stays as it is. */
function filledIn(text: string, variables: Readonly<Record<string, string>>): string {
  return text
    .replaceAll('$(pwd)', variables['PWD'] ?? '')
    .replace(/\$(?:\{(\w+)(?:[^\w}][^}]*)?\}|(\w+))/g, (written, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare ?? ''
      return Object.hasOwn(variables, name) ? (variables[name] ?? '') : written
    })
}

/**
 * What is in quotes is cut once more, for `bash -c "…"`. Files that the line only writes are left out (`>> log`, `| tee -a log`): a hook that
 * keeps a log would change what its trust is bound to, each time that it runs. Names that the shell works out by running something stay.
 */
function wordsOf(command: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  /** the next word is written to; with `tee` every word up to the next operator */
  let written: 'no' | 'next' | 'all' = 'no'
  let isPiped = false
  const end = (): void => {
    if (word === '') return
    if (written === 'no' || /\$\(|`/.test(word)) {
      words.push(word)
      if (/[\s"'`;|&()<>=]/.test(word)) words.push(...word.split(/[\s"'`;|&()<>=]+/))
    }
    if (written === 'next') written = 'no'
    else if (isPiped && word === 'tee') written = 'all'
    isPiped = false
    word = ''
  }
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string
    if (quote !== '') {
      if (char === quote) quote = ''
      else if (quote === '"' && char === '\\' && /["\\$`]/.test(command[at + 1] ?? '')) word += command[++at]
      else word += char
    } else if (char === '"' || char === "'") quote = char
    else if (char === '\\') word += command[++at] ?? ''
    else if (/[\s`;|&()<>=]/.test(char)) {
      end()
      const before = command[at - 1]
      // <> opens for reading too; >( runs something; >| and >& go on with the same
      if (char === '>' && before !== '<') written = 'next'
      else if (/[`;()<\n]/.test(char) || (/[|&]/.test(char) && before !== '>')) written = 'no'
      if (!/[^\S\n]/.test(char)) isPiped = char === '|'
    } else word += char
  }
  end()
  return words
}
