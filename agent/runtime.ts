// Puts the rooms together for one document as its first block is now: sandbox, tools, approval, provider, cycle.

import type { Environment } from "../base/environment.ts";
import { sha256 } from "../base/hash.ts";
import { folderOfDocument, resolvePath } from "../base/paths.ts";
import { inOneLine, type Outcome, success } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import { conflictMarks } from "../cycle/plan/conflict_marks.ts";
import { Cycle } from "../cycle/mod.ts";
import { holderOf } from "../cycle/storage/lock.ts";
import { RunLimits } from "../cycle/send/limits.ts";
import type { ThinkingMemory } from "../cycle/thinking_memory.ts";
import { openUsageLog } from "../cycle/usage/log.ts";
import type { DocumentMemory } from "../cycle/storage/journal.ts";
import { openSeenFiles } from "../cycle/storage/seen_files.ts";
import type { DocumentStore, Emit, FileMemory, Journal, ReplyMemory, Send } from "../cycle/types.ts";
import { FileChanges } from "./review/file_changes.ts";
import { KeptChanges } from "./review/kept_changes.ts";
import type { Call, Diagnostic } from "../parser/types.ts";
import type { EvaluatedFrontmatter } from "../prompt/evaluate.ts";
import type { RunSandbox } from "../sandbox/mod.ts";
import { type CallReasons, JudgedPaths, reasonsOf, type RuleJudge } from "../tools/approval/mod.ts";
import type { Caller, ToolDefinition } from "../tools/definition.ts";
import { listedTools } from "../tools/registration/personality.ts";
import { FileHelper } from "../tools/files/file_helper.ts";
import { previewCall, previewIsCut } from "../tools/preview.ts";
import { checkInput } from "../tools/validate.ts";
import { authorityIn } from "./trust/agreement.ts";
import { noticing } from "./notices.ts";
import { rulesOf, type RuleSubject } from "../tools/approval/rules_of.ts";
import { sandboxOf } from "./sandbox.ts";
import { providerOf, sender } from "./sender.ts";
import { type Blocks, blocksOf, type SubjectSettings, subjectSettings } from "./settings.ts";
import type { DocumentGuard } from "./trust/guard.ts";
import { guardOf, unconfirmed } from "./trust/open_guard.ts";
import { cautious, type Decide, type Distrust, distrust, wary } from "./trust/stranger.ts";
import { callDoubts, confirming, unfinishedDoubts, vouchedJournal, wholeReplies } from "./trust/vouching.ts";
import type { ToolServers } from "./extensions/mcp.ts";
import { registerSkills } from "./extensions/skills.ts";
import { offeredTools, unknownTools } from "./extensions/offered.ts";
import { waitForTool, waitForTools } from "./extensions/waiting.ts";
import { judgeOf, personOf, registerTools, runnerOf, type ToolsSubject } from "./tools.ts";
import type { ChatOptions } from "./types.ts";
import { WrittenFiles } from "./review/written_files.ts";

