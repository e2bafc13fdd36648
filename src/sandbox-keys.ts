/** Leaf room. The three names of the sandbox contract, for its host side and its server side. */

/** Capability under `experimental`, and the key of `_meta` with the state. */
export const STATE = 'codex/sandbox-state'
/** The earlier name of both. */
export const STATE_ALIAS = 'codex/sandbox-state-meta'
/** The key of `_meta` with `{ codexExecutable }`. */
export const LAUNCHER = 'codex/sandbox-launcher'
