/** The executor `ssh`: `command` with the system's ssh client as the bridge. */
import type { ExecutorDefinition } from '../../executor.ts'
import { CommandExecutor } from './command.ts'
import { readSshOptions } from './options.ts'

/** Keys, agents, jump hosts and known hosts are those of the system's ssh configuration. */
export const sshExecutor: ExecutorDefinition = {
  kind: 'ssh',
  connect: ({ environmentId, options, watch }) => Promise.resolve(new CommandExecutor(environmentId, readSshOptions(options), watch)),
}
