/**
 * The library: documents, settings, tools, approval, sandbox, providers and the cycle, for other programs.
 *
 * Reading a document needs nothing else:
 *
 * ```ts
 * import { parse } from "./mod.ts";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello\n"));
 * console.log(chat.turns[0]?.role); // You
 * ```
 *
 * @module
 */

import { liveEnvironment } from "./base/environment.ts";
import { DEFAULT_SETTINGS } from "./config/settings.ts";
import { createSandboxApi, type SandboxApi, type SandboxApiAliases } from "./sandbox/api.ts";
import { backends } from "./sandbox/mod.ts";

export * from "./parser/mod.ts";
export { proseOf } from "./parser/prose.ts";
export { editBetween, offsetAt, offsetAtUnits, positionAt, unitsAt } from "./parser/utf16.ts";
export { type Environment, processEnvironment } from "./base/environment.ts";
export { failure, type Outcome, type Problem, success } from "./base/problem.ts";
export { loadSettings } from "./config/load.ts";
export { DEFAULT_SETTINGS, type Settings } from "./config/settings.ts";
export type { Loaded, LoadOptions } from "./config/sources/find.ts";
export {
  type Backend,
  BackendRegistry,
  backends,
  createSandbox,
  type Policy,
  resolvePolicy,
  type Sandbox,
  type SandboxOptions,
  type SandboxStatus,
  sandboxStatus,
  toolEnvironment,
} from "./sandbox/mod.ts";
export {
  builtinTools,
  checkInput,
  createContext,
  type ExecutionContext,
  type ExecutionResult,
  previewCall,
  runTool,
  type ToolDefinition,
  ToolRegistry,
} from "./tools/mod.ts";
export {
  type ApprovalContext,
  ApprovalRegistry,
  createApproval,
  type Decision,
  type ResolverDefinition,
  type Verdict,
} from "./tools/approval/mod.ts";
export { evaluate, type Prompt } from "./prompt/mod.ts";
export { getProvider } from "./providers/registry.ts";
export type { Provider, ProviderRequest } from "./providers/types.ts";
export { type Replay, startReplay } from "./providers/replay/server.ts";
export { Cycle, type CycleParts, type DocumentStore, type Journal, type Stop } from "./cycle/mod.ts";
export { createSend } from "./cycle/send/send.ts";
export { createSandboxApi, type SandboxApi, type SandboxApiOptions } from "./sandbox/api.ts";

/**
 * The sandbox of this process under the default settings, with the plugin's names beside ours; a document is its
 * absolute path. Programs with settings of their own make one with `createSandboxApi`.
 *
 * ```ts
 * import { sandbox } from "./mod.ts";
 *
 * console.log(sandbox.isEnabled()); // true
 * ```
 */
export const sandbox: SandboxApi<string> & SandboxApiAliases<string> = createSandboxApi<string>({
  settings: () => DEFAULT_SETTINGS.sandbox,
  path: (document) => document,
  environment: liveEnvironment,
  registry: backends,
});
