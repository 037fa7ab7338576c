// Drives one document through categorise, execute and send, and comes to rest when a person is needed.

import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Call, Chat, Diagnostic } from "../parser/types.ts";
import type { ExecutionResult } from "../tools/definition.ts";
import { type Autopilot, type AutopilotEvent, react, startAutopilot } from "./plan/autopilot.ts";
import { PressOutcome, stopped } from "./press_outcome.ts";
import { stepEdits } from "./execute/step_edits.ts";
import {
  changedSince,
  gatherPlanInputs,
  type PlanSources,
  toolKind,
  type Tools,
} from "./plan/plan_inputs.ts";
import { markApproved, markRejected } from "./execute/status_edits.ts";
import { plan, type PlanInputs, planOne, type Rest, type Step } from "./plan/plan.ts";
import {
  alreadyRunning,
  blockedBy,
  busySending,
  busyStarting,
  noMessages,
  reusedIds,
  unknownCall,
} from "./refusals.ts";
import { Runs } from "./execute/runs.ts";
import { firstLine, survey } from "./plan/open_calls.ts";
import { Announcements } from "./execute/announcements.ts";
import type { AutopilotState, DocumentStore, Emit, Journal, Send, SendOutcome, Stop } from "./types.ts";
import { Writer } from "./execute/writer.ts";

/** Everything a cycle works with; all effects go through these. */
export interface CycleParts {
  readonly store: DocumentStore;
  readonly journal: Journal;
  readonly settings: Settings;
  readonly tools: Tools;
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
  readonly send: Send;
  readonly emit: Emit;
  /** Findings that stop the cycle before anyone is asked: an unreadable frontmatter. Asked at every press. */
  readonly blockers?: () => readonly Diagnostic[];
  /** Aborting it cancels whatever runs, like `cancelAll`. */
  readonly signal?: AbortSignal;
}

/** The cycle of one document (tool-cycle sections 2 to 7). One instance is one run of the program. */
export class Cycle {
  readonly #parts: CycleParts;
  readonly #writer: Writer;
  readonly #runs: Runs;
  readonly #announcements: Announcements;
  #autopilot: Autopilot;
  #outcome = new PressOutcome();
  /** The running request. */
  #request: AbortController | null = null;
  /** True while a press starts calls: calls that end meanwhile must not start the next press. */
  #dispatching = false;
  readonly #background = new Set<Promise<void>>();
  #fault: { readonly thrown: unknown } | null = null;

