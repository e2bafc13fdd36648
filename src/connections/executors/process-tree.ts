/** The processes of this machine as Linux shows them in /proc. */
import { readFileSync, readdirSync } from 'node:fs'

/** One process. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** with the pid an identity: a pid alone is used again */
  readonly started: string
}

/** ms for which one reading of /proc serves: closing fifty servers reads it a few times, not a hundred and fifty. */
const FRESH_MS = 20
let latest: { readonly at: number; readonly table: ReadonlyMap<number, ProcessEntry> } | null = null

/** Every process that is not a zombie, read at `since` (of `performance.now()`) or later; null where there is no /proc. */
export function processTable(since = 0): ReadonlyMap<number, ProcessEntry> | null {
  if (process.platform !== 'linux') return null
  const now = performance.now()
  if (latest && latest.at >= since && now - latest.at < FRESH_MS) return latest.table
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return null
  }
  const table = new Map<number, ProcessEntry>()
  for (const name of names) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      // the command in parentheses may hold anything, parentheses too
      const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      if (fields[0] !== 'Z' && fields[0] !== 'X')
        table.set(pid, { pid, parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] ?? '' })
    } catch {
      // it ended while we were reading
    }
  }
  latest = { at: performance.now(), table }
  return table
}

/** Descendants of the group that are not in it. */
export function outsiders(table: ReadonlyMap<number, ProcessEntry>, group: number): ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>()
  for (const entry of table.values()) {
    const siblings = children.get(entry.parent)
    if (siblings) siblings.push(entry)
    else children.set(entry.parent, [entry])
  }
  const kin = [...table.values()].filter((entry) => entry.group === group)
  const seen = new Set(kin)
  for (const entry of kin) {
    for (const child of children.get(entry.pid) ?? []) {
      if (!seen.has(child)) kin.push(child)
      seen.add(child)
    }
  }
  return kin.filter((entry) => entry.group !== group)
}
