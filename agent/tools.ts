// The tools of one document: which there are, which are offered, how one is checked, judged and run.

import type { Environment } from "../base/environment.ts";
import { folderOfDocument, resolvePath } from "../base/paths.ts";
import { failure, inOneLine, type Outcome, type Problem, success } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Loaded } from "../config/sources/find.ts";
import type { CycleParts } from "../cycle/run/cycle.ts";
import type { Emit } from "../cycle/types.ts";
import type { RunSandbox } from "../sandbox/mod.ts";
import {
  type ApprovalDowngrade,
  createApproval,
  type Decide,
  type DecidedPaths,
  processApproval,
  type RuleEvaluator,
  waitsForSource,
  watchedFile,
  withDowngrades,
} from "../tools/approval/mod.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { createContext } from "../tools/context.ts";
import { catchUp, unchanged } from "../tools/builtin/seen_files.ts";
import type { Caller, DiskAccess, SeenFiles } from "../tools/definition.ts";
import { processTools, ToolRegistry } from "../tools/registry.ts";
import { runTool } from "../tools/run.ts";
import { completeInput, prepareValidator } from "../tools/validate.ts";
import { rulesOf } from "../tools/approval/rules_of.ts";
import { decidedBy } from "./review/decided_by.ts";
import type { SavedFiles } from "./undo/saved_files.ts";
import { type DocumentPaths, sandboxOf } from "./sandbox.ts";
import { NO_SERVERS, openServers, type ToolServers } from "./extensions/mcp.ts";
import { addSources } from "./extensions/sources.ts";
import { waitForTool } from "./extensions/waiting.ts";
import type { EndTools, SourcesSubject } from "./extensions/sources_subject.ts";
import type { OwnResolver, OwnTool, OwnTools } from "./types.ts";

/** The tools of a document, and how what was started for them is ended. */
export interface RegisteredTools {
  readonly tools: ToolRegistry;
  /** What is to be told of the definitions. */
  readonly warnings: readonly Problem[];
  /** Ends the processes of tools; they start anew when they are needed. */
  readonly end: EndTools;
  /** Servers of tools, which live as long as the document is open. */
  readonly servers: ToolServers;
}

/**
 * The built-in tools, those of this process and a host's own, the latter with their schemas compiled, so that inputs are
 * checked without waiting; and the sources of more. Fails with `invalid-tool`, `invalid-tool-schema` or `tool-module`.
 *
 * @param emit told what goes wrong with sources, and when the last has answered
 */
export async function registerTools(
  subject: SourcesSubject,
  own: readonly OwnTools[] = [],
  emit: Emit = () => {},
): Promise<Outcome<RegisteredTools>> {
  const { tools: settings } = subject.settings;
  const tell = (problem: Problem) =>
    emit({ event: "notice", code: problem.code, message: inOneLine(problem) });
  const builtin = new ToolRegistry();
  const registered = builtin.registerFrom("built-in", builtinTools(settings));
  if (!registered.ok) return registered;
  const tools = new ToolRegistry({
    defaultTimeout: settings.default_timeout,
    below: [processTools, builtin],
    onProblem: tell,
    onComplete: () => emit({ event: "boot:complete" }),
  });
  const warnings: Problem[] = [];
  const definitions = own.filter(isOwnTool);
  const batch = tools.register(definitions);
  if (!batch.ok) return batch;
  warnings.push(...batch.value);
  for (const definition of definitions) {
    const prepared = await prepareValidator(definition);
    if (!prepared.ok) return prepared;
  }
  for (const source of own) {
    if (isOwnTool(source)) continue;
    const added = await (typeof source === "string" ? tools.register(source) : tools.register(source));
    if (!added.ok) return added;
    warnings.push(...added.value);
  }
  const end = await addSources(tools, builtin, subject, tell);
  const servers = subject.sandbox === undefined
    ? NO_SERVERS
    : await openServers(tools, { ...subject, sandbox: subject.sandbox }, tell);
  return success({ tools, warnings, end, servers });
}

/** Whose tools are judged and run. */
export interface ToolsSubject {
  readonly tools: ToolRegistry;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  /** What calls of the document last saw of files. */
  readonly seen: SeenFiles;
  /** Keeps what files held before calls of the document changed them. @default nothing is kept */
  readonly kept?: SavedFiles;
  /** Servers of tools, which live as long as a command does. @default there are none */
  readonly servers?: { release(): Promise<void> };
  /** The rules over inputs; null when there are none. */
  readonly rules: RuleEvaluator | null;
  /** Where paths of calls led when they were decided about; null where no rule looks at them. */
  readonly paths: DecidedPaths | null;
  /** Who does the built-in tools' work on files. @default this process */
  readonly disk?: DiskAccess;
  /** Who makes a call, as its tool may know. @default nobody says */
  readonly caller?: (id: string) => Caller;
}

