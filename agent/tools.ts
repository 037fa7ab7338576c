// The tools of one document: registers them, decides about their calls and runs them.

import type { Environment } from "../base/environment.ts";
import { folderOfDocument, resolvePath, workFolderOf } from "../base/paths.ts";
import { failure, type Outcome, type Problem, problemLine, success } from "../base/problem.ts";
import { hideSecretsIn, SecretStream } from "../base/text/secrets.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { Loaded } from "../config/sources/find.ts";
import type { CycleParts } from "../cycle/run/cycle.ts";
import type { Emit } from "../cycle/types.ts";
import type { Call } from "../parser/types.ts";
import type { RunSandbox } from "../sandbox/mod.ts";
import {
  type ApprovalDecision,
  type ApprovalDowngrade,
  createApproval,
  type Decide,
  type DecidedPaths,
  type DecideOptions,
  type HookQuestion,
  processApproval,
  type RuleEvaluator,
  waitsForSource,
  watchedFile,
  withDowngrades,
} from "../tools/approval/mod.ts";
import type { DecidedCall } from "../tools/approval/downgrades.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { createContext } from "../tools/context.ts";
import { catchUp, findUnchanged } from "../tools/builtin/seen_files.ts";
import type { BackgroundRun, Caller, DiskAccess, PersonsAnswers, SeenFiles } from "../tools/definition.ts";
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
import { OtherDocuments } from "./trust/other_documents.ts";

/** The tools of a document, and the functions that end what was started for them. */
export interface RegisteredTools {
  readonly tools: ToolRegistry;
  /** Problems of the definitions, for the person. */
  readonly warnings: readonly Problem[];
  /** Ends the processes of tools; they start again when needed. */
  readonly end: EndTools;
  /** The MCP servers, which live as long as the document is open. */
  readonly servers: ToolServers;
}

/**
 * Registers the built-in tools, the tools of this process and the tools of a host, and adds further sources. Compiles
 * the schemas of a host's tools, so that checking an input is synchronous. Fails with `invalid-tool`,
 * `invalid-tool-schema` or `tool-module`.
 *
 * @param emit receives faults of sources, and when the last source has answered
 */
