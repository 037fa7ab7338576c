// Drives one document through categorise, execute and send, and comes to rest when a person is needed.

import { type Problem, success } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Call, Chat, Diagnostic } from "../parser/types.ts";
import type { Verdict } from "../tools/approval/types.ts";
import type { ExecutionResult } from "../tools/definition.ts";
import { type Autopilot, type AutopilotEvent, react, startAutopilot } from "./plan/autopilot.ts";
import {
  type Course,
  type CourseEvent,
  endOf,
  mayPress,
  mayStart,
  next,
  phaseOf,
  RESTING,
} from "./plan/course.ts";
import { conclude } from "./press_outcome.ts";
import { REPLY_STOPS, stopped, stoppedBy } from "./stop.ts";
import { goOn } from "./plan/go_on.ts";
import {
  changedSince,
  gatherPlanInputs,
  inputProblems,
  kindIn,
  type PlanSources,
  toolKind,
  type Tools,
} from "./plan/plan_inputs.ts";
import { markApproved, markRejected } from "./execute/status_edits.ts";
import { HARMLESS } from "./plan/harmless.ts";
import { planOne } from "./plan/one_call.ts";
import { plan } from "./plan/plan.ts";
import { callsToCheck } from "./plan/questions.ts";
import type { PlanInputs, Rest, Step } from "./plan/types.ts";
import {
  alreadyRunning,
  blockedBy,
  busySending,
  busyStarting,
  deniedByPolicy,
  goesInCircles,
  lastWord,
  noMessages,
  reusedIds,
  unknownCall,
} from "./refusals.ts";
import { Runs } from "./execute/runs.ts";
import { firstLine, survey } from "./plan/open_calls.ts";
import { DENIED } from "./sentences.ts";
import { repeats } from "./plan/repeats.ts";
import { Announcements } from "./execute/announcements.ts";
import { Background } from "./execute/background.ts";
import { takeSteps } from "./execute/take_steps.ts";
import type {
  AutopilotState,
  CompletedReply,
  DocumentStore,
  Emit,
  Journal,
  Send,
  SendOutcome,
  Stop,
} from "./types.ts";
import { Writer } from "./execute/writer.ts";

/** Everything a cycle works with; all effects go through these. */
export interface CycleParts {
  readonly store: DocumentStore;
  readonly journal: Journal;
  readonly settings: Settings;
  readonly tools: Tools;
  /** Waits until a tool is there or none may come under that name; left out, nothing is waited for. */
  readonly awaitTool?: (name: string, signal: AbortSignal) => Promise<void>;
  /** Asks the approval chain about one call. */
  readonly decide: PlanSources["decide"];
  /** Runs one call; never rejects. After `signal` aborts, its result is dropped. */
  readonly run: (
    call: Call,
    signal: AbortSignal,
    onOutput: (text: string) => void,
  ) => Promise<ExecutionResult>;
  /** Problems of an input by the tool's schema. */
  readonly checkInput: PlanSources["checkInput"];
  /** One line that shows a call. */
  readonly preview: (call: Call) => string;
  /** What a call would change in a file, as a unified diff; null where there is nothing to compare. @default null always */
  readonly diff?: (call: Call) => string | null;
  /** Whether the model goes on from a turn of its own; left out, it does not. */
  readonly prefill?: PlanSources["prefill"];
  readonly send: Send;
  readonly emit: Emit;
  /** Findings that stop the cycle before anyone is asked: an unreadable frontmatter. Asked at every press. */
  readonly blockers?: () => readonly Diagnostic[];
  /** Aborting it cancels whatever runs, like `cancelAll`. */
  readonly signal?: AbortSignal;
}

/** What a person had cancelled: a request, a call, or a press that had started neither. */
export type Cancelled =
  | { readonly what: "request" }
  | { readonly what: "call"; readonly id: string; readonly tool: string }
  | { readonly what: "press" };

