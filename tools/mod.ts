// Tools: their types, the registry, and how one call is shown, validated and run.

export { type BuiltinSettings, builtinTools } from "./builtin/mod.ts";
export { type ContextOptions, createContext, type PluginContext } from "./context.ts";
export type {
  AsksPerson,
  BackgroundRun,
  BuiltinTool,
  Caller,
  CommandOutput,
  DiskAccess,
  Effects,
  ExecutionContext,
  ExecutionResult,
  JsonSchema,
  PersonalityParts,
  PersonsAnswers,
  Preview,
  RegisteredTool,
  Registration,
  ReplacedFile,
  Rewrite,
  RunsIn,
  SeenFile,
  SeenFiles,
  ToolDefinition,
  ToolInput,
  ToolOrigin,
  ToolServer,
  WaitsElsewhere,
} from "./definition.ts";
export { previewCall, previewIsCut, previewResult } from "./preview.ts";
export { processTools, type RegistryOptions, ToolRegistry } from "./registry.ts";
export type {
  AskedSources,
  RegisterTool,
  ResolveTools,
  SourceState,
  SourceStatus,
  ToolSource,
} from "./registration/types.ts";
export { NO_RESULT, notExecutable, STOPPED } from "./definition.ts";
export { runTool } from "./run.ts";
export { checkInput, completeInput, prepareValidator } from "./validate.ts";
export { visible } from "../base/visible.ts";