export async function registerTools(
  subject: SourcesSubject,
  own: readonly OwnTools[] = [],
  emit: Emit = () => {},
): Promise<Outcome<RegisteredTools>> {
  const { tools: settings } = subject.settings;
  const tell = (problem: Problem) =>
    emit({ event: "notice", code: problem.code, message: problemLine(problem) });
  const builtin = new ToolRegistry();
  const jobs = { ...settings.jobs, enabled: settings.jobs.enabled && subject.jobs !== false };
  const registered = builtin.registerFrom("built-in", builtinTools({ ...settings, jobs }));
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

export interface ToolsSubject {
  readonly tools: ToolRegistry;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  /** Remembers the content that each file had when a call of the document last read or wrote it. */
  readonly seen: SeenFiles;
  /** Saves the content of a file before a call of the document changes it. @default nothing is saved */
  readonly kept?: SavedFiles;
  /** The MCP servers, which live as long as a command does. @default none */
  readonly servers?: { release(): Promise<void> };
  /** Evaluator of the rules about inputs; null if there are no rules. */
  readonly rules: RuleEvaluator | null;
  /** The real paths of calls at the time of their decision; null if no rule checks paths. */
  readonly paths: DecidedPaths | null;
  /** Performs the file operations of the built-in tools. @default this process */
  readonly disk?: DiskAccess;
  /**
   * Returns why the code of a module of the settings must not run, as a sentence; null if it may run. @default it may
   * run
   */
  readonly changed?: (path: string) => Promise<string | null>;
  /** The background jobs, by the signal of their run. @default none */
  readonly background?: Pick<WeakMap<AbortSignal, BackgroundRun>, "get">;
  /** Returns information about the caller of a call, for the tool. @default unknown */
  readonly caller?: (id: string) => Caller;
  /** Returns what the person answered to the server of a call. @default nothing */
  readonly answers?: (call: Call) => Promise<PersonsAnswers | undefined>;
}

/** Returns the sentence about a resolver that failed, with the consequence: after that the sandbox approves nothing. */
function faultSentence(resolver: string, why: string): string {
  const who = decidedBy(resolver);
  const whose = who === resolver ? `The resolver ${resolver}` : who[0]!.toUpperCase() + who.slice(1);
  return `${whose} failed to decide a call: ${why.replace(/\.$/, "")}. ` +
    "If it comes before the sandbox, neither the sandbox nor require_approval approves the call.";
}

/**
 * Creates the function that decides about one call with the approval chain of the settings and the host. Fails with
 * `resolver-name`.
 *
 * @param downgrades checks that apply in addition to the one for watched files
 * @param hooks asked about a call that the chain does not deny
 */
export function createDecideCall(
  subject: ToolsSubject,
  resolvers: readonly OwnResolver[],
  emit: Emit,
  downgrades: readonly ApprovalDowngrade[] = [],
  hooks: DecidingHooks | null = null,
): Outcome<Decide> {
  const { tools, settings, sandbox, environment, document, rules } = subject;
  const approval = createApproval({
    settings: settings.tools,
    sandbox,
    tools,
    rules,
    changed: subject.changed,
    onFault: ({ resolver, message }) => {
      emit({ event: "notice", code: "resolver-fault", message: faultSentence(resolver, message) });
    },
  });
  for (const { name, ...definition } of [...processApproval.getAll(), ...resolvers.map(bound)]) {
    if (approval.has(name)) {
      return failure("resolver-name", `An approval resolver named ${name} already exists.`);
    }
    const registered = approval.register(name, definition);
    if (!registered.ok) return registered;
  }
  const dirname = document === null ? null : folderOfDocument(document);
  const base = { folder: workFolderOf(environment, document), home: environment.home };
  const chain: Decide = async ({ id, name, input }, options) => {
    await waitForTool(name, tools, emit, { asked: "code" });
    const missing = tools.unaskedSource(name);
    if (missing !== null) return waitsForSource(missing);
    const asked = { toolId: id, document, dirname, cwd: environment.cwd };
    subject.paths?.note(id, tools.get(name), input);
    const decided = await approval.resolveWithSource(name, input, asked, options);
    return hooks === null ? decided : await withHooks(hooks, { id, name, input }, decided, options);
  };
  const watched = watchedFile({
    definition: (name) => tools.get(name),
    sandbox,
    resolve: (path) => resolvePath(path, base),
  });
  return success(withDowngrades(chain, [watched, ...downgrades]));
}

/** Hooks that decide about calls. */
export interface DecidingHooks {
  decide(call: DecidedCall, decided: ApprovalDecision, question: HookQuestion): Promise<ApprovalDecision>;
  linesFor(call: DecidedCall): Promise<readonly string[]>;
}

/** Asks the hooks, or lists them in an explanation. */
async function withHooks(
  hooks: DecidingHooks,
  call: DecidedCall,
  decided: ApprovalDecision,
  options: DecideOptions = {},
): Promise<ApprovalDecision> {
  if (options.hooks !== undefined) return await hooks.decide(call, decided, options.hooks);
  const { chain } = decided;
  if (chain === undefined || decided.decision === "deny") return decided;
  const lines = await hooks.linesFor(call);
  if (lines.length === 0) return decided;
  const link = {
    name: "urn:flemma:approval:hooks",
    priority: -1,
    answer: "pass",
    detail: lines.join("\n"),
  } as const;
  return { ...decided, chain: [...chain, link] };
}

/**
 * Creates a function that decides about one call by the person's settings, without the document's own. The decision
 * chain is created on first use. The document's own decision reports errors of resolvers, so this one does not.
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
    // The names of the resolvers are valid, because the document's own decision already accepted them.
    if (!made.ok) throw new Error(made.problem.message);
    return await made.value(call);
  };
}

/** A resolver may be an instance of a class. Copying it would lose its method, and the method needs its object. */
function bound(resolver: OwnResolver): OwnResolver {
  const { name, priority, description } = resolver;
  return { name, priority, description, resolve: resolver.resolve.bind(resolver) };
}

/** Runs a compiled program as the file helper of a run, until its input ends. */
export async function serveFiles(): Promise<void> {
  // Every other helper is started without this right.
  await Deno.permissions.revoke({ name: "net" });
  const { serve } = await import("../tools/files/helper.ts");
  await serve();
}

/** Creates the function that runs one call of a tool. Neither output nor result shows a known secret. */
export function runnerOf(subject: ToolsSubject, emit: Emit): CycleParts["run"] {
  const run = runnerOfTools(subject, emit);
  return async (call, signal, onOutput) => {
    const secrets = new SecretStream();
    const tell = (text: string) => text === "" ? undefined : onOutput(text);
    const result = await run(call, signal, (text) => tell(secrets.write(text)));
    tell(secrets.end());
    // What a server wants back unchanged is never shown.
    const hidden = hideSecretsIn(result);
    const { asks } = result;
    return asks === undefined ? hidden : { ...hidden, asks: { ...hidden.asks!, state: asks.state } };
  };
}

function runnerOfTools(subject: ToolsSubject, emit: Emit): CycleParts["run"] {
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
      keepReplaced: async (file) => {
        const others = new OtherDocuments(subject.environment, subject.document);
        await others.begin((paths) => paths.includes(file.path));
        const after = await subject.kept?.keep(call, file);
        return async () => {
          await after?.();
          await others.end();
        };
      },
      caller: subject.caller?.(id),
      background: subject.background?.get(signal),
      answers: await subject.answers?.(call),
    });
    if (definition.origin === "module") {
      // The modules are checked at each call, because a module may load another file each time.
      for (const path of subject.settings.tools.modules) {
        const change = await subject.changed?.(path) ?? null;
        if (change !== null) return { success: false, error: change };
      }
    }
    const guarded = subject.paths?.guarded(id, definition) ?? definition;
    const run = () => runTool(guarded, completeInput(definition, call.input), context);
    // A server without a running call must not keep file tools waiting.
    if (definition.files !== undefined) await subject.servers?.release();
    if (definition.command_input === undefined) return await run();
    // If a file was unchanged since a call of the document last saw it, and a command of the document then changes the
    // file, that change counts as made by the document itself.
    const before = await findUnchanged(seen);
    const result = await run();
    for (const path of await catchUp(seen, before)) onFileChanged(path);
    return result;
  };
}

function isOwnTool(given: OwnTools): given is OwnTool {
  return typeof given === "object" && !("resolve" in given);
}
