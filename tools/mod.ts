// Tools: what they are, which there are, and how one call of them is shown, checked and run.

export { type BuiltinSettings, builtinTools } from "./builtin/mod.ts";
export { type ContextOptions, createContext, type PluginContext } from "./context.ts";
export type {
  Caller,
  DiskAccess,
  ExecutionContext,
  ExecutionResult,
  JsonSchema,
  PersonalityParts,
  Preview,
  Registration,
  ReplacedFile,
  SeenFile,
  SeenFiles,
  ToolDefinition,
  ToolInput,
} from "./definition.ts";
export { previewCall, previewIsCut, previewResult } from "./preview.ts";
export { processTools, type RegistryOptions, ToolRegistry } from "./registry.ts";
export type {
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
