// Handles one prompt until the end of the turn: advances the document, and asks about waiting calls one after the
// other. While the person is asked, the document is not locked, and their own edits in it take precedence.

import type {
  PermissionOption,
  SessionUpdate,
  StopReason,
  ToolCall,
  ToolCallStatus,
} from "@agentclientprotocol/sdk";
import type { ChatSession, OpenCall, QuestionForm } from "../../agent/types.ts";
import { isObject } from "../../base/is_object.ts";
import { visible } from "../../base/visible.ts";
import type { Outcome, Problem } from "../../base/problem.ts";
import { callTitle } from "../../agent/views/call_title.ts";
import { isWait, waitSentence } from "../../cycle/run/waits.ts";
import type { CycleEvent, Emit, Stop } from "../../cycle/types.ts";
import { sayNext } from "../../parser/edits/turn.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import { RpcRefusal } from "../rpc/peer.ts";
import { plainWords } from "../rpc/markdown.ts";
import { stopWords } from "../stop_words.ts";
import { CallPlan } from "./plan.ts";
import { MessageIds } from "./replay.ts";
import { resultContent, toolCall } from "./tool_calls.ts";
import { buildPermission, type Version } from "./version_2.ts";

export interface TurnHost {
  /** Opens the document under its lock. */
  open(emit: Emit): Promise<Outcome<ChatSession>>;
  /** Opens the document of a helper under its lock. */
  openHelper(path: string): Promise<Outcome<ChatSession>>;
  update(update: SessionUpdate): void;
  /** Tells the person something that is not part of the conversation. */
  notice(message: string): void;
  /** Asks the client; gives a `RpcRefusal` at once if the turn is canceled. */
  request(method: string, params: Record<string, unknown>): Promise<unknown>;
  /** The prompt is in the document. */
  inserted(messageId: string): void;
  /** The turn waits for an answer of the person, or goes on. */
  asks(isAsking: boolean): void;
  readonly version: Version;
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /** Dollars spent so far; null once the cost of a request is unknown. */
  readonly spent: { cost: number | null };
  /** True if the client shows notices. */
  readonly showsNotices: boolean;
  /** True if the client shows forms, so that it can ask for a reason. */
  readonly asksForms: boolean;
}

/** The person's decision about a call, and the call as they saw it. */
interface Decision {
  readonly id: string;
  /** Path of the document of the helper that made the call; null for this conversation. */
  readonly helper: string | null;
  /** Identifies everything that was shown: the call, the change of a file, the sandbox, and the policy's answer. */
  readonly digest: string | null;
  readonly option: string;
  readonly reason: string;
  /** Answers to the server of the call, by key of the question; null if the person was not asked for any. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
}

export class PromptTurn {
  readonly #host: TurnHost;
  /** Calls that were already announced to the client. */
  readonly #shown = new Set<string>();
  /** Calls whose result the client already has. */
  readonly #finished = new Set<string>();
  /** Calls that the person canceled. */
  readonly #canceled = new Set<string>();
  /** Calls whose server got no answers that fit; the person is not asked about them again in this turn. */
  readonly #unanswered = new Set<string>();
  readonly #calls = new CallPlan();
  #messages = new MessageIds();
  /** Why calls that say `approved` wait. */
  readonly #doubts: string[] = [];
  #session: ChatSession | null = null;
  /**
   * Settles when the last update was sent. Each update waits for this promise, so updates stay in order although
   * describing a call takes a moment.
   */
  #telling: Promise<void> = Promise.resolve();

  constructor(host: TurnHost) {
    this.#host = host;
  }

  /** Cancels one running call; false if it does not run. The turn goes on without it. */
  cancelCall(id: string): boolean {
    const isRunning = this.#session?.cancelCall(id) ?? false;
    if (isRunning) this.#canceled.add(id);
    return isRunning;
  }

