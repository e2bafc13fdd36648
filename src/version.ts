/** Leaf room: the version that servers and people are told. */

/** Kept equal to package.json by a test. */
export const VERSION = '0.1.0'
