// Runs one document through three steps (categorize, execute, send) and stops when a person is needed.

import { type Problem, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { startAutopilot } from "./autopilot.ts";
import { endOf, mayStart, mayStep, phaseOf } from "./phase.ts";
import { type Blocker, sendObstacle, stopAfter } from "./send_only.ts";
import { conclude, createStop, createStopBy } from "./stop.ts";
import { askToContinue } from "../plan/go_on.ts";
import {
  answersCheck,
  effectsOf,
  gatherPlanInputs,
  inputProblems,
  kindIn,
  type PlanSources,
  type Tools,
} from "../plan/plan_inputs.ts";
import { markApproved, markRejected } from "../execute/status_edits.ts";
import { planOne } from "../plan/one_call.ts";
import { nothingToSend, summarizeOpenCalls } from "../plan/open_calls.ts";
import { plan } from "../plan/plan.ts";
import { callsToCheck } from "../plan/questions.ts";
import type { PlanInputs, Step } from "../plan/types.ts";
import { FollowUp } from "./follow_up.ts";
import { Starts } from "./starts.ts";
import { CycleState } from "./state.ts";
import {
  alreadyRunning,
  blockedBy,
  busySending,
  busyStarting,
  deniedByPolicy,
  goesInCircles,
  noMessages,
  reusedIds,
  unknownCall,
} from "../plan/refusals.ts";
import { Runs } from "../execute/runs.ts";
import { findRepeats } from "./repeats.ts";
import { Announcements } from "../execute/announcements.ts";
import { Background } from "../execute/background.ts";
import { takeSteps } from "../execute/take_steps.ts";
import type {
  AskedAlthough,
  AutopilotState,
  CallResult,
  DocumentStore,
  Emit,
  Journal,
  Send,
  SendOutcome,
  Stop,
} from "../types.ts";
import { Writer } from "../execute/writer.ts";

/** Everything a cycle works with; all effects go through these. */
export interface CycleParts {
  readonly store: DocumentStore;
  readonly journal: Journal;
  /** Returns the recorded approval of a call, if it is valid. @default the approval in the journal */
  readonly approvalOf?: PlanSources["approvalOf"];
  /** Why the user is asked about a call that says `approved`; null if there is no such reason. @default never */
  readonly askedAlthough?: (id: string) => AskedAlthough | null;
  readonly settings: Settings;
  readonly tools: Tools;
  /**
   * Waits until a tool of that name is available, or until no source can provide it any more. @default does not wait
   */
  readonly awaitTool?: (name: string, signal: AbortSignal) => Promise<void>;
  readonly decide: PlanSources["decide"];
  /** Runs one call; never rejects. After `signal` aborts, the result of the call is dropped. */
  readonly run: (
    call: Call,
    signal: AbortSignal,
    onOutput: (text: string) => void,
  ) => Promise<CallResult>;
  /** Returns the problems of an input by the tool's schema. */
  readonly checkInput: PlanSources["checkInput"];
  /** Returns whether a call that waits in another document can go on. @default no call waits in another document */
  readonly goesOn?: PlanSources["goesOn"];
  /** Checks the answers in the block of a call to what its server asked. @default no server asks */
  readonly checkAnswers?: PlanSources["checkAnswers"];
  /** Returns one line that describes a call. */
  readonly preview: (call: Call) => string;
  /**
   * Returns the change that a call would make to a file, as a unified diff; null if there is nothing to compare.
   * @default always null
   */
  readonly diff?: (call: Call) => string | null;
  /** Returns whether the model continues its own turn. @default false */
  readonly prefill?: PlanSources["prefill"];
  readonly send: Send;
  readonly emit: Emit;
  /**
   * Returns problems that stop the cycle before anyone is asked, such as unreadable frontmatter. Called at every step.
   */
  readonly blockers?: () => readonly Blocker[];
  /** Signal that cancels everything that runs when it aborts, like `cancelAll`. */
  readonly signal?: AbortSignal;
}

/** What was cancelled: a request, a call, a step that had started neither of them, or background jobs. */
export type Cancelled =
  | { readonly what: "request" }
  | { readonly what: "call"; readonly id: string; readonly tool: string }
  | { readonly what: "step" }
  /** A background job. */
  | { readonly what: "job"; readonly id: string }
  /** The wait of a run for its background jobs. */
  | { readonly what: "jobs" };

/** The cycle of one document. One instance is one run of the program. */
export class Cycle {
  readonly #parts: CycleParts;
  readonly #writer: Writer;
  readonly #runs: Runs;
  readonly #announcements: Announcements;
  readonly #state: CycleState;
  readonly #starts: Starts;
  readonly #followUp: FollowUp;
  /** Controller that ends the waiting of a step when the step is cancelled. */
  #waiting = new AbortController();
  readonly #background = new Background();

  constructor(parts: CycleParts) {
    this.#parts = parts;
    const { tools: settings } = parts.settings;
    const state = this.#state = new CycleState(startAutopilot(settings.autopilot));
    this.#writer = new Writer(parts.store, parts.journal, parts.emit, parts.askedAlthough);
    this.#announcements = new Announcements(parts.store, parts);
    this.#runs = new Runs({
      writer: this.#writer,
      effects: ({ name }) => effectsOf(parts.tools, name),
      run: parts.run,
      preview: parts.preview,
      emit: parts.emit,
      mayStart: () => mayStart(state.phase),
      spawn: (work) => this.#background.spawn(work),
      waitsElsewhere: ({ name }, { waits }) =>
        parts.tools.get(name)?.continues === true ? waits ?? null : null,
      asksPerson: ({ name }, { asks }) => parts.tools.get(name)?.server === undefined ? null : asks ?? null,
      onWait: ({ ends }) => ends === undefined ? undefined : state.fail(ends),
      onEnd: (id, yielded, problem) => this.#callEnded(id, yielded, problem),
    });
    const { store, journal, approvalOf, tools } = parts;
    const [runs, announcements] = [this.#runs, this.#announcements];
    this.#starts = new Starts({
      store,
      journal,
      approvalOf,
      tools,
      runs,
      state,
      decide: (call) => parts.decide(call, { hooks: { signal: this.#waiting.signal, approved: true } }),
      isBlocked: () => (parts.blockers?.() ?? []).length > 0,
      write: (steps) => this.#write(steps),
    });
    this.#followUp = new FollowUp({ store, settings, runs, state, announcements });
    parts.signal?.addEventListener("abort", () => this.cancelAll(), { once: true });
  }

  get autopilot(): AutopilotState {
    return this.#state.autopilot.state;
  }

  get #chat(): Chat {
    return this.#parts.store.chat;
  }

  /**
   * Takes one step, and further steps while the autopilot continues; settles when nothing runs. With `askToContinue` it
   * first asks the model to continue, unless the user spoke last.
   */
  async advance(options: { readonly goOn?: boolean } = {}): Promise<Stop> {
    const refusal = await this.step(options);
    if (refusal !== null) return refusal;
    await this.quiet();
    return this.#conclude();
  }

  /**
   * Takes one step. Settles as soon as its calls are started, even if asynchronous tools or a request still run. If the
   * cycle is busy, returns a stop.
   */
  async step({ goOn = false }: { readonly goOn?: boolean } = {}): Promise<Stop | null> {
    const refusal = this.#busy();
    if (refusal !== null) return createStop("failed", { problem: refusal });
    this.#begin();
    if (goOn) await this.#goOn();
    if (await this.#step(true)) this.#follow();
    return null;
  }

  /**
   * Only sends a request: runs nothing and decides no call. With `askToContinue` it first asks the model to continue,
   * unless the user spoke last.
   */
  async send({ goOn: goesOn = false }: { readonly goOn?: boolean } = {}): Promise<Stop> {
    const refusal = this.#busy();
    if (refusal !== null) return createStop("failed", { problem: refusal });
    this.#begin();
    try {
      const obstacle = sendObstacle(this.#chat, this.#parts.blockers?.() ?? []);
      if (obstacle !== null) return obstacle;
      const problem = goesOn ? await this.#writer.commit((chat) => success(askToContinue(chat))) : null;
      if (problem !== null) return createStopBy(problem);
      if (!this.#state.starting) return this.#conclude();
      return await this.#sendOnly();
    } finally {
      this.#state.move({ kind: "settle" });
    }
  }

  async #sendOnly(): Promise<Stop> {
    for (;;) {
      if (nothingToSend(this.#chat)) return createStop("answered", { line: this.#chat.lineCount });
      const stop = await this.#request(
        true,
        (outcome) => outcome.kind === "changed" ? null : stopAfter(outcome, this.#chat),
      );
      const now = stop ?? sendObstacle(this.#chat, this.#parts.blockers?.() ?? []);
      if (now !== null) return now;
      this.#state.move({ kind: "follow", mustFindWork: false });
      if (!this.#state.starting) return this.#conclude();
    }
  }

  /** Returns the plan of the next step, without carrying it out. */
  async plan(): Promise<readonly Step[]> {
    return plan(this.#chat, await this.#inputs(true));
  }

  /**
   * Runs or resolves one call whatever its state. If a body is overwritten, it is saved in the journal first. A paused
   * autopilot continues afterwards.
   */
  async executeOne(id: string): Promise<Stop> {
    const call = this.#chat.call(id);
    const refusal = this.#busy() ?? (call === undefined ? unknownCall(id) : null) ??
      (this.#runs.has(id) ? alreadyRunning(id) : null);
    if (refusal !== null || call === undefined) {
      return createStop("failed", { ids: [id], problem: refusal ?? unknownCall(id) });
    }
    // The document decides where and how the call runs, so it must be readable.
    const obstacle = this.#obstacle();
    if (obstacle !== null) return obstacle;
    this.#begin();
    const resumed = this.#state.autopilot.state === "paused";
    const problem = await this.#executeOne(call);
    if (problem !== null) return createStop("failed", { ids: [id], problem });
    await this.quiet();
    const asked = resumed || endOf(this.#state.phase) !== null || this.#state.yielded.length > 0;
    return asked ? this.#conclude() : createStop("stepped", { ids: [id] });
  }

  /** Marks placeholders as approved, all or none, and binds the approvals to the calls' texts. Nothing runs. */
  async approve(...ids: readonly string[]): Promise<Problem | null> {
    const running = ids.find((id) => this.#runs.has(id));
    if (running !== undefined) return alreadyRunning(running);
    return await markApproved(this.#writer, this.#parts.settings.tools, ids);
  }

  /** Marks placeholders as rejected, all or none; a non-empty message replaces their bodies. Nothing runs. */
  async reject(ids: string | readonly string[], message = ""): Promise<Problem | null> {
    const all = typeof ids === "string" ? [ids] : ids;
    const running = all.find((id) => this.#runs.has(id));
    if (running !== undefined) return alreadyRunning(running);
    return await markRejected(this.#writer, this.#parts.settings.tools, all, message);
  }

  /** Records the calls that wait for the user now: a host shows them, so an approval that follows is the user's. */
  async noteWaiting(): Promise<void> {
    const calls = summarizeOpenCalls(this.#chat).pending.flatMap((id) => this.#chat.call(id) ?? []);
    await this.#writer.recordDecisions([], calls);
  }

  isRunning(id: string): boolean {
    return this.#runs.has(id);
  }

  /** The running calls that were not cancelled, in the order they were started. */
  get running(): readonly Call[] {
    return this.#runs.calls;
  }

  get requesting(): boolean {
    return this.#state.phase.at === "sending";
  }

  /**
   * Cancels one thing: the running request, else the call that was started first, else a step that has not started
   * anything yet. Returns what was cancelled; null if there is nothing to cancel.
   */
  cancel(): Cancelled | null {
    const phase = this.#state.phase;
    if (phase.at === "sending") {
      phase.request.abort();
      this.#cancelled([]);
      return { what: "request" };
    }
    const [call] = this.#runs.calls;
    if (call === undefined && phaseOf(phase) === null) return null;
    if (call !== undefined) this.#runs.cancel(call.id);
    this.#cancelled(call === undefined ? [] : [call.id]);
    return call === undefined ? { what: "step" } : { what: "call", id: call.id, tool: call.name };
  }

  /** Cancels one running call; false if it is not running. */
  cancelCall(id: string): boolean {
    const found = this.#runs.cancel(id);
    if (found) this.#cancelled([id]);
    return found;
  }

  /** Cancels the request and every running call, and starts nothing more. */
  cancelAll(): void {
    if (this.#state.phase.at === "sending") this.#state.phase.request.abort();
    this.#cancelled(this.#runs.cancelAll());
  }

  /** Settles when no call or request runs and no step is left to take. Rejects with internal errors. */
  quiet(): Promise<void> {
    return this.#background.quiet();
  }

  /** Carries out a step that has begun. Returns true if the next step is due immediately. */
  async #step(byPerson: boolean): Promise<boolean> {
    let end: Step | null = null;
    try {
      end = await this.#carryOut(byPerson);
    } finally {
      // A cancel may have arrived after the last check.
      if (!this.#state.starting) end = null;
      if (end?.do !== "send") this.#state.move({ kind: "settle" });
    }
    if (end?.do === "send") this.#background.spawn(this.#send(byPerson));
    return end?.do === "rest" && this.#state.phase.at === "resting"
      ? this.#followUp.rest(end.at, end.ids)
      : false;
  }

  /** Appends a user turn asking the model to continue, if a user turn is due. */
  async #goOn(): Promise<void> {
    if (!this.#state.starting || this.#obstacle() !== null) return;
    const problem = await this.#writer.commit((chat) => success(askToContinue(chat)));
    if (problem !== null) this.#state.fail(problem);
  }

  /**
   * Plans a step and carries out all parts but the last one, which it returns. Returns null if the run was stopped
   * meanwhile.
   */
  async #carryOut(byPerson: boolean): Promise<Step | null> {
    const phase = this.#state.phase;
    if (phase.at !== "starting") return null;
    const obstacle = this.#obstacle();
    if (obstacle !== null) return this.#state.stop(obstacle);
    const inputs = await this.#inputs(byPerson, this.#waiting.signal);
    if (!this.#state.starting) return null;
    const steps = plan(this.#chat, inputs);
    const end = steps.at(-1);
    const nothingNew = end?.do === "send" || (end?.do === "rest" && end.at === "answered");
    if (phase.mustFindWork && nothingNew) return this.#state.fail(reusedIds());
    if (!await this.#write(steps)) return null;
    await this.#forgetInterrupted(inputs);
    if (end?.do === "send" && !byPerson && this.#goesInCircles()) return null;
    // The request to move the cursor comes before the calls start. Their results must not move the cursor while the
    // autopilot continues.
    if (end?.do === "rest" && (end.at === "ran" || end.at === "resolved")) {
      this.#state.react({ kind: "worked" });
    }
    for (const step of steps) {
      if (!this.#state.starting) break;
      if (step.do === "run") await this.#starts.startApproved(step.id);
    }
    return this.#state.starting ? end ?? null : null;
  }

  /** Stops the run if the model repeats the same calls with the same results. */
  #goesInCircles(): boolean {
    const { max_repeats: rounds } = this.#parts.settings.tools.autopilot;
    const ids = findRepeats(this.#chat, rounds);
    if (ids === null) return false;
    const names = ids.map((id) => this.#chat.call(id)?.name ?? id);
    this.#state.stop(createStopBy(goesInCircles(names, rounds), { ids, line: this.#chat.lineCount }));
    return true;
  }

  /**
   * Takes further steps in the background, as long as the autopilot wants them.
   * @param byPerson true if the first of them continues a step that the user started
   */
  #follow({ mustFindWork = false, byPerson = false } = {}): void {
    this.#state.move({ kind: "follow", mustFindWork });
    if (!this.#state.starting) return;
    this.#background.spawn((async () => {
      let more = await this.#step(byPerson);
      while (more) {
        this.#state.move({ kind: "follow", mustFindWork: false });
        more = await this.#step(false);
      }
    })());
  }

  /** Returns what prevents a step from starting. */
  #obstacle(): Stop | null {
    if (this.#chat.turns.length === 0) return createStop("empty", { problem: noMessages(this.#chat) });
    const blockers = this.#parts.blockers?.() ?? [];
    const [first] = blockers;
    if (first === undefined) return null;
    for (const diagnostic of blockers) this.#parts.emit({ event: "diagnostic", diagnostic });
    return createStop("diagnostics", { line: first.start ?? null, problem: blockedBy(blockers) });
  }

  async #inputs(byPerson: boolean, hooks?: AbortSignal): Promise<PlanInputs> {
    await this.#awaitTools(callsToCheck(this.#chat, this.#runs));
    return await gatherPlanInputs(this.#chat, this.#parts, this.#runs, byPerson, hooks);
  }

  /**
   * Waits for the tools of calls. Without its tool, a call would be decided as if the tool were missing, or by the
   * rights of a tool that is about to be replaced.
   */
  async #awaitTools(calls: readonly Call[]): Promise<void> {
    const { awaitTool } = this.#parts;
    if (awaitTool === undefined) return;
    for (const name of new Set(calls.map(({ name }) => name))) {
      await awaitTool(name, this.#waiting.signal);
    }
  }

  /** Applies the parts that change the text and reports them. Returns true once the changes are in the document. */
  async #write(steps: readonly Step[]): Promise<boolean> {
    const { store, settings } = this.#parts;
    const problem = await takeSteps(steps, { store, writer: this.#writer, settings: settings.tools });
    if (problem !== null) return this.#state.failed(problem);
    this.#announcements.steps(steps);
    return true;
  }

  /**
   * Forgets the interrupted calls that the document now shows as interrupted. A buffer may never be saved; then a run of
   * the file would find the call approved.
   */
  async #forgetInterrupted({ interrupted }: PlanInputs): Promise<void> {
    if (interrupted.size === 0) return;
    const { store } = this.#parts;
    const saved = store.onDisk === undefined ? this.#chat : await store.onDisk();
    for (const id of interrupted.keys()) {
      if (this.#chat.call(id) === undefined) continue;
      const mayRun = saved !== null && saved !== this.#chat && mayRunIn(saved, id);
      await (mayRun ? this.#writer.recordReported(id) : this.#writer.recordEnd(id));
    }
  }

  /** Runs or resolves the call of a step that has begun. */
  async #executeOne(call: Call): Promise<Problem | null> {
    try {
      const problem = await this.#oneStep(call);
      if (problem !== null) return problem;
    } finally {
      this.#state.move({ kind: "settle" });
    }
    if (this.#followUp.check()) this.#follow();
    return null;
  }

  async #oneStep(call: Call): Promise<Problem | null> {
    const { tools } = this.#parts;
    await this.#awaitTools([call]);
    const result = this.#chat.result(call.id);
    const step = planOne(call, result, {
      toolKind: (name) => kindIn(tools, name),
      closestTool: (name) => tools.closestMatch(name),
      unaskedSource: (name) => tools.unaskedSource?.(name) ?? null,
      inputProblems: await inputProblems(call, this.#parts),
      answers: result === undefined ? null : await answersCheck(call, result, this.#parts),
    });
    const decided = step.do === "run"
      ? await this.#parts.decide(call, { hooks: { signal: this.#waiting.signal, approved: true } })
      : null;
    if (!this.#state.starting) return null;
    const refusal = decided?.decision === "deny"
      ? deniedByPolicy(call, decided)
      : step.do === "refuse"
      ? step.problem
      : null;
    if (refusal !== null) this.#announcements.notice(refusal.code, refusal.message, call.id);
    if (refusal !== null || step.do === "refuse") return refusal;
    this.#state.react({ kind: "executed-one" });
    if (step.do === "run") await this.#starts.start(call);
    else await this.#write([step]);
    return null;
  }

  #callEnded(id: string, yielded: boolean, problem: Problem | null): void {
    if (yielded) this.#state.noteYield(id);
    if (problem !== null) {
      this.#state.fail(problem);
      this.#runs.cancelAll();
    } else {
      this.#followUp.showResult(id);
    }
    if (this.#followUp.check()) this.#follow();
  }

  async #send(byPerson: boolean): Promise<void> {
    const next = await this.#request(byPerson, (outcome) => {
      if (outcome.kind === "changed") return { byPerson };
      if (outcome.kind !== "cancelled") return this.#followUp.sent(outcome) ? { mustFindWork: true } : null;
      this.#cancelled([]);
      return null;
    });
    if (next !== null) this.#follow(next);
  }

  /** Sends a request; `use` handles its outcome before the next step may start. */
  async #request<T>(byPerson: boolean, use: (outcome: SendOutcome) => T): Promise<T> {
    const request = new AbortController();
    this.#state.move({ kind: "send", request });
    try {
      return use(await this.#parts.send(request.signal, { byPerson }));
    } finally {
      this.#state.move({ kind: "replied" });
    }
  }

  #cancelled(ids: readonly string[]): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    this.#state.react({ kind: "cancel" });
    this.#state.move({ kind: "cancel", ids });
  }

  #begin(): void {
    this.#state.begin();
    this.#runs.releaseHeld();
    if (this.#parts.signal?.aborted === true) this.#state.move({ kind: "cancel", ids: [] });
    this.#announcements.startOver();
  }

  #conclude(): Stop {
    return conclude(this.#chat, endOf(this.#state.phase), this.#state.yielded);
  }

  #busy(): Problem | null {
    if (mayStep(this.#state.phase)) return null;
    return phaseOf(this.#state.phase) === "sending" ? busySending() : busyStarting();
  }
}

/** True if a run of a document could run a call that has no result there. */
function mayRunIn(chat: Chat, id: string): boolean {
  const result = chat.result(id);
  return chat.call(id) !== undefined && (result === undefined || result.status === "approved");
}
