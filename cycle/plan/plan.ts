// Plans one step of a run: decides what to do with a document before any of it is done.

import { replyPlaceholder } from "../../parser/view/placeholder.ts";
import { waitsFor } from "../../parser/open_call.ts";
import type { Call, Chat, Result, Turn } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import { invalidInput } from "./final_block.ts";
import { DENIED, INTERRUPTED, postponedSentence, sourceMissing } from "./sentences.ts";
import { lastWordIsModels, liveCalls, nothingToSend } from "./open_calls.ts";
import { invalidAnswers } from "./refusals.ts";
import { abortedMessage, cannotRun, explainUnrunnable, resolutionText } from "./resolution.ts";
import type { PlanEnd, PlanInputs, Step } from "./types.ts";

/**
 * Returns the parts of one step in the order of execution. Pure: the same document and inputs give the same plan,
 * without side effects.
 */
export function plan(chat: Chat, inputs: PlanInputs): Step[] {
  // Nothing may change above the placeholder of a batched reply, which belongs to the text above it.
  if (replyPlaceholder(chat) !== null) return [{ do: "rest", at: "batched", ids: [] }];
  const planner = new Planner(chat, inputs);
  for (const call of liveCalls(chat)) planner.consider(call);
  return planner.steps();
}

/** Collects the parts of one plan by kind, because their order does not depend on the order of the calls. */
class Planner {
  readonly #chat: Chat;
  readonly #inputs: PlanInputs;
  readonly #broken: ReadonlyMap<string, number>;
  /** Edits and notices, in document order. */
  readonly #edits: Step[] = [];
  readonly #runs: Step[] = [];
  /** Approved calls for which no slot is free. */
  readonly #deferred: string[] = [];
  readonly #waiting: string[] = [];
  readonly #protected: string[] = [];
  /** Caches `#aloneIn` per reply, which may contain thousands of calls. */
  readonly #alone = new Map<Turn, Call | undefined>();
  /** Number of occupied slots; a synchronous tool frees its slot before the next call starts. */
  #taken = 0;
  /** The same for each tool with its own limit. */
  readonly #takenApart = new Map<string, number>();
  /** True if any block was approved, even if its call cannot start now. */
  #approvedSeen = false;
  #resolved = false;

  constructor(chat: Chat, inputs: PlanInputs) {
    this.#chat = chat;
    this.#inputs = inputs;
    const { running, ownLimit } = inputs;
    if (ownLimit === undefined || running.size === 0) this.#taken = running.size;
    else {
      for (const { id, name } of liveCalls(chat)) {
        if (!running.has(id)) continue;
        if (ownLimit(name) === undefined) this.#taken++;
        else this.#takenApart.set(name, (this.#takenApart.get(name) ?? 0) + 1);
      }
    }
    this.#broken = new Map(chat.brokenResults.map(({ id, line }) => [id, line]));
  }

