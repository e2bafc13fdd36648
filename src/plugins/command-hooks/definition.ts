/** Command hooks as a file defines them, checked: plain data. */
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { Matcher } from './matcher.ts'

/** Events of a tool call, in the order in which they come up. */
export const EVENTS = ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure'] as const
export type HookEvent = (typeof EVENTS)[number]

/** One command hook. */
export interface CommandHook {
  readonly event: HookEvent
  /** its place among the hooks, as its file writes it: `PreToolUse[0].hooks[1]` */
  readonly id: string
  /** as written; the empty text: every call */
  readonly matcher: string
  /** a line for the shell */
  readonly command: string
  readonly timeoutMs: number
  /** true: nobody waits for it, and what it says has no effect */
  readonly isAsync: boolean
  readonly onFailure: 'block' | 'continue'
  /** everything that its file says of it, for comparing */
  readonly written: string
  /** `file:line:column`, or `host` */
  readonly where: string
}

/** A command hook whose matcher is compiled. */
export interface ReadyHook extends CommandHook {
  readonly fits: Matcher
}

/** The hooks of one file or of one object given in code. */
export interface HookFile {
  /** absolute; null: given in code */
  readonly path: string | null
  readonly hooks: readonly ReadyHook[]
  /** events that are not run, keys that nobody knows */
  readonly diagnostics: readonly Diagnostic[]
}
