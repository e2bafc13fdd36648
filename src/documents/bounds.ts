/** Limits of numbers in a document. */

export interface Bounds {
  readonly least: number
  readonly most: number
}

/** The longest time limit of a document, in seconds: one day. */
export const LONGEST_SEC = 86_400
