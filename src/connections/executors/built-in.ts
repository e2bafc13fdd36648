/** The executors that every runtime knows; all but the local one are loaded when they are first connected. */
import type { ExecutorDefinition } from '../executor.ts'
import { localExecutor } from './local.ts'

const lazy = (kind: string, load: () => Promise<ExecutorDefinition>): ExecutorDefinition => ({
  kind,
  connect: async (context) => (await load()).connect(context),
})

export const BUILT_IN: readonly ExecutorDefinition[] = [
  localExecutor,
  lazy('command', async () => (await import('./command/command.ts')).commandExecutor),
  lazy('exec-server', async () => (await import('./exec-server/exec-server.ts')).execServerExecutor),
  lazy('ssh', async () => (await import('./command/ssh.ts')).sshExecutor),
]