  consider(call: Call): void {
    if (this.#inputs.running.has(call.id)) return;
    const result = this.#chat.result(call.id);
    if (result === undefined) this.#categorize(call);
    else if (result.status === "approved") this.#approved(call, result);
    else if (result.status === "pending") this.#pending(call, result);
    else if (this.#declines(call, result)) this.#run(call.id);
    else {
      const resolution = resolutionText(call, result);
      if (resolution === null) return;
      this.#edits.push({ do: "resolve", id: call.id, ...resolution });
      this.#resolved = true;
    }
  }

  steps(): Step[] {
    const { byPerson } = this.#inputs;
    const steps = [...this.#edits, ...this.#runs];
    if (byPerson && this.#deferred.length > 0) {
      const started = this.#runs.length;
      const all = started + this.#deferred.length;
      steps.push({
        do: "notice",
        code: "throttled",
        message:
          `Started ${started} of ${all} approved calls; tools.max_concurrent allows no more in parallel.`,
      });
    }
    if (byPerson && this.#protected.length > 0) steps.push(protectedNotice(this.#chat, this.#protected));
    steps.push(this.#end());
    return steps;
  }

  /** Returns the first call of the same reply whose tool runs alone. */
  #aloneIn({ turn }: Call): Call | undefined {
    const { runsAlone } = this.#inputs;
    if (runsAlone === undefined) return undefined;
    if (!this.#alone.has(turn)) this.#alone.set(turn, turn.calls.find(({ name }) => runsAlone(name)));
    return this.#alone.get(turn);
  }

  /** Gives an open call its placeholder. If the call cannot run, gives it its error result immediately. */
  #categorize(call: Call): void {
    const aborted = abortedMessage(call);
    if (aborted !== null) {
      this.#resolve({ do: "resolve", id: call.id, because: "aborted", text: aborted || INTERRUPTED });
      return;
    }
    const alone = this.#aloneIn(call);
    if (alone !== undefined && alone.id !== call.id) {
      this.#resolve({ do: "resolve", id: call.id, because: "put-off", text: postponedSentence(alone.name) });
      return;
    }
    if (this.#refuseTool(call) || this.#refuseInput(call)) return;
    const decided = this.#decisionOf(call.id);
    if (decided.decision === "deny") {
      this.#deny(call.id, decided);
      return;
    }
    if (decided.decision !== "approve") {
      this.#place(call.id, "pending", decided);
      if (this.#wasRunning(call)) this.#wasRunningNotice(call);
      return;
    }
    const line = this.#broken.get(call.id);
    if (line !== undefined) {
      this.#place(call.id, "pending", decided);
      this.#notice(
        "unreadable-result",
        `Line ${line} has a result header for ${call.id} without a closed fence below it, so the call waits ` +
          `for you. Put the text between two lines of three backticks, or delete the header.`,
        call.id,
      );
      return;
    }
    if (this.#wasRunning(call)) {
      this.#place(call.id, "pending", decided);
      this.#wasRunningNotice(call);
      return;
    }
    this.#place(call.id, "approved", decided);
    this.#run(call.id);
    this.#approvedSeen = true;
  }

  #approved(call: Call, result: Result): void {
    if (result.content !== "") {
      this.#protected.push(call.id);
      return;
    }
    if (this.#wasRunning(call)) {
      this.#demote(call.id, "was-running");
      this.#wasRunningNotice(call);
      return;
    }
    if (this.#refuseTool(call) || this.#refuseInput(call)) return;
    if (this.#inputs.toolKind(call.name) === "unasked") {
      this.#demote(call.id, "tool-source");
      this.#notice(
        "tool-source-missing",
        `${sourceMissing(call.name, this.#inputs.unaskedSource?.(call.name) ?? null)} ` +
          `The call ${call.id} waits for you again.`,
        call.id,
      );
      return;
    }
    const by = this.#inputs.changed.get(call.id);
    if (by !== undefined && !this.#standsAnew(call, by)) return;
    if (this.#inputs.running.isHeld?.(call.id)) {
      this.#waiting.push(call.id);
      return;
    }
    if (!this.#mayAnswer(call)) return;
    this.#approvedSeen = true;
    this.#run(call.id);
  }

  /** Handles the answers to what the server of an approved call asked; true if they can be sent, or if it asked nothing. */
  #mayAnswer({ id }: Call): boolean {
    const check = this.#inputs.answers?.get(id);
    if (check === undefined || check.can === "send") return true;
    if (check.can === "nothing") {
      this.#resolve({ do: "resolve", id, because: "questions-gone", text: check.why });
      return false;
    }
    const { code, message } = invalidAnswers(id, check.why);
    this.#demote(id, "answers");
    this.#notice(code, message, id);
    return false;
  }

  /** True if the person rejected a call by declining to answer its server, which then goes on with the call. */
  #declines(call: Call, { status }: Result): boolean {
    const isAsked = status === "rejected" && this.#inputs.answers?.get(call.id)?.can === "send";
    const kind = this.#inputs.toolKind(call.name);
    if (!isAsked || this.#wasRunning(call) || kind === "unasked" || cannotRun(kind)) return false;
    this.#approvedSeen = true;
    return true;
  }

  /** Handles a call that changed after its approval: policy may approve it again; otherwise the user is asked. */
  #standsAnew(call: Call, by: "policy" | "person"): boolean {
    const decided = by === "policy" ? this.#decisionOf(call.id) : null;
    if (decided?.decision === "approve") {
      this.#edits.push({ do: "confirm", id: call.id, decided });
      return true;
    }
    if (decided?.decision === "deny") {
      this.#deny(call.id, decided);
      return false;
    }
    this.#demote(call.id, decided?.source ?? "call-changed");
    if (decided?.reported === true) return false;
    this.#notice(
      "call-changed",
      decided?.detail === undefined
        ? `The call ${call.id} changed after its approval, so it waits for you again.`
        : `The call ${call.id} waits for you: ${decided.detail}.`,
      call.id,
    );
    return false;
  }

  #pending(call: Call, result: Result): void {
    if (result.content !== "") {
      this.#edits.push({ do: "strip", id: call.id });
      return;
    }
    // This is checked before the user decides, because the call could not run in any case.
    if (this.#refuseTool(call) || this.#refuseInput(call)) return;
    if (this.#inputs.goOn?.has(call.id) === true) {
      this.#edits.push({ do: "go-on", id: call.id });
      this.#run(call.id);
      this.#approvedSeen = true;
      return;
    }
    this.#waiting.push(call.id);
    if (this.#wasRunning(call)) this.#wasRunningNotice(call);
  }

  #run(id: string): void {
    const { maxConcurrent, toolKind, ownLimit } = this.#inputs;
    const name = this.#chat.call(id)?.name ?? "";
    const apart = ownLimit?.(name);
    const taken = apart === undefined ? this.#taken : this.#takenApart.get(name) ?? 0;
    const most = apart ?? maxConcurrent;
    if (most > 0 && taken >= most) {
      this.#deferred.push(id);
      return;
    }
    if (apart !== undefined) this.#takenApart.set(name, taken + 1);
    else if (toolKind(name) === "async") this.#taken++;
    this.#runs.push({ do: "run", id });
  }

  #place(id: string, status: "pending" | "approved", decided: ApprovalDecision): void {
    this.#edits.push({ do: "place", id, status, decided });
    if (status === "pending") this.#waiting.push(id);
  }

  #demote(id: string, source: string): void {
    this.#edits.push({ do: "demote", id, source });
    this.#waiting.push(id);
  }

  #resolve(step: Extract<Step, { do: "resolve" }>): void {
    this.#edits.push(step);
    this.#resolved = true;
  }

