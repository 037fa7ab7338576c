// The `ChatSession` of one open document, for every host.

import type { Environment } from "../base/environment.ts";
import { joinNames } from "../base/names.ts";
import { failed, failure, type Outcome, type Problem, problemLine, success } from "../base/problem.ts";
import type { Authority } from "../config/document/authority.ts";
import type { FirstBlock } from "../config/document/first_block.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { LoadedSettings } from "../config/sources/find.ts";
import type { Cycle } from "../cycle/mod.ts";
import { changedSince } from "../cycle/plan/plan_inputs.ts";
import type { Step } from "../cycle/plan/types.ts";
import { resolveAll, shortCallName, type TargetSpec } from "../cycle/plan/targets.ts";
import type { Estimate } from "../cycle/send/estimate.ts";
import type { Prepared, RequestOptions } from "../cycle/send/request.ts";
import { createStop, isContextFull } from "../cycle/run/stop.ts";
import { totalOf } from "../cycle/usage/record.ts";
import { cutPreview } from "./review/cut_preview.ts";
import { fileChangesOf } from "./trust/file_changes.ts";
import type { FileChange } from "../sandbox/mod.ts";
import { type Holder, holderOf } from "../cycle/storage/lock.ts";
import { MemoryStore } from "../cycle/storage/memory_store.ts";
import { forgetWaiting } from "../cycle/storage/waiting_documents.ts";
import type { AutopilotState, DocumentStore, Stop } from "../cycle/types.ts";
import type { Edit } from "../parser/edits/edit.ts";
import type { Call, Chat } from "../parser/types.ts";
import { type RunSandbox, toolEnvironment } from "../sandbox/mod.ts";
import { writableRoots } from "../sandbox/outside/place.ts";
import type { ProposedRule } from "../tools/approval/rules/propose.ts";
import type { WrittenRule } from "../config/rules/read_rule.ts";
import type { ApprovalDecision } from "../tools/approval/types.ts";
import type { RegisteredTool } from "../tools/definition.ts";
import { answersOf, type DocumentAnswers } from "./extensions/answers.ts";
import { lastReply } from "./conversation/last_reply.ts";
import type { TestedHooks } from "./runtime/test_hooks.ts";
import type { CompactedDocument } from "./compaction/in_place.ts";
import { compose } from "./runtime/compose.ts";
import { leaveJobs } from "./runtime/jobs/leave.ts";
import { openJobFindings } from "./runtime/jobs/open_findings.ts";
import { CurrentRuntime } from "./runtime/current.ts";
import { FinishedRequests } from "./conversation/finished_requests.ts";
import { HostFault } from "./runtime/host/callbacks.ts";
import type { ReadBefore, Runtime, RuntimeOptions } from "./runtime/types.ts";
import { Work } from "./runtime/work.ts";
import { oneLineNotices } from "./runtime/notices.ts";
import { requestParts } from "./runtime/requests.ts";
import { agree, authorityIn, isAgreed } from "./trust/agreement.ts";
import { ruleFor } from "./rules/proposed_rule.ts";
import type {
  Agreement,
  CallSummary,
  CallTarget,
  ChatSession,
  Diagnosis,
  ExplainedCall,
  FileTexts,
  OpenCall,
  RunResult,
  SayOptions,
  ShownCall,
} from "./types.ts";
import { openCalls, summariesOf } from "./views/calls.ts";
import { callsWait } from "./views/next_need.ts";
import { explainCalls } from "./views/explain.ts";

export interface Opened {
  readonly store: DocumentStore;
  /** The document's name in messages, as the person wrote it. */
  readonly label: string;
  /** The file, as suggested commands name it; null for a text that is not from a file. */
  readonly file: string | null;
  /** True if this process holds the lock, so that no other process runs the document. */
  readonly locked: boolean;
  close(): Promise<void>;
}