  constructor(parts: CycleParts) {
    this.#parts = parts;
    this.#autopilot = startAutopilot(parts.settings.tools.autopilot);
    this.#writer = new Writer(parts.store, parts.journal, parts.emit);
    this.#announcements = new Announcements(parts.store, parts.preview, parts.emit);
    this.#runs = new Runs({
      writer: this.#writer,
      run: parts.run,
      preview: parts.preview,
      emit: parts.emit,
      mayStart: () => !this.#outcome.over,
      spawn: (work) => this.#spawn(work),
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

  /** One press and all that the autopilot does by itself; settles when everything is quiet. */
  async advance(): Promise<Stop> {
    const refusal = await this.press();
    if (refusal !== null) return refusal;
    await this.quiet();
    return this.#outcome.conclude(this.#chat);
  }

  /**
   * One press; settles as soon as its calls are started, while asynchronous tools and a request go on. Gives a
   * stop when the press is refused because the cycle is busy.
   */
  async press(): Promise<Stop | null> {
    const refusal = this.#busy();
    if (refusal !== null) return stopped("failed", { problem: refusal });
    this.#startCourse();
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
    this.#startCourse();
    const resumed = this.#autopilot.state === "paused";
    const problem = await this.#executeOne(call);
    if (problem !== null) return stopped("failed", { ids: [id], problem });
    await this.quiet();
    const { stop, cancelled, yielded } = this.#outcome;
    if (resumed || stop !== null || cancelled !== null || yielded.length > 0) {
      return this.#outcome.conclude(this.#chat);
    }
    return stopped("stepped");
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

  /**
   * Cancels one thing: the running request, else the call that was started first, else a press that has not
   * started anything yet. False when there is nothing to cancel.
   */
  cancel(): boolean {
    if (this.#request !== null) {
      this.#request.abort();
      this.#cancelled([]);
      return true;
    }
    const id = this.#runs.cancelFirst();
    if (id === null && !this.#dispatching) return false;
    this.#cancelled(id === null ? [] : [id]);
    return true;
  }

  /** Cancels one running call by id. False when it does not run. */
  cancelCall(id: string): boolean {
    const found = this.#runs.cancel(id);
    if (found) this.#cancelled([id]);
    return found;
  }

  /** Cancels the request and every running call, and starts nothing more. */
  cancelAll(): void {
    this.#request?.abort();
    this.#cancelled(this.#runs.cancelAll());
  }

  /** Settles when no call or request runs and no step is left to do. Rejects with a fault of the program. */
  async quiet(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
    if (this.#fault !== null) throw this.#fault.thrown;
  }

  /** One press. True when the next one is due at once. */
  async #press(byPerson: boolean): Promise<boolean> {
    if (this.#outcome.over) return false;
    const expectsWork = this.#outcome.expectsWork;
    this.#outcome.expectsWork = false;
    const obstacle = this.#obstacle();
    if (obstacle !== null) {
      this.#outcome.stop = obstacle;
      return false;
    }
    this.#dispatching = true;
    let end: Step | undefined;
    try {
      const inputs = await this.#inputs(byPerson);
      if (this.#outcome.over) return false;
      const steps = plan(this.#chat, inputs);
      end = steps.at(-1);
      if (expectsWork && end?.do === "send") return this.#fail(reusedIds());
      if (!await this.#write(steps) || !await this.#forgetInterrupted(inputs)) return false;
      // Armed before the calls start, so that their results do not move the cursor of a cycle that goes on.
      if (end?.do === "rest" && (end.at === "ran" || end.at === "resolved")) this.#react({ kind: "worked" });
      for (const step of steps) {
        if (this.#outcome.over) break;
        if (step.do === "run") await this.#runApproved(step.id);
      }
    } finally {
      this.#dispatching = false;
    }
    if (this.#outcome.over || end === undefined) return false;
    if (end.do === "send") {
      this.#spawn(this.#send());
      return false;
    }
    return end.do === "rest" ? this.#rest(end.at, end.ids) : false;
  }

  /** Further presses in the background, as long as the autopilot wants them. */
  #follow(): void {
    this.#spawn((async () => {
      while (await this.#press(false));
    })());
  }

  /** What keeps a press from starting at all. */
  #obstacle(): Stop | null {
    if (this.#chat.turns.length === 0) return stopped("empty", { problem: noMessages() });
    const blockers = this.#parts.blockers?.() ?? [];
    const [first] = blockers;
    if (first === undefined) return null;
    for (const diagnostic of blockers) this.#parts.emit({ event: "diagnostic", diagnostic });
    return stopped("diagnostics", { line: first.start ?? null, problem: blockedBy(blockers) });
  }

  #inputs(byPerson: boolean): Promise<PlanInputs> {
    return gatherPlanInputs(this.#chat, this.#parts, this.#runs, byPerson);
  }

  /** Takes the steps that change the text: approvals and lost bodies into the journal, then one commit. */
  async #write(steps: readonly Step[]): Promise<boolean> {
    for (const step of steps) {
      const problem = await this.#beforeWriting(step);
      if (problem !== null) return this.#fail(problem);
    }
    const { settings } = this.#parts;
    const problem = await this.#writer.commit((chat) => stepEdits(chat, steps, settings.tools));
    if (problem !== null) return this.#fail(problem);
    this.#announcements.steps(steps);
    return true;
  }

  async #beforeWriting(step: Step): Promise<Problem | null> {
    if (!("id" in step) || step.id === undefined) return null;
    const call = this.#chat.call(step.id);
    if (call === undefined) return null;
    switch (step.do) {
      case "place":
        if (step.status !== "approved") return null;
        return await this.#writer.recordApproval(call, "policy", step.verdict.source);
      case "confirm":
        return await this.#writer.recordApproval(call, "policy", step.verdict.source);
      case "demote":
        // From here on only a person can approve the call, and what they see is the text as it is now.
        return await this.#writer.recordApproval(call, "person");
      case "resolve": {
        const body = this.#chat.result(step.id)?.content ?? "";
        if (body === "" || body === step.text) return null;
        return await this.#writer.keepBody(
          step.id,
          body,
          `The error result of ${step.id} took the place of its body`,
        );
      }
      default:
        return null;
    }
  }

  /** Starts that an earlier run did not end are dealt with once the document shows it. */
  async #forgetInterrupted(inputs: PlanInputs): Promise<boolean> {
    for (const id of inputs.interrupted.keys()) {
      if (this.#chat.call(id) === undefined) continue;
      const problem = await this.#writer.journal((journal) => journal.recordEnd(id));
      if (problem !== null) return this.#fail(problem);
    }
    return true;
  }

  /** Starts an approved call; a tool that answers at once is waited for, which frees its slot (5.3). */
  async #runApproved(id: string): Promise<void> {
    const call = this.#chat.call(id);
    const result = this.#chat.result(id);
    if (call === undefined || result?.status !== "approved" || result.content !== "") return;
    // Somebody may have edited the call since the plan was made; the next press decides on the new text.
    if (await changedSince(this.#parts.journal, call) !== null) return;
    await this.#start(call);
  }

  async #start(call: Call): Promise<void> {
    const started = await this.#runs.start(call);
    if (!("ended" in started)) this.#fail(started);
    else if (toolKind(this.#parts.tools.get(call.name)) === "sync") await started.ended;
  }

  async #executeOne(call: Call): Promise<Problem | null> {
    const { tools, checkInput } = this.#parts;
    const definition = tools.get(call.name);
    const step = planOne(call, this.#chat.result(call.id), {
      toolKind: () => toolKind(definition),
      closestTool: (name) => tools.closestMatch(name),
      inputProblems: definition === undefined ? [] : await checkInput(definition, call.input),
    });
    if (this.#outcome.over) return null;
    if (step.do === "refuse") {
      this.#announcements.notice(step.problem.code, step.problem.message, call.id);
      return step.problem;
    }
    this.#react({ kind: "executed-one" });
    this.#dispatching = true;
    try {
      if (step.do === "run") await this.#start(call);
      else await this.#write([step]);
    } finally {
      this.#dispatching = false;
    }
    if (this.#runs.size === 0 && this.#check()) this.#follow();
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
      case "running":
        this.#announcements.notice("busy", "Tools are still running; advance again when they are done.");
        return false;
    }
  }

  /** The completion check of the autopilot (section 7). True when the next press is due. */
  #check(): boolean {
    if (this.#outcome.over) return false;
    const found = survey(this.#chat);
    const effect = this.#react({
      kind: "check",
      check: {
        open: found.open.length > 0,
        actionable: found.approved.length + found.resolvable.length > 0,
        blocked: found.pending.length + found.protected.length > 0,
        yielded: this.#outcome.yielded.length > 0,
      },
    });
    if (effect === "pause") {
      if (found.pending.length > 0) this.#announcements.waiting(found.pending);
      else this.#announcements.cursorTo(found.protected);
    }
    return effect === "advance";
  }

  #callEnded(id: string, yielded: boolean, problem: Problem | null): void {
    if (yielded) this.#outcome.yielded.push(id);
    if (problem !== null) {
      this.#fail(problem);
      this.#runs.cancelAll();
    } else if (this.#autopilot.state !== "armed") {
      this.#showResult(id);
    }
    if (this.#runs.size > 0 || this.#dispatching || this.#request !== null) return;
    if (this.#check()) this.#follow();
  }

  /** The cursor request after a result (section 10). */
  #showResult(id: string): void {
    const result = this.#chat.result(id);
    const where = this.#parts.settings.tools.cursor_after_result;
    if (result === undefined || where === "stay") return;
    this.#announcements.cursor(where === "result" ? result.header.start : result.turn.place.end + 1);
  }

  async #send(): Promise<void> {
    const request = new AbortController();
    this.#request = request;
    let outcome: SendOutcome;
    try {
      outcome = await this.#parts.send(request.signal);
    } finally {
      this.#request = null;
    }
    if (this.#afterSend(outcome)) this.#follow();
  }

  /** True when the reply has calls and the autopilot takes them up. */
  #afterSend(outcome: SendOutcome): boolean {
    switch (outcome.kind) {
      case "completed":
        for (const warning of outcome.warnings) this.#announcements.notice("request-warning", warning);
        return this.#afterReply();
      case "blocked":
        this.#outcome.stop = stopped("diagnostics", {
          line: outcome.diagnostics[0]?.start ?? null,
          problem: blockedBy(outcome.diagnostics),
        });
        return false;
      case "cancelled":
        this.#cancelled([]);
        return false;
      case "failed":
        return this.#fail(outcome.problem);
    }
  }

