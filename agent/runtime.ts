// Puts the rooms together for one document as its first block is now: sandbox, tools, approval, provider, cycle.

import type { Environment } from "../base/environment.ts";
import { type Outcome, success } from "../base/problem.ts";
import { Cycle } from "../cycle/mod.ts";
import { openSeenFiles } from "../cycle/storage/seen_files.ts";
import { openJournal } from "../cycle/storage/journal.ts";
import type { DocumentStore, FileMemory, Journal, Send } from "../cycle/types.ts";
import { FileChanges } from "./file_changes.ts";
import type { Call, Diagnostic } from "../parser/types.ts";
import type { RunSandbox } from "../sandbox/mod.ts";
import type { Verdict } from "../tools/approval/mod.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { previewCall, previewIsCut } from "../tools/preview.ts";
import { checkInput } from "../tools/validate.ts";
import { noticing } from "./notices.ts";
import { sandboxOf } from "./sandbox.ts";
import { providerOf, sender } from "./sender.ts";
import { type Blocks, blocksOf, type SubjectSettings, subjectSettings } from "./settings.ts";
import { cautious, distrust, wary } from "./stranger.ts";
import { judgeOf, offeredTools, registerTools, runnerOf } from "./tools.ts";
import type { ChatOptions } from "./types.ts";
import { recording } from "./written.ts";

/** What holds for a document until its first block changes. */
export interface Runtime {
  /** What of the document all this is made from. */
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly sandbox: RunSandbox;
  readonly journal: Journal;
  /** What the document's other files were like when they were sent last. */
  readonly files: FileMemory;
  /** What commands did to watched files. */
  readonly changes: FileChanges;
  readonly cycle: Cycle;
  readonly send: Send;
  /** Findings that keep the cycle and every request from starting. */
  readonly blockers: SubjectSettings["diagnostics"];
  /** The tools a request offers, by name. */
  offered(): readonly ToolDefinition[];
  decide(call: Pick<Call, "id" | "name" | "input">): Promise<Verdict>;
  /** One line that shows a call. */
  preview(call: Call): string;
  /** Whether the preview leaves something of the call out. */
  previewIsCut(call: Call): boolean;
}

/** The options of a host, with the environment settled. */
export type RuntimeOptions = ChatOptions & {
  readonly environment: Environment;
  readonly readOnly: boolean;
};

/** Builds the runtime of a document. Nothing runs and nothing is probed yet. */
export async function compose(store: DocumentStore, options: RuntimeOptions): Promise<Outcome<Runtime>> {
  const { environment, emit: tell = () => {} } = options;
  const { path, chat } = store;
  const blocks = blocksOf(chat);
  const subject = await subjectSettings(options, { path, ...blocks });
  if (!subject.ok) return subject;
  const { settings, loaded, diagnostics, evaluated } = subject.value;
  for (const { code, message, next } of loaded.notices) {
    tell({ event: "notice", code, message: next === undefined ? message : `${message} ${next}` });
  }
  const opened = await openJournal({ environment, path });
  if (!opened.ok) return opened;
  const sandbox = sandboxOf(environment, path, subject.value);
  const registered = await registerTools(settings.tools, options.tools);
  if (!registered.ok) return registered;
  const { tools, warnings } = registered.value;
  for (const { code, message } of warnings) tell({ event: "notice", code, message });
  const seen = await openSeenFiles(environment, path);
  const toolsSubject = { tools, settings, sandbox, environment, document: path, seen };
  const judge = judgeOf(toolsSubject, options.resolvers ?? [], tell);
  if (!judge.ok) return judge;
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
  const decide = reason === null ? judge.value : wary(judge.value, { reason, path, all, emit: tell });
  const journal = reason === null ? opened.value : cautious(opened.value);
  const blockers = diagnostics.filter(({ severity }) => severity === "error");
  const preview = (call: Call) => previewCall(tools.get(call.name), call.name, call.input);
  const changes = new FileChanges(environment, path, tell);
  const emit = noticing(tell, sandbox, (news) => changes.add(news));
  const offered = () => offeredTools(tools, settings.tools.offered);
  const written = recording(store, opened.value, emit);
  const send = sender({
    store: written,
    settings,
    environment,
    provider: options.provider,
    fetch: options.fetch,
    tools: offered,
    emit,
    files: opened.value,
    stream: options.stream ?? true,
  }, evaluated);
  const cycle = new Cycle({
    store: written,
    journal,
    settings,
    tools,
    decide,
    run: runnerOf(toolsSubject, emit),
    checkInput,
    preview,
    prefill: async () => {
      if (!settings.prefill) return false;
      // A provider that nobody knows is told of when it comes to sending.
      const provider = await providerOf({ provider: options.provider, settings });
      return provider.ok && provider.value.takesPrefill(settings);
    },
    send,
    emit,
    blockers: () => saySame(blocksOf(store.chat), blocks) ? blockers : [changedBlock(store)],
    signal: options.signal,
  });
  return success({
    changes,
    blocks,
    subject: subject.value,
    sandbox,
    journal,
    files: opened.value,
    cycle,
    send,
    blockers,
    offered,
    decide,
    preview,
    previewIsCut: (call) => previewIsCut(tools.get(call.name), call.name, call.input),
  });
}

/** Whether two versions of a document say the same about settings. */
export function saySame(a: Blocks, b: Blocks): boolean {
  return a.frontmatter?.language === b.frontmatter?.language && a.frontmatter?.code === b.frontmatter?.code &&
    a.preamble?.text === b.preamble?.text;
}

/** Stops a run whose first block was changed beneath it: what it allows and forbids is not known any more. */
function changedBlock({ chat: { frontmatter } }: DocumentStore): Diagnostic {
  return {
    code: "frontmatter_changed",
    type: "frontmatter",
    severity: "error",
    message: "The first block was changed during this run; advance again to go by the new one.",
    start: frontmatter?.start ?? 1,
    end: frontmatter?.end ?? 1,
  };
}