/** What holds for a document until its first block changes. */
export interface Runtime {
  /** What of the document all this is made from. */
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly sandbox: RunSandbox;
  readonly journal: Journal;
  /** What the document's other files were like when they were sent last. */
  readonly files: FileMemory;
  /** What the thinking of earlier replies belongs to. */
  readonly thinking: ThinkingMemory;
  /** Servers of tools. */
  readonly servers: ToolServers;
  /** What commands did to watched files. */
  readonly changes: FileChanges;
  readonly cycle: Cycle;
  readonly send: Send;
  /** What the requests of a run may use. */
  readonly limits: RunLimits;
  /** Ends the processes of tools, and tells what came of them; they start anew when they are needed. */
  endTools(): Promise<void>;
  /** Hears sources of tools no more: what is still waited for keeps nothing alive. */
  forgetTools(): void;
  /** Findings that keep the cycle and every request from starting. */
  readonly blockers: SubjectSettings["diagnostics"];
  /** The tools a request offers, by name, of those that are there now. */
  offered(): readonly ToolDefinition[];
  /** What sending needs of the first block. */
  evaluated(): Promise<EvaluatedFrontmatter>;
  /**
   * Waits until every source of tools has answered; gives what then keeps a request from being made.
   *
   * @param signal ends the waiting
   */
  toolsReady(signal?: AbortSignal): Promise<readonly Diagnostic[]>;
  /** What is known to be wrong with the list of tools, without asking any source. */
  unknownTools(): readonly Diagnostic[];
  decide: Decide;
  /** The rules over inputs; null when there are none. */
  readonly rules: RuleJudge | null;
  /** Whose rules they are. */
  readonly ruled: RuleSubject;
  /** Files as calls would change them. */
  readonly written: WrittenFiles;
  /** Why policy may not approve what the document asks for; null when it may. */
  readonly distrusted: Distrust | null;
  /** Why policy does not decide about calls of this document, or what of it counts only once it is confirmed. */
  readonly doubts: readonly string[];
  readonly guard: DocumentGuard;
  /** Ends what was started for calls and kept for the next one; another call starts it anew. */
  rest(): Promise<void>;
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
  const { path } = store;
  const blocks = blocksOf(store.chat);
  const subject = await subjectSettings(options, { path, ...blocks });
  if (!subject.ok) return subject;
  const { settings, loaded, diagnostics } = subject.value;
  for (const notice of loaded.notices) {
    tell({ event: "notice", code: notice.code, message: inOneLine(notice) });
  }
  const guarded = await guardOf(store, options, subject.value);
  if (!guarded.ok) return guarded;
  const { memory, guard } = guarded.value;
  const sandbox = sandboxOf(environment, store, subject.value, { around: guard });
  const looksForFiles = options.settings?.noConfig !== true;
  const toolsOf = {
    settings,
    environment,
    document: path,
    sandbox,
    looksForFiles,
    fetch: options.fetch,
  };
  const registered = await registerTools(toolsOf, options.tools, tell);
  if (!registered.ok) return registered;
  const { tools, warnings, end, servers } = registered.value;
  const skills = await registerSkills(tools, { environment, settings, document: path });
  if (!skills.ok) return skills;
  for (const notice of [...warnings, ...skills.value]) {
    tell({ event: "notice", code: notice.code, message: inOneLine(notice) });
  }
  const seen = await openSeenFiles(environment, path);
  const ruled = { tools, settings, sandbox, environment, document: path, loaded };
  const rules = await rulesOf(ruled);
  const base = { folder: path === null ? environment.cwd : folderOfDocument(path), home: environment.home };
  const paths = rules === null ? null : new JudgedPaths(rules, (given) => resolvePath(given, base));
  const disk = new FileHelper({ sandbox, program: (name) => sandbox.host.program(name) });
  const kept = new KeptChanges(environment, path, settings.undo.keep, tell);
  const run = { conversationId: await conversationOf(path), requestId: crypto.randomUUID() };
  const caller = (id: string): Caller => ({
    ...run,
    interactive: options.interactive ?? false,
    approvedByPerson: memory.approval(id)?.by === "person",
    offered: offeredTools(tools, settings).map(({ name }) => name),
    tell: (content) => tell({ event: "tool:message", id, content }),
    askSecret: options.askSecret,
  });
  const toolsSubject = {
    tools,
    settings,
    sandbox,
    environment,
    document: path,
    seen,
    kept,
    servers,
    rules,
    paths,
    disk,
    caller,
  };
  const judged = await judging(
    { tools: toolsSubject, subject: subject.value, store, blocks, memory, guard },
    options,
  );
  if (!judged.ok) return judged;
  const { decide, journal, distrusted, doubts } = judged.value;
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  const blockers = () => [...wrong, ...conflictMarks(store.chat)];
  const written = new WrittenFiles({
    environment,
    document: path,
    sandbox,
    seen,
    tool: (name) => tools.get(name),
  });
  const preview = (call: Call) =>
    previewCall(tools.get(call.name), call.name, call.input, undefined, written.note(call));
  const reasons = new Map<string, CallReasons>();
  const decideInRun: Decide = async (call) => {
    const verdict = await decide(call, { explain: "waiting" });
    if (verdict.decision === "require_approval") reasons.set(call.id, await reasonsOf(verdict, call, rules));
    return verdict;
  };
  const changes = new FileChanges(environment, path, tell);
  const { emit, tellNews } = noticing(tell, sandbox, (news) => changes.add(news), (id) => reasons.get(id));
  const requests = requesting(
    { tools, servers, subject: subject.value, store, blocks, memory },
    options,
    emit,
  );
  const cycle = new Cycle({
    store,
    journal,
    settings,
    tools,
    awaitTool: (name, signal) => waitForTool(name, tools, emit, signal),
    decide: decideInRun,
    run: runnerOf(toolsSubject, emit),
    checkInput,
    preview,
    diff: (call) => written.diff(call),
    prefill: async () => {
      if (!settings.prefill) return false;
      // A provider that nobody knows is told of when it comes to sending.
      const provider = await providerOf({ provider: options.provider, settings });
      return provider.ok && provider.value.takesPrefill(settings);
    },
    send: requests.send,
    emit,
    blockers: () => saySame(blocksOf(store.chat), blocks) ? blockers() : [changedBlock(store)],
    signal: options.signal,
  });
  return success({
    servers,
    changes,
    forgetTools: () => tools.clear(),
    endTools: async () => {
      await end();
      tellNews();
    },
    blocks,
    subject: subject.value,
    sandbox,
    journal,
    files: memory,
    thinking: memory,
    cycle,
    ...requests,
    get blockers() {
      return blockers();
    },
    decide,
    rules,
    ruled,
    written,
    distrusted,
    doubts,
    guard,
    rest: () => sandbox.endCompanion(),
    preview,
    previewIsCut: (call) =>
      previewIsCut(tools.get(call.name), call.name, call.input, undefined, written.note(call)),
  });
}

