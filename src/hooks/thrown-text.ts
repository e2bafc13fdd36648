/** What code of a plugin has thrown, for messages about it. */

/** `file:line:column` of the author's code, or nothing. */
function placeOf(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node:'))
  const own = frames.find((line) => !line.includes(OWN_FOLDER) && /:\d+:\d+\)?$/.test(line))
  const place = own === undefined ? undefined : /([^/\\()]+:\d+:\d+)\)?$/.exec(own)?.[1]
  return place === undefined ? '' : ` (${place})`
}
/** where this code lies, as a stack shows it */
const OWN_FOLDER = new URL('..', import.meta.url).href

/** One line: `TypeError: message (file.js:3:5)`. `redact` takes secrets out before it is cut. Never throws, whatever was thrown. */
export function thrownText(thrown: unknown, redact: (text: string) => string): string {
  try {
    const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `a value that is no error (${String(thrown)})`
    return redact(text).split('\n', 1)[0]!.slice(0, 300) + (thrown instanceof Error ? placeOf(thrown) : '')
  } catch {
    return 'a value that cannot be shown'
  }
}
