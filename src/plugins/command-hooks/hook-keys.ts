/** Words of the formats that hooks files come in. */

/** Keys of a hook that count. */
export const HOOK_KEYS = ['type', 'command', 'commandWindows', 'timeout', 'async', 'asyncRewake', 'shell', 'onFailure'] as const
/** Keys of a hook that say nothing about what it does to a call. */
export const IGNORED_KEYS = ['statusMessage', 'once', 'description', 'name'] as const

/** Events of other programs that are not about a tool call. */
export const EVENTS_OF_OTHERS: ReadonlySet<string> = new Set([
  'SessionStart',
  'SessionEnd',
  'Setup',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'Notification',
  'PermissionDenied',
  'PostToolBatch',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'ConfigChange',
  'InstructionsLoaded',
  'CwdChanged',
  'FileChanged',
  'WorktreeCreate',
  'WorktreeRemove',
  'Elicitation',
  'ElicitationResult',
  'Interrupt',
])