/** Builds the `ChatSession` of an open document and takes ownership of it: closes the document even on failure. */
export async function startSession(
  opened: Opened,
  options: RuntimeOptions,
  before: ReadBefore = {},
): Promise<Outcome<Session>> {
  const requests = new FinishedRequests(options.emit && oneLineNotices(options.emit));
  const observed = { ...options, emit: requests.emit };
  const keeper = options.readOnly ? undefined : options.jobKeeper;
  const runtime = await compose(opened.store, observed, { ...before, kept: keeper?.parts });
  if (runtime.ok) {
    await keeper?.handOver();
    return success(new Session(opened, observed, runtime.value, requests));
  }
  await opened.close();
  return runtime;
}

/** Implements `openChat` and `chatInMemory`. */
export class Session implements ChatSession {
  readonly #opened: Opened;
  readonly #options: RuntimeOptions;
  readonly #currentRuntime: CurrentRuntime;
  readonly #work: Work;
  readonly #requests: FinishedRequests;
  #closing: Promise<void> | null = null;

  constructor(opened: Opened, options: RuntimeOptions, runtime: Runtime, requests: FinishedRequests) {
    this.#opened = opened;
    this.#requests = requests;
    this.#options = options;
    this.#currentRuntime = new CurrentRuntime(opened.store, options, runtime);
    this.#work = new Work(opened.store, options, () => this.#runtime);
  }

