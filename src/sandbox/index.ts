/** `tapline/sandbox`: for authors of MCP servers. Loads nothing of the runtime. */
export { AuthorityGuard } from './authority-guard.ts'
export { sandboxCapability } from './call-authority.ts'
export type { CallMeta, SandboxLauncher } from './call-authority.ts'
export { readSandbox } from './read-sandbox.ts'
export type { ReadSandboxOptions, Sandbox } from './read-sandbox.ts'
export type { RunOptions, SandboxOutput } from './run-command.ts'
export type { SandboxedProcess, SandboxExit, SpawnSettings } from './sandboxed-process.ts'
export {
  SandboxAuthorityChangedError,
  SandboxContradictionError,
  SandboxLauncherError,
  SandboxOutputError,
  SandboxUnavailableError,
} from './sandbox-errors.ts'