  #deny(id: string, decided: ApprovalDecision): void {
    this.#resolve({ do: "resolve", id, because: "denied", text: decided.forModel ?? DENIED, decided });
  }

  /** True if the input is invalid and the call got its error result. */
  #refuseInput(call: Call): boolean {
    const problems = this.#inputs.invalid.get(call.id);
    if (problems === undefined) return false;
    this.#resolve({ do: "resolve", id: call.id, because: "invalid-input", text: invalidInput(problems) });
    this.#notice(
      "invalid-input",
      `The input of ${call.id} does not match the schema of ${call.name}; the model gets this error.`,
      call.id,
    );
    return true;
  }

  /** True if the tool cannot run and the call got its error result. */
  #refuseTool(call: Call): boolean {
    const refusal = explainUnrunnable(call.name, this.#inputs);
    if (refusal === null) return false;
    this.#resolve({ do: "resolve", id: call.id, ...refusal });
    this.#notice(refusal.because, refusal.text, call.id);
    return true;
  }

  /**
   * True if an earlier run started the call, and the call may have changed something at that time or could change
   * something now.
   */
  #wasRunning({ id, name }: Call): boolean {
    const started = this.#inputs.interrupted.get(id);
    if (started === undefined || this.#inputs.continues?.(name) === true) return false;
    const effects = (tool: string) => this.#inputs.effects?.(tool) ?? "writes";
    return effects(name) === "writes" || (started.effects ?? effects(started.tool)) === "writes";
  }

  #wasRunningNotice(call: Call): void {
    const kept = this.#inputs.kept.get(call.id);
    this.#notice(
      "was-running",
      kept !== undefined
        ? `${call.name} (${call.id}) finished in an earlier run, but flemma could not write its result into the document. ` +
          `The result is saved in ${kept}: copy it into the block, or approve the call to run it again.`
        : `${call.name} (${call.id}) was running when flemma ended, so it may have changed something. Check that, ` +
          `then approve it again or write the result yourself.`,
      call.id,
    );
  }

  #notice(code: string, message: string, id: string): void {
    this.#edits.push({ do: "notice", code, message, id });
  }

  #decisionOf(id: string): ApprovalDecision {
    // No resolver answered, so the user is asked.
    return this.#inputs.decisions.get(id) ?? { decision: "require_approval", source: "default" };
  }

  /** Returns how the plan ends, by the first case that applies. */
  #end(): Step {
    const rest = (at: PlanEnd, ids: readonly string[] = []): Step => ({ do: "rest", at, ids });
    if (this.#approvedSeen) return rest("ran", this.#deferred);
    if (this.#waiting.length > 0) return rest("pending", this.#waiting);
    if (this.#protected.length > 0) return rest("protected", this.#protected);
    if (this.#resolved) return rest("resolved");
    if (this.#inputs.running.size > 0) return rest("running");
    if (lastWordIsModels(this.#chat) && !this.#inputs.prefill) return rest("last-word");
    if (nothingToSend(this.#chat)) return rest("answered");
    return { do: "send" };
  }
}

function protectedNotice(chat: Chat, ids: readonly string[]): Step {
  const sentences = ids.flatMap((id) => {
    const call = chat.call(id);
    return call === undefined ? [] : [waitsFor(call, chat.result(id))];
  });
  return { do: "notice", code: "protected-content", message: sentences.join(" ") };
}
