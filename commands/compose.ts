// Puts the rooms together for one run of one document: settings, sandbox, tools, approval, provider, cycle.

import type { Environment } from "../config/environment.ts";
import type { Loaded } from "../config/load.ts";
import { type Outcome, type Problem, success } from "../config/problem.ts";
import type { Settings } from "../config/settings.ts";
import { Cycle } from "../cycle/mod.ts";
import type { SendOptions } from "../cycle/send.ts";
import { openJournal } from "../cycle/session/journal.ts";
import { protectedPaths } from "../cycle/session/paths.ts";
import type { DocumentStore, Emit, Journal, Send } from "../cycle/types.ts";
import type { Call } from "../parser/types.ts";
import { createSandbox, type RunSandbox } from "../sandbox/mod.ts";
import { type ApprovalRegistry, createApproval, type Verdict } from "../tools/approval/mod.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { createContext } from "../tools/context.ts";
import type { ExecutionResult } from "../tools/definition.ts";
import { previewCall, previewIsCut } from "../tools/preview.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { runTool } from "../tools/run.ts";
import { checkInput, completeInput, prepareValidator } from "../tools/validate.ts";
import { frontmatterBlockers } from "./frontmatter.ts";
import type { Invocation } from "./invocation.ts";
import { switchOption } from "./options.ts";
import { settingsOf } from "./settings.ts";

/** Everything a command needs to work on a document. */
export interface Runtime {
  readonly store: DocumentStore;
  readonly loaded: Loaded;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly tools: ToolRegistry;
  readonly journal: Journal;
  readonly cycle: Cycle;
  readonly send: Send;
  decide(call: Pick<Call, "id" | "name" | "input">): Promise<Verdict>;
  preview(call: Call): string;
  /** Whether the preview leaves something of the call out. */
  previewIsCut(call: Call): boolean;
}

/** Builds the runtime of a document. Nothing runs and nothing is probed yet. */
export async function compose(
  invocation: Invocation,
  store: DocumentStore,
  options: { readonly emit: Emit; readonly signal?: AbortSignal },
): Promise<Outcome<Runtime>> {
  const { environment } = invocation;
  const loaded = await settingsOf(invocation.arguments, environment, store.path);
  if (!loaded.ok) return loaded;
  const { settings, notices } = loaded.value;
  for (const { code, message } of notices) options.emit({ event: "notice", code, message });
  const journal = await openJournal({ environment, path: store.path });
  if (!journal.ok) return journal;
  const sandbox = createSandbox({
    settings: settings.sandbox,
    environment,
    document: store.path,
    protect: protectedPaths({ environment, document: store.path, configFiles: loaded.value.files }),
  });
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
  const decide = approvalOf(approval, store, environment);
  const preview = (call: Call) => previewCall(tools.get(call.name), call.name, call.input);
  const emit = noticing(options.emit, sandbox);
  const send = sender({
    store,
    settings,
    environment,
    tools: () => tools.getAll(),
    emit,
    stream: switchOption(invocation.arguments, "stream") !== false,
  });
  const cycle = new Cycle({
    store,
    journal: journal.value,
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
    blockers: () => frontmatterBlockers(store.chat),
    signal: options.signal,
  });
  return success({
    store,
    loaded: loaded.value,
    settings,
    sandbox,
    tools,
    journal: journal.value,
    cycle,
    send,
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
  const dirname = path === null ? null : path.slice(0, path.lastIndexOf("/")) || "/";
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
function sender(options: Omit<SendOptions, "provider">): Send {
  return async (signal) => {
    const [{ createSend }, { getProvider }] = await Promise.all([
      import("../cycle/send.ts"),
      import("../providers/registry.ts"),
    ]);
    const provider = getProvider(options.settings.provider);
    if (!provider.ok) return { kind: "failed", problem: provider.problem };
    return await createSend({ ...options, provider: provider.value })(signal);
  };
}

/** Passes events on, and after each that may have brought new ones the notices of the sandbox. */
function noticing(emit: Emit, sandbox: RunSandbox): Emit {
  let told = 0;
  return (event) => {
    if (event.event !== "text" && event.event !== "tool:output") {
      const notices: readonly Problem[] = sandbox.notices().slice(told);
      told += notices.length;
      for (const { code, message } of notices) emit({ event: "notice", code, message });
    }
    emit(event);
  };
}
