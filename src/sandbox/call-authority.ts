/** What the `_meta` of one call says about the sandbox, checked and otherwise untouched. */
import { isAbsolute } from 'node:path'
import type { Json } from '../json.ts'
import { canonicalJson } from '../json.ts'
import { LAUNCHER, STATE, STATE_ALIAS } from '../sandbox-keys.ts'
import { SandboxContradictionError } from './sandbox-errors.ts'

/** `_meta` of a request, as the MCP SDK hands it to a handler: `extra._meta`. */
export type CallMeta = { readonly [key: string]: unknown } | undefined

/** The program that runs a command in the sandbox. */
export interface SandboxLauncher {
  /** absolute */
  readonly codexExecutable: string
}

/** The authority of one call. */
export interface CallAuthority {
  /** the original value; undefined where the host sent none */
  readonly state: unknown
  readonly launcher: SandboxLauncher | null
}

/** Spread it into `capabilities.experimental` of a server: it asks the host for the state. */
export const sandboxCapability: { readonly [STATE]: Record<string, never> } = Object.freeze({ [STATE]: Object.freeze({}) })

/** Halves of surrogate pairs, the replacement character (a name that was not UTF-8 became one) and NUL. */
const NOT_A_PATH = /[\p{Surrogate}\uFFFD\0]/u

/** Reads the three keys. Throws SANDBOX_CONTRADICTION where they do not agree or the launcher is no absolute path. */
export function readAuthority(meta: CallMeta): CallAuthority {
  const state = member(meta, STATE)
  const alias = member(meta, STATE_ALIAS)
  if (state !== undefined && alias !== undefined && textOf(state) !== textOf(alias))
    throw new SandboxContradictionError(`the host sent two different values as ${STATE} and ${STATE_ALIAS}`)
  return { state: state ?? alias, launcher: readLauncher(member(meta, LAUNCHER)) }
}

/** One text for equal authorities, whatever the order of their keys. Throws SANDBOX_CONTRADICTION as `readAuthority` does. */
export function authorityText(meta: CallMeta): string {
  const { state } = readAuthority(meta)
  return `${textOf(state)} ${textOf(member(meta, LAUNCHER))}`
}

/** A member of its own that is neither undefined nor null. */
function member(meta: CallMeta, key: string): unknown {
  if (typeof meta !== 'object' || meta === null || !Object.hasOwn(meta, key)) return undefined
  return meta[key] ?? undefined
}

function readLauncher(given: unknown): SandboxLauncher | null {
  if (given === undefined) return null
  const path =
    typeof given === 'object' && given !== null && Object.hasOwn(given, 'codexExecutable')
      ? (given as SandboxLauncher).codexExecutable
      : undefined
  if (typeof path !== 'string') throw new SandboxContradictionError(`${LAUNCHER} of the host has no codexExecutable`)
  if (!isAbsolute(path)) throw new SandboxContradictionError(`the launcher ${JSON.stringify(path.slice(0, 200))} is no absolute path`)
  if (NOT_A_PATH.test(path))
    throw new SandboxContradictionError(`the launcher ${JSON.stringify(path.slice(0, 200))} is no path in valid UTF-8`)
  return { codexExecutable: path }
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  try {
    return canonicalJson(value as Json)
  } catch (error) {
    // A host that nests this deep cannot be compared with itself.
    if (error instanceof RangeError) throw new SandboxContradictionError('the sandbox metadata is nested too deeply to be compared')
    throw error
  }
}
