// Puts the rooms together for one run of one document: settings, sandbox, tools, approval, provider, cycle.

import { parentOf } from "../base/paths.ts";
import type { Environment } from "../base/environment.ts";
import type { Loaded } from "../config/sources/find.ts";
import { type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import { Cycle } from "../cycle/mod.ts";
import type { SendOptions } from "../cycle/send/send.ts";
import { openJournal } from "../cycle/storage/journal.ts";
import type { CycleEvent, DocumentStore, Emit, FileMemory, Journal, Send } from "../cycle/types.ts";
import type { Call } from "../parser/types.ts";
import type { RunSandbox } from "../sandbox/mod.ts";
import { type ApprovalRegistry, createApproval, type Verdict } from "../tools/approval/mod.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { createContext } from "../tools/context.ts";
import type { ExecutionResult, ToolDefinition } from "../tools/definition.ts";
import { previewCall, previewIsCut } from "../tools/preview.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { runTool } from "../tools/run.ts";
import { checkInput, completeInput, prepareValidator } from "../tools/validate.ts";
import { sandboxOf } from "./sandbox.ts";
import { type SubjectSettings, subjectSettings } from "./settings.ts";
import type { Host } from "./types.ts";
import { cautious, distrust, wary } from "./stranger.ts";

/** Everything a command needs to work on a document. */
export interface Runtime {
  readonly store: DocumentStore;
  readonly loaded: Loaded;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly tools: ToolRegistry;
  readonly journal: Journal;
  /** What the document's other files were like when they were sent last. */
  readonly files: FileMemory;
  readonly cycle: Cycle;
  readonly send: Send;
  /** Findings that keep the cycle and every request from starting. */
  readonly blockers: SubjectSettings["diagnostics"];
  /** The tools a request offers, by name. */
  offered(): readonly ToolDefinition[];
  evaluated: SubjectSettings["evaluated"];
  decide(call: Pick<Call, "id" | "name" | "input">): Promise<Verdict>;
  preview(call: Call): string;
  /** Whether the preview leaves something of the call out. */
  previewIsCut(call: Call): boolean;
}

/** Builds the runtime of a document. Nothing runs and nothing is probed yet. */
export async function compose(
  host: Host,
  store: DocumentStore,
  options: { readonly emit: Emit; readonly signal?: AbortSignal },
): Promise<Outcome<Runtime>> {
  const { environment } = host;
  const { path, chat } = store;
  const subject = await subjectSettings(host, { path, frontmatter: chat.frontmatter });
  if (!subject.ok) return subject;
  const { settings, loaded, diagnostics, evaluated } = subject.value;
  for (const { code, message, next } of loaded.notices) {
    options.emit({ event: "notice", code, message: next === undefined ? message : `${message} ${next}` });
  }
  const opened = await openJournal({ environment, path });
  if (!opened.ok) return opened;
  const sandbox = sandboxOf(environment, path, subject.value);
  const tools = new ToolRegistry();
  const registered = tools.register(builtinTools(settings.tools));
  if (!registered.ok) return registered;
  const approval = createApproval({
    settings: settings.tools,
    sandbox,
    tools,
    onFault: ({ resolver, message }) => {
      options.emit({
        event: "notice",
        code: "resolver-fault",
        message: `The resolver ${resolver} failed: ${message}`,
      });
    },
  });
  const judge = approvalOf(approval, store, environment);
  const person = loaded.settings;
  const reason = await distrust({
    environment,
    chat,
    path,
    journal: opened.value,
    person,
    document: settings,
  });
  // Reading harms nobody but where the person hides files, and the document takes the sandbox that hides them away.
  const hides = person.sandbox.enabled && (person.sandbox.policy.deny_read ?? []).length > 0;
  const all = person.trust.documents === "ask" || hides;
  const decide = reason === null ? judge : wary(judge, { reason, path, all, emit: options.emit });
  const journal = reason === null ? opened.value : cautious(opened.value);
  const blockers = diagnostics.filter(({ severity }) => severity === "error");
  const preview = (call: Call) => previewCall(tools.get(call.name), call.name, call.input);
  const emit = noticing(options.emit, sandbox);
  const offered = () => offeredTools(tools, settings.tools.offered);
  const written = recording(store, opened.value, emit);
  const send = sender({
    store: written,
    settings,
    environment,
    tools: offered,
    emit,
    files: opened.value,
    stream: host.stream,
  }, evaluated);
  const cycle = new Cycle({
    store: written,
    journal,
    settings,
    tools,
    decide,
    run: runnerOf({ tools, settings, sandbox, environment, document: store.path }),
    checkInput: async (definition, input) => {
      const prepared = await prepareValidator(definition);
      return prepared.ok ? checkInput(definition, input) : [prepared.problem.message];
    },
    preview,
    send,
    emit,
    blockers: () => blockers,
    signal: options.signal,
  });
  return success({
    store,
    loaded,
    settings,
    sandbox,
    tools,
    journal,
    files: opened.value,
    cycle,
    send,
    blockers,
    offered,
    evaluated,
    decide,
    preview,
    previewIsCut: (call) => previewIsCut(tools.get(call.name), call.name, call.input),
  });
}

function approvalOf(
  approval: ApprovalRegistry,
  store: DocumentStore,
  environment: Environment,
): Runtime["decide"] {
  const { path } = store;
  const dirname = path === null ? null : parentOf(path);
  return ({ id, name, input }) =>
    approval.resolveWithSource(name, input, { toolId: id, document: path, dirname, cwd: environment.cwd });
}

function runnerOf(parts: {
  readonly tools: ToolRegistry;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly environment: Environment;
  readonly document: string | null;
}): (call: Call, signal: AbortSignal, onOutput: (text: string) => void) => Promise<ExecutionResult> {
  return async (call, signal, onOutput) => {
    const definition = parts.tools.get(call.name);
    if (definition === undefined) throw new Error(`the tool ${call.name} left the registry during a run`);
    const context = createContext({ ...parts, definition, toolId: call.id, signal, onOutput });
    return await runTool(definition, completeInput(definition, call.input), context);
  };
}

/** Sends to the provider of the settings; what that needs is loaded when it comes to it. */
function sender(
  options: Omit<SendOptions, "provider" | "frontmatter">,
  evaluated: SubjectSettings["evaluated"],
): Send {
  // One sender for the whole run: it says each warning once.
  let made: Promise<Send | Problem> | null = null;
  const make = async (): Promise<Send | Problem> => {
    const [{ createSend }, { getProvider }, frontmatter] = await Promise.all([
      import("../cycle/send/send.ts"),
      import("../providers/registry.ts"),
      evaluated(),
    ]);
    const provider = getProvider(options.settings.provider);
    return provider.ok ? createSend({ ...options, provider: provider.value, frontmatter }) : provider.problem;
  };
  return async (signal) => {
    const send = await (made ??= make());
    return typeof send === "function" ? await send(signal) : { kind: "failed", problem: send };
  };
}

/** The tools a request offers: those a document or a list names, else all that are enabled (tools section 3). */
function offeredTools(tools: ToolRegistry, names: readonly string[] | null): ToolDefinition[] {
  if (names === null) return tools.getAll();
  return tools.getAll({ includeDisabled: true }).filter(({ name }) => names.includes(name));
}

/** The store, with the first change of the document remembered: from then on it was written on this machine (S15). */
function recording(store: DocumentStore, journal: Journal, emit: Emit): DocumentStore {
  let told = false;
  const remember = async () => {
    try {
      await journal.recordWritten();
    } catch (thrown) {
      if (told) return;
      told = true;
      // The document itself is safe, so this is no failure of the commit.
      const message = `It cannot be noted that this document was written here: ${thrownText(thrown)}.`;
      emit({ event: "notice", code: "state-unwritable", message });
    }
  };
  return {
    get path() {
      return store.path;
    },
    get chat() {
      return store.chat;
    },
    async commit(edits) {
      const problem = await store.commit(edits);
      if (problem === null && edits.length > 0) await remember();
      return problem;
    },
  };
}

const SANDBOX_EVENTS: ReadonlySet<CycleEvent["event"]> = new Set([
  "approval:pending",
  "approval:denied",
  "tool:executing",
  "tool:finished",
]);

/** Passes events on, and before each that concerns tools the new notices of the sandbox. */
function noticing(emit: Emit, sandbox: RunSandbox): Emit {
  let told = 0;
  return (event) => {
    // A run in which no tool comes up has nothing to do with the sandbox.
    if (SANDBOX_EVENTS.has(event.event)) {
      const notices: readonly Problem[] = sandbox.notices().slice(told);
      told += notices.length;
      for (const { code, message } of notices) emit({ event: "notice", code, message });
    }
    emit(event);
  };
}