/** Who should have decided and could not, and what follows: behind a broken guard the sandbox approves nothing. */
function faultSentence(resolver: string, why: string): string {
  const who = decidedBy(resolver);
  const whose = who === resolver ? `The resolver ${resolver}` : who[0]!.toUpperCase() + who.slice(1);
  return `${whose} did not decide about a call: ${why.replace(/\.$/, "")}. ` +
    "Where it is asked before the sandbox, neither that nor require_approval approves the call.";
}

/**
 * Asks the approval chain of the settings and the host about one call. Fails with `resolver-name`.
 *
 * @param downgrades besides that of watched files
 */
export function createDecideCall(
  subject: ToolsSubject,
  resolvers: readonly OwnResolver[],
  emit: Emit,
  downgrades: readonly ApprovalDowngrade[] = [],
): Outcome<Decide> {
  const { tools, settings, sandbox, environment, document, rules } = subject;
  const approval = createApproval({
    settings: settings.tools,
    sandbox,
    tools,
    rules,
    onFault: ({ resolver, message }) => {
      emit({ event: "notice", code: "resolver-fault", message: faultSentence(resolver, message) });
    },
  });
  for (const { name, ...definition } of [...processApproval.getAll(), ...resolvers.map(bound)]) {
    if (approval.has(name)) {
      return failure("resolver-name", `There is an approval resolver named ${name} already.`);
    }
    const registered = approval.register(name, definition);
    if (!registered.ok) return registered;
  }
  const dirname = document === null ? null : folderOfDocument(document);
  const base = { folder: dirname ?? environment.cwd, home: environment.home };
  const chain: Decide = async ({ id, name, input }, options) => {
    await waitForTool(name, tools, emit, { asked: "code" });
    const missing = tools.unaskedSource(name);
    if (missing !== null) return waitsForSource(missing);
    const asked = { toolId: id, document, dirname, cwd: environment.cwd };
    subject.paths?.note(id, tools.get(name), input);
    return await approval.resolveWithSource(name, input, asked, options);
  };
  const watched = watchedFile({
    definition: (name) => tools.get(name),
    sandbox,
    resolve: (path) => resolvePath(path, base),
  });
  return success(withDowngrades(chain, [watched, ...downgrades]));
}

/**
 * What the settings without the document's own decide about one call; made when it is asked for the first time. Faults of
 * resolvers are told by who judges for the document.
 */
export function personOf(
  subject: ToolsSubject,
  paths: DocumentPaths,
  loaded: Loaded,
  resolvers: readonly OwnResolver[],
): Decide {
  let made: Outcome<Decide> | null = null;
  return async (call) => {
    const { settings } = loaded;
    const sandbox = sandboxOf(subject.environment, paths, { settings, loaded });
    made ??= createDecideCall(
      { ...subject, settings, sandbox, rules: await rulesOf({ ...subject, settings, sandbox, loaded }) },
      resolvers,
      () => {},
    );
    // The names of the resolvers were good enough for the document's own judge.
    if (!made.ok) throw new Error(made.problem.message);
    return await made.value(call);
  };
}

/** Resolvers may be objects of a class: their method is not copied and needs its object. */
function bound(resolver: OwnResolver): OwnResolver {
  const { name, priority, description } = resolver;
  return { name, priority, description, resolve: resolver.resolve.bind(resolver) };
}

/** What a compiled program becomes where it is started as the helper of a run; ends with its input. */
export async function serveFiles(): Promise<void> {
  const { serve } = await import("../tools/files/helper.ts");
  await serve();
}

/** Runs one call of a tool in its context. */
export function runnerOf(subject: ToolsSubject, emit: Emit): CycleParts["run"] {
  return async (call, signal, onOutput) => {
    const definition = subject.tools.get(call.name);
    if (definition === undefined) throw new Error(`the tool ${call.name} left the registry during a run`);
    const { id } = call;
    const onWait = (message: string) => emit({ event: "notice", code: "tool-waiting", message, id });
    const { seen } = subject;
    const onFileChanged = (path: string) => emit({ event: "file:changed", path, id });
    const context = createContext({
      ...subject,
      definition,
      toolId: id,
      signal,
      onOutput,
      onWait,
      onFileChanged,
      keepReplaced: async (file) => await subject.kept?.keep(call, file) ?? (() => Promise.resolve()),
      caller: subject.caller?.(id),
    });
    const guarded = subject.paths?.guarded(id, definition) ?? definition;
    const run = () => runTool(guarded, completeInput(definition, call.input), context);
    // A server without a call in work must not keep them waiting.
    if (definition.files !== undefined) await subject.servers?.release();
    if (definition.command_input === undefined) return await run();
    // What a command changes of files that are as this document saw them is a change of its own.
    const before = await unchanged(seen);
    const result = await run();
    for (const path of await catchUp(seen, before)) onFileChanged(path);
    return result;
  };
}

function isOwnTool(given: OwnTools): given is OwnTool {
  return typeof given === "object" && !("resolve" in given);
}