  get #runtime(): Runtime {
    return this.#currentRuntime.value;
  }

  get path(): string | null {
    return this.#opened.store.path;
  }

  get chat(): Chat {
    return this.#opened.store.chat;
  }

  get settings(): Settings {
    return this.#runtime.subject.settings;
  }

  get loaded(): LoadedSettings {
    return this.#runtime.subject.loaded;
  }

  get document(): FirstBlock {
    return this.#runtime.subject;
  }

  /** The environment with the folder in which the document's tools work. */
  get environment(): Environment {
    return this.#runtime.subject.environment;
  }

  get sandbox(): RunSandbox {
    return this.#runtime.sandbox;
  }

  get autopilot(): AutopilotState {
    return this.#runtime.cycle.autopilot;
  }

  get blockers(): Runtime["blockers"] {
    return this.#runtime.blockers;
  }

  /** True if commands are running that must not write the document. Its file is then written in place. */
  get commandsLive(): boolean {
    return this.#runtime.guard.commandsLive || this.sandbox.activeCommands > 0;
  }

  /** Checks a text that another program saved, before this run takes it over. */
  checkForeign(foreign: Parameters<Runtime["guard"]["checkForeign"]>[0]): Promise<void> {
    return this.#runtime.guard.checkForeign(foreign);
  }

  get doubts(): readonly string[] {
    return this.#runtime.doubts;
  }

  advance(options: { readonly goOn?: boolean } = {}): Promise<RunResult> {
    return this.#act((runtime) => {
      const advance = ({ goOn }: { readonly goOn?: boolean }) =>
        this.#withStopHooks(
          runtime,
          (now = { goOn }) => this.#advance(runtime, () => runtime.cycle.advance(now)),
        );
      return this.#withJobs(runtime, () => advance(options), () => advance({}));
    });
  }

  /** Runs the cycle. If the context window is full, compacts the document as the settings allow, and goes on. */
  async #advance(runtime: Runtime, begin: () => Promise<Stop>): Promise<Stop> {
    let stop = await begin();
    let compactedFor: Problem | undefined;
    while (runtime.limits.mayCompact && this.path !== null && isContextFull(stop, compactedFor)) {
      const { compactInPlace } = await import("./compaction/in_place.ts");
      const again: CompactedDocument["again"] = (bytes, options) => this.#again(bytes, options);
      const failed = await compactInPlace({ ...this.#opened, again }, runtime, this.#options);
      if (failed !== null) return failed;
      compactedFor = stop.problem;
      stop = await runtime.cycle.advance();
    }
    return stop;
  }

  /** Opens a text in memory under the path of this document. */
  async #again(bytes: Uint8Array, options: RuntimeOptions): Promise<Outcome<Session>> {
    const { path, named } = this.#opened.store;
    const store = new MemoryStore(bytes, path, undefined, named);
    const close = () => Promise.resolve();
    return await startSession(
      { store, label: this.#opened.label, file: null, locked: false, close },
      options,
    );
  }

  execute(target: CallTarget): Promise<RunResult> {
    return this.#act((runtime) => {
      const { cycle } = runtime;
      const found = resolveAll(this.chat, [specOf(target)]);
      if (!found.ok) return Promise.resolve(createStop("failed", { problem: found.problem }));
      const [id, ...more] = found.value.ids;
      if (id !== undefined && more.length === 0) {
        return this.#withJobs(runtime, () => cycle.executeOne(id), () => cycle.advance());
      }
      const message = `Only one call can be executed at a time, not ${joinNames(found.value.ids)}.`;
      return Promise.resolve(createStop("failed", { problem: { code: "target-ambiguous", message } }));
    });
  }

  send(options: { readonly goOn?: boolean } = {}): Promise<RunResult> {
    return this.#act(({ cycle }) => cycle.send(options), { alone: true });
  }

  approve(...targets: readonly CallTarget[]): Promise<Outcome<readonly string[]>> {
    return this.#mark(targets, (cycle, ids) => cycle.approve(...ids), (id) => this.#unseen(id));
  }

  reject(targets: CallTarget | readonly CallTarget[], message = ""): Promise<Outcome<readonly string[]>> {
    const list = isList(targets) ? targets : [targets];
    return this.#mark(list, (cycle, ids) => cycle.reject(ids, message));
  }

  async answer(
    id: string,
    answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<Outcome<readonly string[]>> {
    const runtime = await this.#changing();
    if (!runtime.ok) return runtime;
    const edit = await this.#answers.edit(id, answers);
    if (!edit.ok) return edit;
    const problem = await this.edit([edit.value]);
    return problem === null ? await this.approve(id) : failed(problem);
  }

  /** Writes the results of jobs that earlier runs left. Returns why that is not possible. */
  async deliverJobs(): Promise<Problem | null> {
    const runtime = await this.#changing();
    return runtime.ok ? await this.#work.during(runtime.value.jobs.deliverLeft()) : runtime.problem;
  }

  cancel(): boolean {
    const { cycle, hooks, jobs } = this.#runtime;
    const hadHooks = hooks?.cancel() === true;
    return cycle.cancel() !== null || hadHooks || jobs.endWait();
  }

  cancelCall(id: string): boolean {
    const { cycle, jobs } = this.#runtime;
    return cycle.cancelCall(id) || jobs.stop(id);
  }

  async tool(name: string): Promise<RegisteredTool | undefined> {
    const runtime = await this.#current();
    return await (runtime.ok ? runtime.value : this.#runtime).tool(name);
  }

  async plan(): Promise<readonly Step[]> {
    const runtime = await this.#current();
    if (!runtime.ok || runtime.value.blockers.length > 0 || this.chat.turns.length === 0) return [];
    return await runtime.value.cycle.plan();
  }

  async calls(): Promise<readonly OpenCall[]> {
    const runtime = await this.#current();
    const { cycle, journal, approvalOf, preview, previewIsCut, decide } = this.#runtime;
    if (runtime.ok && !this.#options.readOnly) await cycle.noteWaiting();
    const elsewhere = await this.holder() === null ? new Map<string, string>() : journal.started();
    return await openCalls(this.chat, {
      preview,
      previewIsCut,
      decide: runtime.ok ? decide : () => undecided(runtime.problem),
      doubted: (call) => changedSince({ journal, approvalOf }, call),
      isRunning: (id) => elsewhere.has(id) || cycle.isRunning(id),
      helper: async (call) => await this.#runtime.helpers?.waitingFor(call) ?? null,
      questions: (call) => this.#answers.open(call),
    });
  }

  /** True if this program ran the call, and not only wrote a result that says why it did not. */
  hasRun(id: string): boolean {
    return this.#runtime.journal.hasRun(id);
  }

  get #answers(): DocumentAnswers {
    return answersOf({ store: this.#opened.store, journal: this.#runtime.journal });
  }

  async summaries(ids: readonly string[]): Promise<readonly CallSummary[]> {
    await this.#current();
    return summariesOf(this.chat, ids, this.#runtime.preview);
  }

  async explain(...targets: readonly CallTarget[]): Promise<Outcome<readonly ExplainedCall[]>> {
    const runtime = await this.#current();
    if (!runtime.ok) return runtime;
    const { decide, preview, rules, subject: { settings } } = runtime.value;
    const [blocker] = runtime.value.blockers;
    if (blocker !== undefined) return failure("first-block-invalid", blocker.message);
    const sources = { decide, preview, rules, settings: settings.tools };
    return await explainCalls(this.chat, targets.map(specOf), sources);
  }

  /** Runs the hooks before a call, but not the call. Changes nothing in the document. */
  async testHooks(target: CallTarget): Promise<Outcome<TestedHooks>> {
    const runtime = await this.#changing();
    if (!runtime.ok) return runtime;
    const found = await this.#one(target);
    if (!found.ok) return found;
    const { signal = new AbortController().signal } = this.#options;
    const { testHooks } = await import("./runtime/test_hooks.ts");
    const testing = this.#recovered(runtime.value).then((recovered) =>
      testHooks(found.value.call, recovered, signal)
    );
    const tested = await this.#work.during(testing.finally(() => runtime.value.endTools()));
    await runtime.value.changes.done();
    return success(tested);
  }

  async show(target: CallTarget): Promise<Outcome<ShownCall>> {
    const found = await this.#one(target);
    if (!found.ok) return found;
    const shown = await this.#shown(await this.explain(found.value.call.id), found.value.runtime);
    return shown.ok ? success(shown.value[0]!) : shown;
  }

  async showOpen(): Promise<Outcome<readonly ShownCall[]>> {
    const explained = await this.explain();
    return await this.#shown(explained, this.#runtime);
  }

  async #shown(
    explained: Outcome<readonly ExplainedCall[]>,
    { written: files, ruled: subject, sandbox }: Runtime,
  ): Promise<Outcome<readonly ShownCall[]>> {
    if (!explained.ok) return explained;
    const { shownCalls } = await import("./review/shown_call.ts");
    return success(
      await shownCalls(this.chat, explained.value, {
        files,
        subject,
        sandbox,
        questions: (call) => this.#answers.open(call),
      }),
    );
  }

  async proposeRule(target: CallTarget, written?: WrittenRule): Promise<Outcome<ProposedRule>> {
    const found = await this.#one(target);
    if (!found.ok) return found;
    return await ruleFor(found.value.call, found.value.runtime, written);
  }

  async addRule(rule: WrittenRule): Promise<Outcome<void>> {
    const refused = this.#refusal();
    if (refused !== null) return { ok: false, problem: refused };
    const { addSessionRule } = await import("./rules/session_rules.ts");
    this.#currentRuntime.markStale();
    return await addSessionRule(this.#sessionRules, rule);
  }

  async removeRule(rule: WrittenRule): Promise<Outcome<boolean>> {
    const refused = this.#refusal();
    if (refused !== null) return { ok: false, problem: refused };
    const { removeSessionRule } = await import("./rules/session_rules.ts");
    this.#currentRuntime.markStale();
    return await removeSessionRule(this.#sessionRules, rule);
  }

  async rules(): Promise<Outcome<readonly ProposedRule[]>> {
    const { sessionRules } = await import("./rules/session_rules.ts");
    return await sessionRules(this.#sessionRules);
  }

  async request(): Promise<Prepared> {
    const [{ dryRun }, parts] = await Promise.all([import("../cycle/send/request.ts"), this.#requestParts()]);
    return parts.ok ? await dryRun(parts.value) : { kind: "failed", problem: parts.problem };
  }

  async estimate(): Promise<Outcome<Estimate>> {
    const [{ estimate }, parts] = await Promise.all([
      import("../cycle/send/estimate.ts"),
      this.#requestParts(),
    ]);
    const { fetch, signal } = this.#options;
    return parts.ok ? await estimate({ ...parts.value, fetch, signal }) : parts;
  }

  async fileTexts(id: string): Promise<FileTexts | null> {
    const runtime = await this.#current();
    const call = this.chat.call(id);
    return runtime.ok && call !== undefined ? runtime.value.written.texts(call) : null;
  }

  async diagnose(): Promise<Diagnosis> {
    const runtime = await this.#current();
    if (!runtime.ok) return undiagnosed(runtime.problem, this.chat);
    const { diagnoseDocument, doubtFindings } = await import("./views/diagnose.ts");
    const { subject, unknownTools, doubtsNow } = runtime.value;
    const jobs = this.path === null ? [] : await openJobFindings(subject.environment, this.path, this.chat);
    const findings = [...unknownTools(), ...doubtFindings(this.chat, await doubtsNow()), ...jobs];
    return await diagnoseDocument(this.#opened.store, subject.environment, subject, findings);
  }

  async agreement(): Promise<Outcome<Agreement>> {
    const found = await this.#authority();
    if (!found.ok) return found;
    const { path, authority } = found.value;
    const agreed = await isAgreed(this.#options.environment, path, authority);
    return agreed.ok ? success({ lines: authority.lines, agreed: agreed.value }) : agreed;
  }

  async trust(): Promise<Outcome<Agreement>> {
    const found = await this.#authority();
    if (!found.ok) return found;
    const { path, authority } = found.value;
    const agreed = await agree(this.#options.environment, path, authority);
    if (!agreed.ok) return agreed;
    const problem = await this.#runtime.guard.confirm();
    if (problem !== null) return { ok: false, problem };
    this.#currentRuntime.markStale();
    return success({ lines: authority.lines, agreed: true });
  }

  async holder(): Promise<Holder | null> {
    if (this.path === null || this.#opened.locked) return null;
    return await holderOf(this.path, this.#options.environment, this.settings.lock.place);
  }

  async fileChanges(): Promise<readonly FileChange[]> {
    return this.path === null ? [] : await fileChangesOf(this.#options.environment, this.path);
  }

  async say(text: string, { evaluate = false, quoted }: SayOptions = {}): Promise<Problem | null> {
    const { askNext } = await import("./conversation/question.ts");
    const { literalText, quoteText } = await import("./conversation/quoted.ts");
    const options = { tags: this.settings.templating.enabled };
    const words = evaluate ? text : literalText(text, options);
    const block = quoted === undefined ? [] : [quoteText(quoted.text, quoted.name ?? "", options).trimEnd()];
    const edit = askNext(this.chat, [words, ...block].join("\n\n"));
    return edit.ok ? await this.edit([edit.value]) : edit.problem;
  }

  async edit(edits: readonly Edit[]): Promise<Problem | null> {
    return this.#refusal() ?? await this.#opened.store.commit(edits);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#runtime.hooks?.cancel();
    await this.#work.cancelAll();
    this.#runtime.forgetTools();
    await this.#runtime.servers.close();
    await this.#opened.close();
    if (this.#runtime.jobs.isUsed) await leaveJobs(this.#runtime, this, this.#options);
  }

  get #sessionRules() {
    return { environment: this.#options.environment, document: this.path };
  }

  async #one(
    target: CallTarget,
  ): Promise<Outcome<{ readonly call: Call; readonly runtime: Runtime }>> {
    const runtime = await this.#current();
    if (!runtime.ok) return runtime;
    const [blocker] = runtime.value.blockers;
    if (blocker !== undefined) return failure("first-block-invalid", blocker.message);
    const found = resolveAll(this.chat, [specOf(target)]);
    if (!found.ok) return found;
    const [id = "", ...more] = found.value.ids;
    if (more.length > 0) {
      return failure(
        "target-ambiguous",
        `Only one call can be named here, not ${joinNames(found.value.ids)}.`,
      );
    }
    const call = this.chat.call(id);
    return call === undefined
      ? failure("unknown-call", `The call ${id} is not in this text.`)
      : success({ call, runtime: runtime.value });
  }

  async #requestParts(): Promise<Outcome<RequestOptions>> {
    const runtime = await this.#current();
    return runtime.ok ? await requestParts(this.#opened.store, runtime.value, this.#options) : runtime;
  }

  /** Reads what the frontmatter asks agreement for, and the path the agreement belongs to. */
  async #authority(): Promise<Outcome<{ readonly path: string; readonly authority: Authority }>> {
    if (this.path === null) {
      return failure("usage", "Trusting a document needs its path, and this text has none.");
    }
    const runtime = await this.#current();
    if (!runtime.ok) return runtime;
    const [blocker] = runtime.value.blockers;
    if (blocker !== undefined) {
      return failure(
        "first-block-invalid",
        blocker.message,
        "Correct the frontmatter before you trust the document.",
      );
    }
    const authority = await authorityIn(runtime.value.subject, this.chat.frontmatter);
    return success({ path: this.path, authority });
  }

  /** Returns why this `ChatSession` must not change anything; null if it may. */
  #refusal(): Problem | null {
    const { label } = this.#opened;
    if (this.#closing !== null) {
      return {
        code: "session-closed",
        message: `${label}: the document is closed.`,
        next: "Open it again.",
      };
    }
    if (!this.#options.readOnly) return null;
    const next = "Open it without readOnly to change it.";
    return { code: "read-only", message: `${label}: the document was opened for reading only.`, next };
  }

  /** Does work that may take long. With `alone`, refuses to start while other work runs. */
  async #act(work: (runtime: Runtime) => Promise<Stop>, { alone = false } = {}): Promise<RunResult> {
    const finished = this.#requests.since();
    const stop = await this.#guarded(() => this.#run(work, alone));
    const { records, replied } = finished();
    const { chat } = this;
    return {
      ...stop,
      // A reply may be large, and most programs do not ask for it.
      get reply() {
        return replied ? lastReply(chat) : "";
      },
      usage: records.length === 0 ? null : totalOf(records),
    };
  }

  /** Turns errors of a host's functions into the reason for which a run failed. */
  async #guarded(run: () => Promise<Stop>): Promise<Stop> {
    try {
      const stop = await run();
      const problem = stop.problem === undefined ? this.#options.takeFault?.() ?? null : null;
      return problem === null ? stop : { ...stop, reason: "failed", problem };
    } catch (thrown) {
      if (thrown instanceof HostFault) return createStop("failed", { problem: thrown.problem });
      throw thrown;
    }
  }

  async #run(work: (runtime: Runtime) => Promise<Stop>, alone: boolean): Promise<Stop> {
    const runtime = await this.#changing();
    if (!runtime.ok) return createStop("failed", { problem: runtime.problem });
    const busy = this.#work.obstacle(alone);
    if (busy !== null) return createStop("failed", { problem: busy });
    this.#work.listen();
    const stop = await this.#work.during(
      this.#recovered(runtime.value).then((recovered) => {
        recovered.limits.begin();
        recovered.hooks?.begin();
        recovered.helpers?.folder.prepare();
        return work(recovered);
      }).finally(async () => {
        runtime.value.limits.end();
        await runtime.value.endTools();
        runtime.value.helpers?.folder.tidy();
      }),
    );
    await runtime.value.changes.done();
    if (this.path !== null && !callsWait(this.chat)) {
      await forgetWaiting(this.#options.environment, this.path);
    }
    await this.#tellHook(stop);
    return stop;
  }

  /** Works, and ends the background jobs of the run. */
  #withJobs({ jobs }: Runtime, work: () => Promise<Stop>, goOn: () => Promise<Stop>): Promise<Stop> {
    return jobs.around(work, goOn, this.#options.signal ?? new AbortController().signal);
  }

  /** Works, and lets hooks make the model continue after a complete reply. */
  async #withStopHooks(
    { hooks }: Runtime,
    advance: (options?: { readonly goOn?: boolean }) => Promise<Stop>,
  ): Promise<Stop> {
    const stop = await advance();
    if (hooks === null) return stop;
    return await hooks.continueAfter(
      stop,
      () => advance({}),
      this.#options.signal ?? new AbortController().signal,
    );
  }

  /** Runs the person's hook command for the end of a run, if one is set. */
  async #tellHook(stop: Stop): Promise<void> {
    const { hooks, tools } = this.settings;
    const { environment } = this.#runtime.subject;
    if ([hooks.on_done, hooks.on_error, hooks.on_pending].every((command) => command === null)) return;
    const { runHook } = await import("./conversation/notification.ts");
    const problem = await runHook({
      hooks,
      environment,
      variables: toolEnvironment(environment.variables, tools.env, { sandboxed: false }),
      roots: writableRoots(this.sandbox),
      document: this.path,
      stop,
    });
    if (problem !== null) {
      this.#options.emit?.({ event: "notice", code: problem.code, message: problemLine(problem) });
    }
  }

  /**
   * Before work starts, ends the processes that a killed run left behind, because one of them could belong to the very
   * call that is about to run.
   */
  async #recovered(runtime: Runtime): Promise<Runtime> {
    for (const problem of await runtime.sandbox.recover({ again: runtime.jobs.isAlive })) {
      this.#options.emit?.({ event: "notice", code: problem.code, message: problemLine(problem) });
    }
    return runtime;
  }

  async #mark(
    targets: readonly CallTarget[],
    mark: (cycle: Cycle, ids: readonly string[]) => Promise<Problem | null>,
    guard: (id: string) => Problem | null = () => null,
  ): Promise<Outcome<readonly string[]>> {
    const runtime = await this.#changing();
    if (!runtime.ok) return runtime;
    const found = resolveAll(this.chat, targets.map(specOf));
    if (!found.ok) return found;
    const { ids, explicit } = found.value;
    for (const id of ids) {
      const problem = explicit.has(id) ? null : guard(id);
      if (problem !== null) return { ok: false, problem };
    }
    const problem = await this.#work.during(mark(runtime.value.cycle, ids));
    return problem === null ? success(ids) : { ok: false, problem };
  }

  /**
   * Returns the runtime for work that changes the document. It checks for a refusal last, so that the caller can begin
   * immediately.
   */
  async #changing(): Promise<Outcome<Runtime>> {
    const before = this.#refusal() ?? await this.#reclaimed();
    if (before !== null) return { ok: false, problem: before };
    const runtime = await this.#current();
    // The document may have been closed while the settings were read.
    const after = this.#refusal();
    return after === null ? runtime : { ok: false, problem: after };
  }

  /** Takes the document back if a canceled wait left it to another run. */
  async #reclaimed(): Promise<Problem | null> {
    return this.#work.isUnderWay ? null : await this.#runtime.pause?.reclaim({ wait: 0 }) ?? null;
  }

  /** Returns the problem if the person approves a call whose preview omits part of it. */
  #unseen(id: string): Problem | null {
    const call = this.chat.call(id);
    if (call === undefined || !this.#runtime.previewIsCut(call)) return null;
    return cutPreview(call, shortCallName(this.chat, id), this.#opened.file);
  }

  /** Returns the runtime for the current frontmatter. While work is under way, the runtime does not change. */
  #current(): Promise<Outcome<Runtime>> {
    return this.#currentRuntime.current(() => this.#work.isUnderWay);
  }
}

function specOf(target: CallTarget): TargetSpec {
  return typeof target === "string" ? { kind: "id", text: target } : target;
}

function isList(targets: CallTarget | readonly CallTarget[]): targets is readonly CallTarget[] {
  return Array.isArray(targets);
}

/** Returns a decision for the time in which the settings cannot be read: every call waits for a person. */
function undecided({ message }: Problem): Promise<ApprovalDecision> {
  return Promise.resolve({ decision: "require_approval", source: "settings", detail: message });
}

function undiagnosed({ code, message }: Problem, chat: Chat): Diagnosis {
  return {
    diagnostics: [{ code, type: "config", severity: "error", message }, ...chat.diagnostics],
    blocked: true,
  };
}
