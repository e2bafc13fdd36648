/** Finds the answer in what a hook printed: scripts greet, report and warn on the stream that their answer is on. */

/** The first line that an object may begin on, behind colours and blanks. */
// oxlint-disable-next-line no-control-regex -- colours of terminals
const OBJECT_LINE = /^(?:\u001B\[[0-9;]*m|[ \t])*\{/m
/** Keys by which an answer is told from JSON that a script reports with. */
const ANSWER_KEY = /"(?:hookSpecificOutput|permissionDecision|updatedInput|decision|continue|stopReason)"\s*:/

/** The text from the beginning of the answer to the end, for a strict reader; null: the hook has no opinion. `printed` is trimmed. */
export function answerText(printed: string): string | null {
  if (printed.startsWith('{')) return printed
  const line = OBJECT_LINE.exec(printed)
  if (line === null) return null
  const text = printed.slice(line.index + line[0].length - 1)
  return ANSWER_KEY.test(text) ? text : null
}
