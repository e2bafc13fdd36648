/** Makes the record that stands in the place of others. */
import type { GapRecord } from './records.ts'
import { TRACE_VERSION } from './records.ts'

/** So many records before it could not be written. */
export const gapRecord = (records: number): GapRecord => ({ v: TRACE_VERSION, type: 'gap', time: new Date().toISOString(), records })
