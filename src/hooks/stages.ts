/** Named places in the order of a hook, with wide gaps between them. */

/** Before everything else of plugins. */
export const STAGE_FIRST = -1000
/** Guards: they look before ordinary taps do. */
export const STAGE_GUARD = -100
/** Where a tap runs that names no stage. */
export const STAGE_DEFAULT = 0
/** After ordinary taps. */
export const STAGE_LATE = 100
/** After everything else of plugins. */
export const STAGE_LAST = 1000
/** Stages are finite numbers within ± this limit; the built-in taps sit outside of it. */
export const STAGE_LIMIT = 1_000_000
