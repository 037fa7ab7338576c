// The sandbox room: what tools, the cycle and the commands use of it.

export { createSandboxApi, type SandboxApi, type SandboxApiOptions, type Wrapped } from "./api.ts";
export { backends, registerBuiltinBackends } from "./backends.ts";
export { toolEnvironment } from "./environment.ts";
export { expandPath, type PathContext } from "./expand.ts";
export { loosened } from "./loosened.ts";
export { type HostPermissions, permissionFlags } from "./permissions.ts";
export { type ResolvedPolicy, resolvePolicy } from "./policy.ts";
export { expandHome, isInside, realPath } from "./realpath.ts";
export { type BackendEntry, BackendRegistry } from "./registry.ts";
export { createSandbox, RunSandbox, type SandboxOptions } from "./sandbox.ts";
export { type ExitStatus, type Running, spawn, type SpawnOptions } from "./spawn.ts";
export { type StillHidden, stillHidden } from "./still_hidden.ts";
export { renderStatus, type SandboxStatus, sandboxStatus, statusExitCode } from "./status.ts";
export type { Backend, MountablePolicy, Policy, Prepared, Sandbox, SetupFailure } from "./types.ts";