  #afterReply(): boolean {
    this.#announcements.cursor(this.#chat.lineCount);
    const calls = this.#chat.turns.findLast((turn) => turn.role === "Assistant")?.calls ?? [];
    const ids = calls.map(({ id }) => id);
    const effect = this.#react({ kind: "response", hasCalls: calls.length > 0 });
    if (effect === "advance") {
      this.#outcome.expectsWork = true;
      return !this.#outcome.over;
    }
    if (effect === "limit") {
      const { maxTurns } = this.#autopilot;
      const message =
        `The autopilot stopped after ${maxTurns} replies with tool calls (tools.autopilot.max_turns).`;
      this.#announcements.notice("turn-limit", message);
      this.#outcome.stop = stopped("turn-limit", { ids, line: firstLine(this.#chat, ids) });
    } else {
      this.#outcome.stop = stopped(calls.length > 0 ? "stepped" : "done", {
        ids,
        line: this.#chat.lineCount,
      });
    }
    return false;
  }

  #react(event: AutopilotEvent): ReturnType<typeof react>["effect"] {
    const { autopilot, effect } = react(this.#autopilot, event);
    this.#autopilot = autopilot;
    return effect;
  }

  #cancelled(ids: readonly string[]): void {
    this.#react({ kind: "cancel" });
    this.#outcome.cancel(ids);
  }

  /** Ends the press with a problem. Always false, for `return this.#fail(…)`. */
  #fail(problem: Problem): false {
    this.#outcome.fail(problem);
    return false;
  }

  #startCourse(): void {
    this.#outcome = new PressOutcome();
    if (this.#parts.signal?.aborted === true) this.#outcome.cancel([]);
    this.#announcements.startOver();
  }

  #busy(): Problem | null {
    if (this.#request !== null) return busySending();
    return this.#dispatching ? busyStarting() : null;
  }

  /** Keeps background work in sight of `quiet`; what it throws is a fault of the program and comes out there. */
  #spawn(work: Promise<void>): void {
    const watched: Promise<void> = work
      .catch((thrown: unknown) => {
        this.#fault ??= { thrown };
      })
      .finally(() => this.#background.delete(watched));
    this.#background.add(watched);
  }
}