  /** Takes the turn; returns why it ended, or what went wrong. */
  async take(text: string): Promise<StopReason | Problem> {
    let decisions: readonly Decision[] = [];
    for (let first = true;; first = false) {
      const canceled = this.#canceled.size;
      const opened = await this.#host.open((event) => this.#event(event));
      if (!opened.ok) return opened.problem;
      let stop: Stop;
      let asked: readonly Asked[] = [];
      {
        await using session = opened.value;
        this.#session = session;
        const problem = first
          ? await session.edit([sayNext(session.chat, text)])
          : await this.#decide(session, decisions);
        if (problem !== null) return problem;
        if (first) {
          this.#messages = MessageIds.after(session.chat);
          this.#host.inserted(this.#messages.question);
        }
        stop = await session.advance();
        await this.#telling;
        this.#tellResults(session, { atEnd: this.#host.signal.aborted });
        if (stop.reason === "pending") {
          const helpers = await this.#askedByHelpers(await session.calls());
          const ids = stop.ids.filter((id) => !helpers.ids.has(id));
          asked = [...await this.#asked(session, ids), ...helpers.asked];
        }
        this.#session = null;
      }
      if (this.#host.signal.aborted) return "cancelled";
      if (stop.reason === "cancelled" && this.#canceled.size > canceled) {
        // The model gets the results of the other calls, and learns that this one was canceled.
        decisions = [];
        continue;
      }
      if (stop.reason !== "pending") return this.#ended(stop);
      this.#host.asks(true);
      const answers = await this.#ask(asked);
      this.#host.asks(false);
      if (answers === null) return "cancelled";
      if (answers.every(({ option }) => option === "")) return this.#ended(stop);
      decisions = answers;
    }
  }

  #event(event: CycleEvent): void {
    this.#telling = this.#telling.then(() => this.#tell(event));
  }

  async #tell(event: CycleEvent): Promise<void> {
    const { update } = this.#host;
    if (isWait(event)) return this.#waits(waitSentence(event));
    switch (event.event) {
      case "text":
        return this.#say("agent_message_chunk", event.text);
      case "reply:tool":
      case "thinking":
        return this.#say("agent_thought_chunk", event.text);
      case "approval:pending":
      case "approval:denied":
        return await this.#show(event.id);
      case "tool:waiting":
        return this.#host.notice(event.message);
      case "tool:finished":
        if (this.#session !== null) this.#tellResults(this.#session);
        return;
      case "tool:executing":
        await this.#show(event.id);
        update({ sessionUpdate: "tool_call_update", toolCallId: event.id, status: "in_progress" });
        return this.#tellCalls(event.id);
      case "request:finished": {
        const { record } = event;
        if (event.status === "completed") {
          this.#messages.replied();
          this.#tellCalls();
        }
        if (record === undefined) return;
        const { spent } = this.#host;
        spent.cost = spent.cost === null || record.cost === null ? null : spent.cost + record.cost;
        if (record.context === null) return;
        const { input, output, cache_read, cache_write } = record.usage;
        const cost = spent.cost === null ? {} : { cost: { amount: spent.cost, currency: "USD" } };
        const used = input + output + cache_read + cache_write;
        return update({ sessionUpdate: "usage_update", used, size: record.context, ...cost });
      }
      case "notice":
        if (["approval-not-here", "was-running"].includes(event.code)) this.#doubts.push(event.message);
        return this.#host.notice(event.message);
      default:
        return;
    }
  }

  #say(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk", text: string): void {
    const messageId = this.#messages.reply;
    this.#host.update({ sessionUpdate, messageId, content: { type: "text", text } });
  }

  /** Reports that the provider cannot answer now. Clients that show no notices get a thought. */
  #waits(sentence: string): void {
    if (this.#host.showsNotices) this.#host.notice(sentence);
    else this.#say("agent_thought_chunk", `${sentence}\n`);
  }

