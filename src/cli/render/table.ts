/** Aligned columns. */

/** A cell: what it says, and how it is coloured once its width is known. */
export interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
}

const GAP = '  '
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NONE = /^\p{M}$/u

/** Columns that the text takes on a terminal; text of one line, without control characters. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += NONE.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return width
}

/** Lines with every column as wide as its widest cell; no spaces at the ends of lines. Texts must be of one line (`visibleLine`). */
export function table(rows: readonly (readonly (Cell | string)[])[]): string {
  const cells = rows.map((row) => row.map((cell): Cell => (typeof cell === 'string' ? { text: cell } : cell)))
  const widths: number[] = []
  for (const row of cells) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell.text))))
  return cells.map((row) => line(row, widths)).join('\n')
}

function line(row: readonly Cell[], widths: readonly number[]): string {
  let last = row.length - 1
  while (last > 0 && row[last]?.text === '') last--
  return row
    .slice(0, last + 1)
    .map(({ text, paint = String }, at) => paint(text) + (at === last ? '' : ' '.repeat((widths[at] ?? 0) - widthOf(text))))
    .join(GAP)
}