/** What a document is composed from, and who remembers it. */
interface Composed {
  readonly store: DocumentStore;
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly memory: DocumentMemory;
}

/** Who decides about calls, with all that lowers an approval: a stranger's wishes, suspects, half replies. */
async function judging(
  { tools, subject, store, blocks, memory, guard }: Composed & {
    readonly tools: ToolsSubject;
    readonly guard: DocumentGuard;
  },
  options: RuntimeOptions,
): Promise<Outcome<Pick<Runtime, "decide" | "journal" | "distrusted" | "doubts">>> {
  const { environment, resolvers = [], emit = () => {} } = options;
  const { settings, loaded } = subject;
  const { path, chat } = store;
  const judge = judgeOf(tools, resolvers, emit);
  if (!judge.ok) return judge;
  const distrusted = await unconfirmed(guard, subject, { path, blocks }) ?? await distrust({
    environment,
    path,
    authority: await authorityIn(subject, blocks.frontmatter),
    person: loaded.settings,
    document: settings,
    sandbox: tools.sandbox,
  });
  const judged = distrusted === null
    ? judge.value
    : wary(judge.value, { distrust: distrusted, person: personOf(tools, store, loaded, resolvers), emit });
  const replies = await grownElsewhere(memory, path, options, settings) ? { unfinished: () => NONE } : memory;
  const believed = distrusted === null || distrusted.onlyItsOwn;
  return success({
    decide: wholeReplies(confirming(judged, guard), replies, emit),
    journal: vouchedJournal(believed ? memory : cautious(memory), guard),
    distrusted,
    doubts: [
      ...(distrusted === null ? [] : [distrusted.sentence]),
      ...(path === null ? [] : callDoubts(guard.suspects, path)),
      ...(path === null ? [] : unfinishedDoubts(chat, replies.unfinished(), path)),
    ],
  });
}

/** What requests are made from, and the function that makes them once every source of tools has answered. */
function requesting(
  { tools, servers, subject, store, blocks, memory }: Composed & {
    readonly tools: ToolsSubject["tools"];
    readonly servers: ToolServers;
  },
  { environment, provider, fetch, stream = true, retry = true, limiter }: RuntimeOptions,
  emit: Emit,
): Pick<Runtime, "offered" | "unknownTools" | "toolsReady" | "evaluated" | "limits" | "send"> {
  const { settings } = subject;
  const offered = () => offeredTools(tools, settings);
  const unknown = () => (tools.isReady() ? unknownTools(tools, settings, blocks.frontmatter) : []);
  const toolsReady = async (signal?: AbortSignal) => {
    await Promise.all([servers.update(), waitForTools(tools, emit, signal)]);
    return unknown();
  };
  const evaluated = () =>
    subject.evaluated({
      tools: (personality) => listedTools(offered(), personality),
      day: memory.promptDay() ?? localDay(new Date()),
    });
  const limits = new RunLimits(settings);
  const request = sender({
    store,
    settings,
    environment,
    provider,
    fetch,
    tools: offered,
    emit,
    files: memory,
    replies: memory,
    thinking: memory,
    stream,
    retry,
    limiter,
    usage: openUsageLog(environment),
    limits,
  }, evaluated);
  const send: Send = async (signal, how) => {
    const diagnostics = await toolsReady(signal);
    for (const diagnostic of diagnostics) emit({ event: "diagnostic", diagnostic });
    return diagnostics.length > 0 ? { kind: "blocked", diagnostics } : await request(signal, how);
  };
  return { offered, unknownTools: unknown, toolsReady, evaluated, limits, send };
}

const NONE: ReadonlySet<string> = new Set();

/** The day where the person is, as `2026-11-28`. */
function localDay(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${date.getFullYear()}-${month}-${day}`;
}

/** What tools know a document by: the same in every run, and nothing that tells where it lies. */
async function conversationOf(path: string | null): Promise<string> {
  return path === null ? crypto.randomUUID() : await sha256(path);
}

/** Whether a reply that has not ended is being written by another process at this moment. */
async function grownElsewhere(
  memory: Pick<ReplyMemory, "unfinished">,
  path: string | null,
  { readOnly, environment }: RuntimeOptions,
  { lock }: Settings,
): Promise<boolean> {
  if (!readOnly || path === null || memory.unfinished().size === 0) return false;
  return await holderOf(path, environment, lock.place) !== null;
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
