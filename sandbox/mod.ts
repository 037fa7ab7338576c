// Public interface of the sandbox folder: everything that tools, the cycle and the commands import from it.

export { createSandboxApi, type SandboxApi, type SandboxApiOptions, type Wrapped } from "./api.ts";
export { backends, registerBuiltinBackends } from "./backends/builtin.ts";
export { type EnvironmentOptions, toolEnvironment, withheldVariables } from "./policy/tool_environment.ts";
export { expandPath, type PathContext } from "./paths/expand.ts";
export { reachesFurther } from "./policy/reaches_further.ts";
export { type HostPermissions, permissionFlags } from "./policy/deno_permissions.ts";
export { type ResolvedPolicy, resolvePolicy } from "./policy/policy.ts";
export { realPath } from "../base/disk/real_path.ts";
export { expandHome, isInside } from "../base/paths.ts";
export { type BackendEntry, BackendRegistry } from "./backends/registry.ts";
export type { SandboxComparison } from "./run/compare.ts";
export { type GitRun, runGit } from "./run/git.ts";
export {
  type CommandsWatch,
  compareSandboxes,
  createSandbox,
  RunSandbox,
  type SandboxOptions,
} from "./sandbox.ts";
export { type ExitStatus, type Running, spawn, type SpawnOptions } from "./process/spawn.ts";
export { type StillHidden, stillHidden } from "./policy/keep_hidden.ts";
export { renderStatus, type SandboxStatus, sandboxStatus, statusExitCode } from "./status.ts";
export { type FileChange, fileChangeSentence } from "./protect/watched.ts";
export type { RunningProgram } from "./protect/own_code.ts";
export type {
  Backend,
  BackendCoverage,
  FileAccess,
  FileTurn,
  MountablePolicy,
  PathView,
  PipedProcess,
  Policy,
  PreparedCommand,
  PrepareOptions,
  Sandbox,
  SandboxWorker,
  SetupFailure,
} from "./types.ts";
