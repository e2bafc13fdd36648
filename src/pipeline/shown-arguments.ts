/** The words of a command line as a question shows them: what looks like a secret is left out, since nobody named it as one. */

const NAME = '[\\w.-]*(?:token|key|secret|passw|passphrase|credential|auth|cookie)[\\w.-]*'
/** `--api-key=…`, `Authorization: …` */
const WITH_VALUE = new RegExp(`^(-{0,2}${NAME}\\s*[=:]\\s*).+$`, 'is')
/** `--api-key`, and the value is the next word */
const ALONE = new RegExp(`^-{1,2}${NAME}[=:]?$`, 'i')
const LOGIN = /(:\/\/)[^/@\s]*@/g

/** Characters of a word that are shown. */
const LONGEST = 500

/** One text for each word. */
export function shownArguments(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    if (ALONE.test((words[at - 1] ?? '').slice(0, LONGEST)) && !word.startsWith('-')) return '…'
    // a question is read by a person, and the patterns take longer for longer words
    const text = word.length > LONGEST ? `${word.slice(0, LONGEST)}…` : word
    return text.replace(WITH_VALUE, '$1…').replace(LOGIN, '$1…@')
  })
}