  /** Sends the calls of the last reply as a plan, if there are several and something about them changed. */
  #tellCalls(running?: string): void {
    const session = this.#session;
    if (session === null) return;
    const entries = this.#calls.entries(session.chat, (call) => callTitle(call, session.settings), running);
    if (entries !== null) this.#host.update({ sessionUpdate: "plan", entries });
  }

  /** Announces a call to the client, only once. */
  async #show(id: string): Promise<void> {
    const session = this.#session;
    const call = session?.chat.call(id);
    if (session === null || call === undefined || this.#shown.has(id)) return;
    this.#shown.add(id);
    this.#host.update({ sessionUpdate: "tool_call", ...await this.#described(session, call) });
  }

  #described(session: ChatSession, call: Parameters<typeof toolCall>[1]): Promise<ToolCall> {
    return toolCall(session, call, { whole: this.#host.version === 2 });
  }

  /** Sends the results of announced calls. At the end of a canceled turn, calls that were aborted are final too. */
  #tellResults({ chat }: ChatSession, { atEnd = false } = {}): void {
    for (const result of chat.results) {
      const isAborted = atEnd && this.#host.version === 2 && result.status === "aborted";
      const isFinal = !isLifecycle(result.status) || isAborted;
      if (!isFinal || !this.#shown.has(result.id) || this.#finished.has(result.id)) continue;
      this.#finished.add(result.id);
      const isCanceled = this.#host.signal.aborted || this.#canceled.has(result.id);
      this.#host.update({
        sessionUpdate: "tool_call_update",
        toolCallId: result.id,
        status: this.#finalStatus(result.status === "error" || isAborted, isCanceled),
        content: resultContent(result),
      });
    }
    this.#tellCalls();
  }

  #finalStatus(isError: boolean, isCanceled: boolean): ToolCallStatus {
    if (!isError) return "completed";
    // Version 1 has no such status.
    return isCanceled && this.#host.version === 2 ? "cancelled" as ToolCallStatus : "failed";
  }

  async #asked(session: ChatSession, ids: readonly string[]): Promise<Asked[]> {
    const asked: Asked[] = [];
    const open = await session.calls();
    for (const id of ids) {
      const call = session.chat.call(id);
      if (call === undefined || this.#unanswered.has(id)) continue;
      await this.#show(id);
      const questions = open.find((each) => each.id === id)?.questions ?? null;
      if (questions !== null) {
        asked.push({
          id,
          helper: null,
          digest: await digestOf(session, id),
          toolCall: await this.#described(session, call),
          options: [option("allow_once", "Send the answers"), option("reject_once", "Decline")],
          forms: questions.forms,
        });
        continue;
      }
      const rule = await session.proposeRule(id);
      const always = rule.ok
        ? [option("allow_always", `Always in this conversation: ${rule.value.text}`)]
        : [];
      asked.push({
        id,
        helper: null,
        digest: await digestOf(session, id),
        toolCall: await this.#described(session, call),
        options: [
          option("allow_once", "Allow"),
          ...always,
          option("reject_once", "Reject"),
          option("reject_always", `Never ${call.name} in this conversation`),
        ],
        forms: [],
      });
    }
    return asked;
  }

  /** Returns the questions about calls of helpers, and the calls of this conversation that wait for them. */
  async #askedByHelpers(
    calls: readonly OpenCall[],
    above = "",
  ): Promise<{ readonly asked: readonly Asked[]; readonly ids: ReadonlySet<string> }> {
    const asked: Asked[] = [];
    const ids = new Set<string>();
    for (const { id, helper } of calls) {
      if (helper === null) continue;
      ids.add(id);
      const opened = await this.#host.openHelper(helper.path);
      // Another run uses it; the turn ends with the call still open.
      if (!opened.ok) continue;
      await using session = opened.value;
      const address = `${above}${helper.name}/`;
      for (const waiting of helper.calls) {
        const call = session.chat.call(waiting.id);
        if (call === undefined || waiting.helper !== null || waiting.status !== "pending") continue;
        const described = { ...await this.#described(session, call), toolCallId: `${address}${call.id}` };
        if (!this.#shown.has(described.toolCallId)) {
          this.#shown.add(described.toolCallId);
          this.#host.update({ sessionUpdate: "tool_call", ...described });
        }
        asked.push({
          id: call.id,
          helper: helper.path,
          digest: await digestOf(session, call.id),
          toolCall: described,
          options: [option("allow_once", "Allow"), option("reject_once", "Reject")],
          forms: [],
        });
      }
      asked.push(...(await this.#askedByHelpers(helper.calls, address)).asked);
    }
    return { asked, ids };
  }

  /** Returns the question about a call, with the reasons why calls that say `approved` wait. */
  #question({ toolCall, options }: Asked): Record<string, unknown> {
    const { sessionId, version } = this.#host;
    if (version === 2) return buildPermission({ sessionId, toolCall, options, reasons: this.#doubts });
    const texts = this.#doubts.map((text) => ({ type: "content", content: { type: "text", text } } as const));
    const content = [...texts, ...toolCall.content ?? []];
    return { sessionId, toolCall: { ...toolCall, content }, options };
  }

  /** Asks about calls in document order; null if the person cancelled. */
  async #ask(asked: readonly Asked[]): Promise<Decision[] | null> {
    const decisions: Decision[] = [];
    for (const each of asked) {
      const { id, helper, digest, options, forms } = each;
      if (this.#host.asksForms && forms.length > 0 && forms.every(({ schema }) => schema !== null)) {
        const answered = await this.#askForms(each);
        if (answered === null) return null;
        if (answered !== "refused") {
          decisions.push(answered);
          continue;
        }
      }
      const answer = await this.#host.request("session/request_permission", this.#question(each));
      if (this.#host.signal.aborted) return null;
      const outcome = isObject(answer) && isObject(answer.outcome) ? answer.outcome : {};
      if (answer instanceof RpcRefusal || outcome.outcome !== "selected") return null;
      const chosen = options.find(({ optionId }) => optionId === outcome.optionId)?.optionId ?? "";
      const reason = chosen === "reject_once" && this.#host.asksForms ? await this.#reason() : "";
      decisions.push({ id, helper, digest, option: chosen, reason, answers: null });
    }
    return decisions;
  }

  /** Shows the forms of a server to the person; null if they canceled the turn, `refused` if the client cannot show one. */
  async #askForms({ id, helper, digest, toolCall, forms }: Asked): Promise<Decision | "refused" | null> {
    const decision = { id, helper, digest, reason: "", answers: null };
    const answers: [string, Record<string, unknown>][] = [];
    for (const { key, message, schema } of forms) {
      const answer = await this.#host.request("elicitation/create", {
        sessionId: this.#host.sessionId,
        mode: "form",
        message: visible(`${toolCall.title}: ${message}`, { lines: true }),
        requestedSchema: schema,
      });
      if (this.#host.signal.aborted) return null;
      if (answer instanceof RpcRefusal) return "refused";
      const action = isObject(answer) ? answer.action : null;
      if (action === "decline") return { ...decision, option: "reject_once" };
      // The person closed the form, so the call waits.
      if (action !== "accept") {
        this.#unanswered.add(id);
        return { ...decision, option: "" };
      }
      answers.push([key, isObject(answer) && isObject(answer.content) ? answer.content : {}]);
    }
    return { ...decision, option: "allow_once", answers: Object.fromEntries(answers) };
  }

  /** Asks for the reason of a rejection; empty if the person gives none. */
  async #reason(): Promise<string> {
    const { sessionId } = this.#host;
    const answer = await this.#host.request("elicitation/create", {
      sessionId,
      mode: "form",
      message: "Why? The model sees your reason.",
      requestedSchema: { type: "object", properties: { reason: { type: "string", title: "Reason" } } },
    });
    const content = isObject(answer) && answer.action === "accept" && isObject(answer.content)
      ? answer.content
      : {};
    return typeof content.reason === "string" ? content.reason.trim() : "";
  }

  /** Writes the decisions about calls that still wait, if all that the person saw is unchanged. */
  async #decide(session: ChatSession, decisions: readonly Decision[]): Promise<Problem | null> {
    for (const [helper, its] of Map.groupBy(decisions, ({ helper }) => helper)) {
      if (helper === null) {
        const problem = await this.#decideIn(session, its);
        if (problem !== null) return problem;
        continue;
      }
      const opened = await this.#host.openHelper(helper);
      if (!opened.ok) return opened.problem;
      await using other = opened.value;
      const problem = await this.#decideIn(other, its);
      if (problem !== null) return problem;
    }
    return null;
  }

  async #decideIn(session: ChatSession, decisions: readonly Decision[]): Promise<Problem | null> {
    const now = new Map<string, string | null>();
    for (const { id } of decisions) now.set(id, await digestOf(session, id));
    for (const { id, digest, option, reason, answers } of decisions) {
      const isSame = digest !== null && now.get(id) === digest &&
        session.chat.result(id)?.status === "pending";
      if (!isSame || option === "") continue;
      if (answers !== null) {
        const answered = await session.answer(id, answers);
        if (answered.ok) continue;
        if (answered.problem.code !== "invalid-answers") return answered.problem;
        // The call waits; asking again at once could go on forever.
        this.#unanswered.add(id);
        this.#host.notice(answered.problem.message);
        continue;
      }
      const done = option.startsWith("allow")
        ? await this.#allow(session, id, option === "allow_always")
        : await this.#reject(session, id, reason, option === "reject_always");
      if (!done.ok) return done.problem;
    }
    return null;
  }

  async #allow(session: ChatSession, id: string, always: boolean): Promise<Outcome<unknown>> {
    const rule = always ? await session.proposeRule(id) : null;
    const approved = await session.approve(id);
    return rule?.ok && approved.ok ? await session.addRule(rule.value.written) : approved;
  }

  async #reject(
    session: ChatSession,
    id: string,
    reason: string,
    always: boolean,
  ): Promise<Outcome<unknown>> {
    const name = session.chat.call(id)?.name;
    const rejected = await session.reject(id, reason);
    return always && name !== undefined && rejected.ok ? await session.addRule({ deny: name }) : rejected;
  }

  #ended(stop: Stop): StopReason | Problem {
    switch (stop.reason) {
      case "done":
      case "stepped":
        return "end_turn";
      case "cut":
        return "max_tokens";
      case "turn-limit":
      case "repeats":
      case "budget":
      case "throttled":
        return "max_turn_requests";
      case "cancelled":
        return "cancelled";
      case "failed":
      case "limited":
      case "conflict":
      case "diagnostics":
      case "empty":
        if (stop.problem?.code === "provider-blocked") return "refusal";
        return stop.problem ?? { code: stop.reason, message: stopWords(stop)?.text ?? "The turn ended." };
      default: {
        // Something in the document waits for the person, so the text says what.
        const text = plainWords(stopWords(stop)?.text ?? "");
        if (text !== "") this.#say("agent_message_chunk", text);
        return "end_turn";
      }
    }
  }
}

interface Asked {
  readonly id: string;
  readonly helper: string | null;
  readonly digest: string | null;
  readonly toolCall: Awaited<ReturnType<typeof toolCall>>;
  readonly options: readonly PermissionOption[];
  /** What the server of the call asks; empty if it asks nothing. */
  readonly forms: readonly QuestionForm[];
}

/** The digest of what a person sees of a call; null if the call cannot be shown. */
async function digestOf(session: ChatSession, id: string): Promise<string | null> {
  const shown = await session.show(id);
  return shown.ok ? shown.value.digest : null;
}

function option(kind: PermissionOption["kind"], name: string): PermissionOption {
  return { optionId: kind, kind, name };
}
