/** Which of the last lines of stderr say what went wrong. */

/** Lines that a message shows; all that are kept are in `data.stderr`. */
const SHOWN_LINES = 5
/** Frames of a stack, brackets and carets around it: they would push the error itself out of the last lines. */
const NO_NEWS = /^(?:at (?:.+:\d+:\d+\)?|\S+\([^()]*\))(?: \{)?|[\^~{}[\]();,]+)$/

/** The last 5 lines without the frames of a stack; with them where there is nothing else. */
export function tellingLines(lines: readonly string[]): readonly string[] {
  const telling = lines.filter((line) => !NO_NEWS.test(line))
  return (telling.length === 0 ? lines : telling).slice(-SHOWN_LINES)
}
