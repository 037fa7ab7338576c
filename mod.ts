/**
 * Agent loops on plain `.chat` documents: open one, write a message, run it until a person is needed, decide, go on.
 *
 * ```ts
 * import { openChat } from "flemma";
 *
 * const opened = await openChat("notes.chat");
 * if (!opened.ok) console.error(opened.problem.message);
 * else {
 *   await using chat = opened.value;
 *   await chat.say("Which tests fail?");
 *   const { reason, reply } = await chat.advance();
 *   console.log(reason, reply);
 * }
 * ```
 *
 * These names suffice for bots, jobs and evaluations. `flemma/advanced` has everything else: parts of the loop, sandbox
 * backends, approval resolvers, tool registries. `flemma/parser` has only the format.
 *
 * @module
 */

export {
  applyEdits,
  chatInMemory,
  conversationOf,
  DEFAULT_SETTINGS,
  isPlaceholder,
  loadSettings,
  newChat,
  openChat,
  parse,
  parseReplayScript,
  processEnvironment,
  proseOf,
  rejectWith,
  replayProvider,
  sandbox,
  setStatus,
  startReplay,
  toJson,
  tools,
  update,
} from "./advanced.ts";
export type {
  Call,
  CallTarget,
  Chat,
  ChatOptions,
  ChatSession,
  CycleEvent,
  Diagnosis,
  Diagnostic,
  Edit,
  Environment,
  ExecutionContext,
  ExecutionResult,
  ExplainedCall,
  MemoryOptions,
  OpenCall,
  OpenOptions,
  OpenQuestions,
  Outcome,
  Policy,
  Problem,
  Prompt,
  QuestionForm,
  Replay,
  ReplayOptions,
  ReplayScript,
  Result,
  RunEvent,
  RunResult,
  SayOptions,
  Settings,
  SettingsOptions,
  SettingsOverrides,
  ShownCall,
  Stop,
  StopReason,
  ToolDefinition,
  ToolInput,
  Turn,
  UsageTotal,
} from "./advanced.ts";