/** The cycle of one document (tool-cycle sections 2 to 7). One instance is one run of the program. */
export class Cycle {
  readonly #parts: CycleParts;
  readonly #writer: Writer;
  readonly #runs: Runs;
  readonly #announcements: Announcements;
  #autopilot: Autopilot;
  #course: Course = RESTING;
  /** Ends what a press waits for when it is cancelled. */
  #waiting = new AbortController();
  /** Calls whose tools asked for the person since the last press. */
  #yielded: string[] = [];
  readonly #background = new Background();

  constructor(parts: CycleParts) {
    this.#parts = parts;
    this.#autopilot = startAutopilot(parts.settings.tools.autopilot);
    this.#writer = new Writer(parts.store, parts.journal, parts.emit);
    this.#announcements = new Announcements(parts.store, parts);
    this.#runs = new Runs({
      writer: this.#writer,
      run: parts.run,
      preview: parts.preview,
      emit: parts.emit,
      mayStart: () => mayStart(this.#course),
      spawn: (work) => this.#background.spawn(work),
      onEnd: (id, yielded, problem) => this.#callEnded(id, yielded, problem),
    });
    parts.signal?.addEventListener("abort", () => this.cancelAll(), { once: true });
  }

  get autopilot(): AutopilotState {
    return this.#autopilot.state;
  }

  get #chat(): Chat {
    return this.#parts.store.chat;
  }

  /**
   * One press and all that the autopilot does by itself; settles when everything is quiet. With `goOn` the person
   * asks the model to continue where it, or nobody, spoke last.
   */
  async advance(options: { readonly goOn?: boolean } = {}): Promise<Stop> {
    const refusal = await this.press(options);
    if (refusal !== null) return refusal;
    await this.quiet();
    return this.#conclude();
  }

  /**
   * One press; settles as soon as its calls are started, while asynchronous tools and a request go on. Gives a
   * stop when the press is refused because the cycle is busy.
   */
  async press({ goOn = false }: { readonly goOn?: boolean } = {}): Promise<Stop | null> {
    const refusal = this.#busy();
    if (refusal !== null) return stopped("failed", { problem: refusal });
    this.#begin();
    if (goOn) await this.#goOn();
    if (await this.#press(true)) this.#follow();
    return null;
  }

  /** The steps the next press would take, without taking them. */
  async plan(): Promise<readonly Step[]> {
    return plan(this.#chat, await this.#inputs(true));
  }

  /**
   * Runs or resolves one call whatever its state (tool-cycle 5.4); a body that is overwritten goes to the
   * journal first. A paused autopilot goes on afterwards.
   */
  async executeOne(id: string): Promise<Stop> {
    const call = this.#chat.call(id);
    const refusal = this.#busy() ?? (call === undefined ? unknownCall(id) : null) ??
      (this.#runs.has(id) ? alreadyRunning(id) : null);
    if (refusal !== null || call === undefined) {
      return stopped("failed", { ids: [id], problem: refusal ?? unknownCall(id) });
    }
    // The person names the call, but where and how it runs the document says, and that may be half read.
    const obstacle = this.#obstacle();
    if (obstacle !== null) return obstacle;
    this.#begin();
    const resumed = this.#autopilot.state === "paused";
    const problem = await this.#executeOne(call);
    if (problem !== null) return stopped("failed", { ids: [id], problem });
    await this.quiet();
    const asked = resumed || endOf(this.#course) !== null || this.#yielded.length > 0;
    return asked ? this.#conclude() : stopped("stepped", { ids: [id] });
  }

  /** Marks placeholders as approved, all or none, and binds the approvals to the calls' texts (S5). Nothing runs. */
  async approve(...ids: readonly string[]): Promise<Problem | null> {
    const running = ids.find((id) => this.#runs.has(id));
    if (running !== undefined) return alreadyRunning(running);
    return await markApproved(this.#writer, this.#parts.settings.tools, ids);
  }

  /** Marks placeholders as rejected, all or none; a message that is not empty replaces their bodies. Nothing runs. */
  async reject(ids: string | readonly string[], message = ""): Promise<Problem | null> {
    const all = typeof ids === "string" ? [ids] : ids;
    const running = all.find((id) => this.#runs.has(id));
    if (running !== undefined) return alreadyRunning(running);
    return await markRejected(this.#writer, this.#parts.settings.tools, all, message);
  }

  /** Whether a call runs now. */
  isRunning(id: string): boolean {
    return this.#runs.has(id);
  }

  /** The calls that run now and were not cancelled, in the order they were started. */
  get running(): readonly Call[] {
    return this.#runs.calls;
  }

  /** Whether a request runs now. */
  get requesting(): boolean {
    return this.#course.at === "sending";
  }

  /**
   * Cancels one thing: the running request, else the call that was started first, else a press that has not
   * started anything yet. Answers what it was; null when there is nothing to cancel.
   */
  cancel(): Cancelled | null {
    const course = this.#course;
    if (course.at === "sending") {
      course.request.abort();
      this.#cancelled([]);
      return { what: "request" };
    }
    const [call] = this.#runs.calls;
    if (call === undefined && phaseOf(course) === null) return null;
    if (call !== undefined) this.#runs.cancel(call.id);
    this.#cancelled(call === undefined ? [] : [call.id]);
    return call === undefined ? { what: "press" } : { what: "call", id: call.id, tool: call.name };
  }

  /** Cancels one running call by id. False when it does not run. */
  cancelCall(id: string): boolean {
    const found = this.#runs.cancel(id);
    if (found) this.#cancelled([id]);
    return found;
  }

  /** Cancels the request and every running call, and starts nothing more. */
  cancelAll(): void {
    if (this.#course.at === "sending") this.#course.request.abort();
    this.#cancelled(this.#runs.cancelAll());
  }

  /** Settles when no call or request runs and no step is left to do. Rejects with a fault of the program. */
  quiet(): Promise<void> {
    return this.#background.quiet();
  }

  /** One press, which has begun. True when the next one is due at once. */
  async #press(byPerson: boolean): Promise<boolean> {
    let end: Step | null = null;
    try {
      end = await this.#carryOut(byPerson);
    } finally {
      if (end?.do !== "send") this.#move({ kind: "settle" });
    }
    if (end?.do === "send") this.#background.spawn(this.#send(byPerson));
    return end?.do === "rest" && this.#course.at === "resting" ? this.#rest(end.at, end.ids) : false;
  }

  /** Says in the person's place that the model shall go on, where that is the next thing to be said. */
  async #goOn(): Promise<void> {
    if (!this.#starting || this.#obstacle() !== null) return;
    const problem = await this.#writer.commit((chat) => success(goOn(chat)));
    if (problem !== null) this.#fail(problem);
  }

  /** Plans a press and does all of it but the last step, which is the answer; null when the course ended meanwhile. */
  async #carryOut(byPerson: boolean): Promise<Step | null> {
    const course = this.#course;
    if (course.at !== "starting") return null;
    const obstacle = this.#obstacle();
    if (obstacle !== null) return this.#stop(obstacle);
    const inputs = await this.#inputs(byPerson);
    if (!this.#starting) return null;
    const steps = plan(this.#chat, inputs);
    const end = steps.at(-1);
    const nothingNew = end?.do === "send" || (end?.do === "rest" && end.at === "answered");
    if (course.mustFindWork && nothingNew) return this.#fail(reusedIds());
    if (!await this.#write(steps)) return null;
    await this.#forgetInterrupted(inputs);
    if (end?.do === "send" && !byPerson && this.#goesInCircles()) return null;
    // Armed before the calls start, so that their results do not move the cursor of a cycle that goes on.
    if (end?.do === "rest" && (end.at === "ran" || end.at === "resolved")) this.#react({ kind: "worked" });
    for (const step of steps) {
      if (!this.#starting) break;
      if (step.do === "run") await this.#runApproved(step.id);
    }
    return this.#starting ? end ?? null : null;
  }

  /** Ends the course where going on by itself would only bring the same again. */
  #goesInCircles(): boolean {
    const { max_repeats: rounds } = this.#parts.settings.tools.autopilot;
    const ids = repeats(this.#chat, rounds);
    if (ids === null) return false;
    const names = ids.map((id) => this.#chat.call(id)?.name ?? id);
    this.#stop(stoppedBy(goesInCircles(names, rounds), { ids, line: this.#chat.lineCount }));
    return true;
  }

  /** Whether the press under way goes on; asked after everything that was waited for. */
  get #starting(): boolean {
    return this.#course.at === "starting";
  }

  /** Further presses in the background, as long as the autopilot wants them. */
  #follow(mustFindWork = false): void {
    this.#move({ kind: "follow", mustFindWork });
    if (!this.#starting) return;
    this.#background.spawn((async () => {
      while (await this.#press(false)) this.#move({ kind: "follow", mustFindWork: false });
    })());
  }

  /** What keeps a press from starting at all. */
  #obstacle(): Stop | null {
    if (this.#chat.turns.length === 0) return stopped("empty", { problem: noMessages(this.#chat) });
    const blockers = this.#parts.blockers?.() ?? [];
    const [first] = blockers;
    if (first === undefined) return null;
    for (const diagnostic of blockers) this.#parts.emit({ event: "diagnostic", diagnostic });
    return stopped("diagnostics", { line: first.start ?? null, problem: blockedBy(blockers) });
  }

  async #inputs(byPerson: boolean): Promise<PlanInputs> {
    await this.#awaitTools(callsToCheck(this.#chat, this.#runs));
    return await gatherPlanInputs(this.#chat, this.#parts, this.#runs, byPerson);
  }

  /** Without its tool a call would be judged as one of a tool that nobody has. */
  async #awaitTools(calls: readonly Call[]): Promise<void> {
    const { tools, awaitTool } = this.#parts;
    if (awaitTool === undefined) return;
    for (const name of new Set(calls.map(({ name }) => name))) {
      if (!tools.has(name)) await awaitTool(name, this.#waiting.signal);
    }
  }

  /** Takes the steps that change the text, and tells of them. True when the document shows them. */
  async #write(steps: readonly Step[]): Promise<boolean> {
    const { store, settings } = this.#parts;
    const problem = await takeSteps(steps, { store, writer: this.#writer, settings: settings.tools });
    if (problem !== null) return this.#failed(problem);
    this.#announcements.steps(steps);
    return true;
  }

  /** Starts that an earlier run did not end are dealt with once the document shows it. */
  async #forgetInterrupted({ interrupted }: PlanInputs): Promise<void> {
    for (const id of interrupted.keys()) {
      if (this.#chat.call(id) !== undefined) await this.#writer.recordEnd(id);
    }
  }

  /** Starts an approved call; a tool that answers at once is waited for, which frees its slot (5.3). */
  async #runApproved(id: string): Promise<void> {
    // Writing a result shows what somebody changed meanwhile. For a call that changes nothing that need not be waited for.
    if (!HARMLESS.has(this.#chat.call(id)?.name ?? "")) await this.#runs.written();
    const asked = this.#chat.call(id);
    const denial = asked === undefined ? null : await this.#denialOf(asked);
    // Somebody may have edited the call since the plan was made, or since policy was asked; the next press decides anew.
    const call = this.#chat.call(id);
    const result = this.#chat.result(id);
    if (!this.#starting || call === undefined || result?.status !== "approved" || result.content !== "") {
      return;
    }
    if (call.name !== asked?.name || call.inputText !== asked.inputText) return;
    if (await changedSince(this.#parts.journal, call) !== null) return;
    if (denial === null) return await this.#start(call);
    const text = denial.forModel ?? DENIED;
    await this.#write([{ do: "resolve", id, because: "denied", text, verdict: denial }]);
  }

  /**
   * What policy says of a call that it did not approve itself; null unless it denies it. A denial holds whoever wrote the word
   * approved: it may have come with the document, or stand there from before the rule.
   */
  async #denialOf(call: Call): Promise<Verdict | null> {
    const approval = this.#parts.journal.approval(call.id);
    if (approval?.by === "policy" && approval.asked !== true) return null;
    const verdict = await this.#parts.decide(call);
    return verdict.decision === "deny" ? verdict : null;
  }

  async #start(call: Call): Promise<void> {
    const started = await this.#runs.start(call);
    if (!started.ok) this.#fail(started.problem);
    else if (toolKind(this.#parts.tools.get(call.name)) === "sync") await started.value.answered;
  }

  /** Runs or resolves the call of a press that has begun. */
  async #executeOne(call: Call): Promise<Problem | null> {
    try {
      const problem = await this.#oneStep(call);
      if (problem !== null) return problem;
    } finally {
      this.#move({ kind: "settle" });
    }
    if (this.#runs.size === 0 && this.#check()) this.#follow();
    return null;
  }

  async #oneStep(call: Call): Promise<Problem | null> {
    const { tools } = this.#parts;
    await this.#awaitTools([call]);
    const step = planOne(call, this.#chat.result(call.id), {
      toolKind: (name) => kindIn(tools, name),
      closestTool: (name) => tools.closestMatch(name),
      unaskedSource: (name) => tools.unaskedSource?.(name) ?? null,
      inputProblems: await inputProblems(call, this.#parts),
    });
    const verdict = step.do === "run" ? await this.#parts.decide(call) : null;
    if (!this.#starting) return null;
    const refusal = verdict?.decision === "deny"
      ? deniedByPolicy(call, verdict)
      : step.do === "refuse"
      ? step.problem
      : null;
    if (refusal !== null) this.#announcements.notice(refusal.code, refusal.message, call.id);
    if (refusal !== null || step.do === "refuse") return refusal;
    this.#react({ kind: "executed-one" });
    if (step.do === "run") await this.#start(call);
    else await this.#write([step]);
    return null;
  }

  /** The end of a press that does not send (section 4). True when the next press is due. */
  #rest(at: Rest, ids: readonly string[]): boolean {
    switch (at) {
      case "ran":
      case "resolved":
        return this.#runs.size === 0 && this.#check();
      case "protected":
        this.#react({ kind: "protected" });
        this.#announcements.cursorTo(ids);
        return false;
      case "pending":
        this.#announcements.waiting(ids);
        return false;
      case "last-word":
        this.#stop(stoppedBy(lastWord(this.#chat), { line: this.#chat.lineCount }));
        return false;
      case "answered":
        this.#stop(stopped("answered", { line: this.#chat.lineCount }));
        return false;
      case "running":
        this.#announcements.notice("busy", "Tools are still running; advance again when they are done.");
        return false;
    }
  }

  /** The completion check of the autopilot (section 7). True when the next press is due. */
  #check(): boolean {
    if (this.#course.at !== "resting") return false;
    const found = survey(this.#chat);
    const effect = this.#react({
      kind: "check",
      check: {
        open: found.open.length > 0,
        actionable: found.approved.length + found.resolvable.length > 0,
        blocked: found.pending.length + found.protected.length > 0,
        yielded: this.#yielded.length > 0,
      },
    });
    if (effect === "pause") {
      if (found.pending.length > 0) this.#announcements.waiting(found.pending);
      else this.#announcements.cursorTo(found.protected);
    }
    return effect === "advance";
  }

  #callEnded(id: string, yielded: boolean, problem: Problem | null): void {
    if (yielded) this.#yielded.push(id);
    if (problem !== null) {
      this.#fail(problem);
      this.#runs.cancelAll();
    } else if (this.#autopilot.state !== "armed") {
      this.#showResult(id);
    }
    if (this.#runs.size === 0 && this.#check()) this.#follow();
  }

  /** The cursor request after a result (section 10). */
  #showResult(id: string): void {
    const result = this.#chat.result(id);
    const where = this.#parts.settings.tools.cursor_after_result;
    if (result === undefined || where === "stay") return;
    this.#announcements.cursor(where === "result" ? result.header.start : result.turn.place.end + 1);
  }

  async #send(byPerson: boolean): Promise<void> {
    const request = new AbortController();
    this.#move({ kind: "send", request });
    let more = false;
    try {
      more = this.#afterSend(await this.#parts.send(request.signal, { byPerson }));
    } finally {
      this.#move({ kind: "replied" });
    }
    if (more) this.#follow(true);
  }

  /** True when the reply has calls and the autopilot takes them up. */
  #afterSend(outcome: SendOutcome): boolean {
    switch (outcome.kind) {
      case "completed":
        for (const warning of outcome.warnings) this.#announcements.notice("request-warning", warning);
        return this.#afterReply(outcome.reply);
      case "blocked":
        this.#stop(stopped("diagnostics", {
          line: outcome.diagnostics[0]?.start ?? null,
          problem: blockedBy(outcome.diagnostics),
        }));
        return false;
      case "cancelled":
        this.#cancelled([]);
        return false;
      case "failed":
        return this.#failed(outcome.problem);
    }
  }

  #afterReply(reply: CompletedReply): boolean {
    this.#announcements.cursor(this.#chat.lineCount);
    // A reply that brought nothing leaves the last one's calls where they are.
    const calls = reply === "empty"
      ? []
      : this.#chat.turns.findLast((turn) => turn.role === "Assistant")?.calls ?? [];
    const ids = calls.map(({ id }) => id);
    const effect = this.#react({ kind: "response", hasCalls: calls.length > 0 });
    if (effect === "advance") return true;
    if (effect === "limit") {
      const { maxTurns } = this.#autopilot;
      const message =
        `The autopilot stopped after ${maxTurns} replies with tool calls (tools.autopilot.max_turns).`;
      this.#announcements.notice("turn-limit", message);
      this.#stop(stopped("turn-limit", { ids, line: firstLine(this.#chat, ids) }));
    } else {
      const reason = calls.length > 0 ? "stepped" : REPLY_STOPS[reply];
      this.#stop(stopped(reason, { ids, line: this.#chat.lineCount }));
    }
    return false;
  }

  #react(event: AutopilotEvent): ReturnType<typeof react>["effect"] {
    const { autopilot, effect } = react(this.#autopilot, event);
    this.#autopilot = autopilot;
    return effect;
  }

  #move(event: CourseEvent): void {
    this.#course = next(this.#course, event);
  }

  #cancelled(ids: readonly string[]): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    this.#react({ kind: "cancel" });
    this.#move({ kind: "cancel", ids });
  }

  /** Ends the course. Always null, for `return this.#stop(…)`. */
  #stop(stop: Stop): null {
    this.#move({ kind: "stop", stop });
    return null;
  }

  #fail(problem: Problem): null {
    return this.#stop(stoppedBy(problem));
  }

  /** Ends the course with a problem. Always false, for `return this.#failed(…)`. */
  #failed(problem: Problem): false {
    this.#fail(problem);
    return false;
  }

  /** Begins a press, which nothing stands in the way of. */
  #begin(): void {
    this.#move({ kind: "press" });
    this.#yielded = [];
    if (this.#parts.signal?.aborted === true) this.#move({ kind: "cancel", ids: [] });
    this.#announcements.startOver();
  }

  #conclude(): Stop {
    return conclude(this.#chat, endOf(this.#course), this.#yielded);
  }

  #busy(): Problem | null {
    if (mayPress(this.#course)) return null;
    return phaseOf(this.#course) === "sending" ? busySending() : busyStarting();
  }
}
