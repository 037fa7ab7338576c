/**
 * The library: documents and the whole agent loop on them, for use in other programs.
 *
 * Reading a document needs nothing else:
 *
 * ```ts
 * import { parse } from "flemma";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello\n"));
 * console.log(chat.turns[0]?.role); // You
 * ```
 *
 * {@linkcode openChat} opens a file with everything the agent loop needs, {@linkcode chatInMemory} opens a text that is
 * stored elsewhere, and {@linkcode newChat} creates a document. Errors are values: functions return an
 * {@linkcode Outcome}, a run returns a {@linkcode Stop}.
 *
 * @module
 */

import { checkOptions } from "./agent/runtime/host/check_options.ts";
import { liveEnvironment, systemFor } from "./base/environment.ts";
import type { Outcome } from "./base/problem.ts";
import { loadSettingsLayers } from "./config/load.ts";
import { DEFAULT_SETTINGS } from "./config/settings.generated.ts";
import type { LoadedSettings, SettingsOptions } from "./config/sources/find.ts";
import { createSandboxApi, type SandboxApi, type SandboxApiAliases } from "./sandbox/api.ts";
import { backends } from "./sandbox/mod.ts";

export * from "./agent/mod.ts";
export {
  type BatchChatOptions,
  type BatchedDocument,
  type BatchResult,
  fetchBatch,
  type FetchBatchOptions,
  sendBatch,
} from "./batch/library.ts";
export { type Environment, processEnvironment } from "./base/environment.ts";
export { failure, type Outcome, type Problem, success } from "./base/problem.ts";
export type { LongText } from "./base/text/long_text.ts";
export {
  type ContextSettings,
  DEFAULT_SETTINGS,
  type FallbackSettings,
  type FrontmatterLimits,
  type HookSettings,
  type InstructionSettings,
  type McpServer,
  type Parameters,
  type PricingSettings,
  type ProviderSettings,
  type RunSettings,
  type SandboxSettings,
  type ServerToolSettings,
  type Settings,
  type SkillSettings,
  type SubagentSettings,
  type ToolSettings,
  type ToolVariables,
  type TrustSettings,
} from "./config/settings.generated.ts";
export type {
  ApprovalPreset,
  AutoApprove,
  AutoApproveFunction,
  CredentialVariables,
  DocumentApproval,
  HookEntry,
  HookGroup,
  ModelSetting,
  NetworkList,
  Presets,
  ProviderParameters,
  ResolvedSkills,
  ResolvedTools,
  ResolverFile,
  ResourceLimits,
  RwPath,
  Thinking,
  ThinkingLevel,
} from "./config/values.ts";
export type { SettingsOptions } from "./config/sources/find.ts";
export type { RequestStatus } from "./cycle/types.ts";
export { MemoryStore } from "./cycle/storage/memory_store.ts";
export * from "./parser/library.ts";
export { conversationOf } from "./prompt/conversation.ts";
export type { FileRead, Lines, Part, Prompt, PromptMessage } from "./prompt/types.ts";
export {
  type EnterOptions,
  type LineWait,
  RequestLimiter,
  type RequestPlace,
} from "./providers/http/limiter.ts";
export type { Clock } from "./providers/http/patience.ts";
export { getProvider, type ProviderSource } from "./providers/registry.ts";
export {
  parseReplayScript,
  type Replay,
  type ReplayedRequest,
  type ReplayOptions,
  type ReplayScript,
  type ScriptedReply,
  startReplay,
} from "./providers/replay/server.ts";
export type { Prices } from "./providers/models/types.ts";
export { replayProvider } from "./providers/replay/provider.ts";
export type {
  Expectation,
  Fault,
  ReplyBlock,
  ResultExpectation,
  ScriptedFetch,
  ScriptedPage,
  ScriptedSearch,
  ScriptedServerTool,
  TextExpectation,
} from "./providers/replay/script.ts";
export type { Account as ReplayAccount } from "./providers/replay/messages.ts";
export type {
  BuiltRequest,
  DroppedThinking,
  Effect,
  ErrorClass,
  ListRequest,
  OfferedTool,
  Outline,
  PrefixPiece,
  Provider,
  ProviderError,
  ProviderRequest,
  RequestFallback,
  RequestInput,
  ServerTool,
  ServerToolAbilities,
  ServerToolAbility,
  ServerToolName,
  StreamReader,
  ThinkingPart,
  Trouble,
  Usage,
} from "./providers/types.ts";
export {
  createSandboxApi,
  type Detected,
  type SandboxApi,
  type SandboxApiAliases,
  type SandboxApiOptions,
  type SandboxResult,
  type Wrapped,
} from "./sandbox/api.ts";
export {
  type Backend,
  type BackendCoverage,
  type BackendEntry,
  BackendRegistry,
  backends,
  type CommandsWatch,
  createSandbox,
  type EnvironmentOptions,
  type ExitStatus,
  type FileAccess,
  type FileChange,
  type FileTurn,
  type MountablePolicy,
  type PathView,
  type PipedProcess,
  type Policy,
  type PreparedCommand,
  type PrepareOptions,
  type ResolvedPolicy,
  resolvePolicy,
  type Running as RunningCommand,
  type RunningProgram,
  type RunSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxStatus,
  sandboxStatus,
  type SandboxWorker,
  type SetupFailure,
  type SpawnOptions,
  toolEnvironment,
} from "./sandbox/mod.ts";
export type { PathContext } from "./sandbox/paths/expand.ts";
export type { DroppedEntry, WritablePath, WritablePaths } from "./sandbox/policy/writable.ts";
export type { FoundSockets } from "./sandbox/policy/sockets.ts";
export type { ShownFile } from "./sandbox/policy/tool_caches.ts";
export type { BackendConfig, BackendPreparation, HiddenPath, Host, SharedNetwork } from "./sandbox/types.ts";
export {
  type ApprovalContext,
  type ApprovalDecision,
  type ApprovalParts,
  ApprovalRegistry,
  type CallReasons,
  type ChainLink,
  createApproval,
  type Decision,
  type EvaluatedCommand,
  type ExplainedCommand,
  type ExplainedRule,
  type Explanation,
  processApproval as approval,
  type ResolverDefinition,
  type ResolverEntry,
  type ResolverFault,
  type RuleEvaluation,
  type RuleEvaluator,
} from "./tools/approval/mod.ts";
export type { ToolFacts } from "./tools/approval/presets.ts";
export type { CommandPattern, PatternWord } from "./config/rules/command_pattern.ts";
export type { PathPattern } from "./config/rules/path_pattern.ts";
export type { PlacedRule, Rule } from "./config/rules/rule.ts";
export type { PluginSandbox, PluginTruncate, WrappedCommand } from "./tools/context.ts";
export type {
  InputValidator,
  Limits,
  LongTextOptions,
  TextInPieces,
  Truncate,
  Truncation,
} from "./tools/definition.ts";
export type { Previewed } from "./tools/preview.ts";
export type { GetAllOptions } from "./tools/registry.ts";
export type { Checked } from "./tools/validate.ts";
export {
  type AskedSources,
  type AsksPerson,
  type BackgroundRun,
  type BuiltinSettings,
  type BuiltinTool,
  builtinTools,
  type Caller,
  checkInput,
  type CommandOutput,
  type ContextOptions,
  createContext,
  type DiskAccess,
  type Effects,
  type ExecutionContext,
  type ExecutionResult,
  type JsonSchema,
  type PersonalityParts,
  type PersonsAnswers,
  type PluginContext,
  type Preview,
  previewCall,
  processTools as tools,
  type RegisteredTool,
  type RegisterTool,
  type Registration,
  type RegistryOptions,
  type ReplacedFile,
  type ResolveTools,
  type Rewrite,
  type RunsIn,
  runTool,
  type SeenFile,
  type SeenFiles,
  type SourceState,
  type SourceStatus,
  type ToolDefinition,
  type ToolInput,
  type ToolOrigin,
  ToolRegistry,
  type ToolServer,
  type ToolSource,
  type WaitsElsewhere,
} from "./tools/mod.ts";

/**
 * Loads a document's settings without its frontmatter: from every settings file that applies, and the overrides in
 * `options`.
 *
 * ```ts
 * import { loadSettings, processEnvironment } from "flemma";
 *
 * const loaded = await loadSettings({ environment: processEnvironment(), noConfig: true });
 * if (loaded.ok) console.log(loaded.value.settings.provider); // anthropic
 * ```
 *
 * @param options the environment, the document, and which settings to load
 * @returns the settings. Any mistake in a file or option is a failure, so a wrong policy is never partly applied. The
 * problem `config-invalid` lists every mistake, one per line, as `FILE:LINE:COL: sentence`.
 */
export async function loadSettings(options: SettingsOptions): Promise<Outcome<LoadedSettings>> {
  const system = systemFor("loadSettings");
  if (!system.ok) return system;
  const checked = checkOptions("loadSettings", options);
  return checked.ok ? await loadSettingsLayers(options) : checked;
}

/**
 * This process's sandbox under the default settings, with the plugin's names as aliases. A document is identified by
 * its absolute path. Programs with their own settings create a sandbox with `createSandboxApi`.
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
