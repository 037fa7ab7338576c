// The commands of the editor: everything that runs or writes. The editor requests them by name with the document and
// its version.

import { visible } from "../../base/visible.ts";
import type { CallTarget, ChatSession } from "../../agent/types.ts";
import { explanationJson, explanationLines } from "../../agent/views/explanation.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import { isObject } from "../../base/is_object.ts";
import { type Outcome, type Problem, thrownText } from "../../base/problem.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { resolveAll } from "../../cycle/plan/targets.ts";
import { stripStatus } from "../../parser/edits/result_block.ts";
import type { Call } from "../../parser/types.ts";
import { RpcCode, RpcRefusal } from "../rpc/peer.ts";
import { type Client, MessageType } from "./client.ts";
import type { OpenDocument } from "./document.ts";
import { startOfLine } from "./features/actions.ts";
import { Run } from "./run.ts";

interface Asked {
  readonly document: OpenDocument;
  readonly id?: string;
  readonly line?: number;
  /** True if `line` names only a call on it, not the nearest one. */
  readonly exact: boolean;
  readonly message?: string;
  /** True if the model should continue after it spoke last. */
  readonly goOn: boolean;
  readonly workDoneToken: unknown;
  /** Signal that aborts when the editor cancels the command. */
  readonly signal: AbortSignal;
}

/** A command. It answers immediately; longer work is reported by progress and edits. */
type Command = (commands: Commands, asked: Asked) => unknown;

const STARTED = { started: true };

const TABLE: Readonly<Record<string, Command>> = {
  "flemma.advance": (commands, asked) =>
    commands.run(asked, (session) => session.advance({ goOn: asked.goOn })),
  "flemma.send": (commands, asked) => commands.run(asked, (session) => session.send({ goOn: asked.goOn })),
  "flemma.execute": (commands, asked) =>
    commands.onCall(asked, (id) => commands.run(asked, (session) => session.execute(id))),
  "flemma.cancel": (commands, { document, id }) => commands.cancel(document, id),
  "flemma.approve": (commands, asked) =>
    commands.onCall(asked, (id) => commands.mark(asked, (session) => session.approve(id))),
  "flemma.confirm": (commands, asked) => commands.confirm(asked),
  "flemma.reject": (commands, asked) =>
    commands.onCall(asked, (id) => commands.mark(asked, (session) => session.reject(id, asked.message))),
  "flemma.approveAll": (commands, asked) =>
    commands.mark(asked, (session) => session.approve({ kind: "all" })),
  "flemma.takeAsResult": (commands, asked) =>
    commands.onCall(asked, (id) => commands.mark(asked, (session) => takeText(session, id))),
  "flemma.allowForSession": (commands, asked) => commands.onCall(asked, (id) => commands.allow(asked, id)),
  "flemma.explain": (commands, asked) => commands.explain(asked),
  "flemma.showRequest": (commands, asked) => commands.showRequest(asked),
  "flemma.showDiff": (commands, asked) => commands.onCall(asked, (id) => commands.showDiff(asked, id)),
  "flemma.showLine": (commands, { document, line = 1 }) => commands.showLine(document, line),
  "flemma.status": (commands, asked) => commands.status(asked),
  "flemma.trust": (commands, asked) => commands.mark(asked, (session) => session.trust()),
};

export const LSP_COMMANDS: readonly string[] = Object.keys(TABLE);

export interface CommandsHost {
  /** Returns the editor; throws if it was not initialized yet. */
  readonly client: () => Client;
  readonly environment: Environment;
  document(uri: unknown): OpenDocument | undefined;
}

export class Commands {
  readonly #host: CommandsHost;
  readonly #runs = new Set<Run>();

  get #client(): Client {
    return this.#host.client();
  }

  constructor(host: CommandsHost) {
    this.#host = host;
  }

  /**
   * Executes a `workspace/executeCommand` request; cancels a run if the request is cancelled before the run has
   * begun.
   */
  async execute(params: unknown, signal: AbortSignal): Promise<unknown> {
    const { command, arguments: list, workDoneToken } = isObject(params) ? params : {};
    const work = typeof command === "string" && Object.hasOwn(TABLE, command) ? TABLE[command] : undefined;
    if (work === undefined) {
      return new RpcRefusal(RpcCode.invalidParams, `There is no command ${String(command)}.`);
    }
    const given = Array.isArray(list) && isObject(list[0]) ? list[0] : {};
    const document = this.#host.document(given.uri);
    if (document === undefined) {
      return new RpcRefusal(RpcCode.invalidParams, `The document ${String(given.uri)} is not open.`);
    }
    if (document.store.refusal !== null) return this.#refused(document.store.refusal);
    const target = targetOf(command as string, given, document);
    if (target === null) {
      const message = "Nothing was done, because the document has changed since. Try again.";
      this.#client.say(MessageType.warning, message);
      return new RpcRefusal(RpcCode.contentModified, message);
    }
    return await work(this, {
      document,
      ...target,
      message: textIn(given.message),
      goOn: given.continue === true,
      workDoneToken,
      signal,
    });
  }

  /** Cancels the run that the editor shows under a progress token. */
  cancelProgress(token: unknown): void {
    for (const run of this.#runs) {
      if (run.token === token) run.cancel();
    }
  }

  /** Cancels the run on a document, or all runs; settles when they have ended. */
  async end(document?: OpenDocument): Promise<void> {
    const runs = [...this.#runs].filter((run) => document === undefined || run.document === document);
    for (const run of runs) run.cancel();
    await Promise.allSettled(runs.map(({ ended }) => ended));
  }

  async run(
    { document, line, workDoneToken, signal }: Asked,
    act: (session: ChatSession) => ReturnType<ChatSession["advance"]>,
  ) {
    const client = this.#client;
    const run = new Run({ document, client, act, line, workDoneToken });
    this.#runs.add(run);
    const cancel = () => run.cancel();
    signal.addEventListener("abort", cancel);
    // Any error that it throws is a fault of the program, and reported as one.
    run.ended.catch((thrown: unknown) =>
      client.say(MessageType.error, `Internal error: ${thrownText(thrown)}`)
    )
      .finally(() => this.#runs.delete(run));
    const problem = await run.start();
    signal.removeEventListener("abort", cancel);
    return problem === null ? STARTED : this.#refused(problem);
  }

  /**
   * Cancels one call or background job, or the runs on a document, also those about to begin. Without a run, stops the
   * document's background jobs.
   */
  cancel(document: OpenDocument, id: string | undefined) {
    const { working, jobKeeper } = document;
    if (id !== undefined) return { cancelled: working?.cancelCall(id) ?? jobKeeper.stop(id) };
    const runs = [...this.#runs].filter((run) => run.document === document);
    for (const run of runs) run.cancel();
    const cancelled = runs.length > 0 || jobKeeper.stop();
    if (!cancelled) this.#client.say(MessageType.info, "No run is in progress.");
    return { cancelled };
  }

  /** Finds the call by its id, at a line, or the only one that waits. */
  onCall({ document, ...target }: Asked, then: (id: string) => unknown): unknown {
    const found = resolveAll(document.store.chat, [callTarget(target)]);
    return found.ok ? then(found.value.ids[0]!) : this.#refused(found.problem);
  }

  /**
   * Makes a small change, even while a run works on the document. The editor may wait for this answer before it
   * applies the edit, so the answer comes once the edit is asked for; later problems are shown.
   */
  async mark(
    asked: Asked,
    act: (session: ChatSession) => Promise<Outcome<unknown>>,
  ): Promise<unknown> {
    const { document } = asked;
    const client = this.#client;
    const { working } = document;
    const emit = (event: CycleEvent) => client.event(document.uri, event);
    const opened = working === null ? await document.work({ emit, brief: true }) : null;
    if (opened !== null && !opened.ok) return this.#refused(opened.problem);
    const session = working ?? opened!.value.session;
    let isAsked = false;
    const done = act(session).then((outcome) => {
      if (!outcome.ok && isAsked) client.problem(outcome.problem);
      return outcome;
    }).finally(() => opened?.value.close());
    const first = await Promise.race([done, document.store.asking()]);
    isAsked = true;
    // The run has ended since its session was taken.
    if (working !== null && first?.ok === false && first.problem.code === "session-closed") {
      return await this.mark(asked, act);
    }
    if (first !== undefined && !first.ok) return this.#refused(first.problem);
    return STARTED;
  }

  /** Records that the person approved the call as it is, by choosing a code action that wrote the status word. */
  async confirm({ document, id = "" }: Asked): Promise<unknown> {
    // Otherwise the word counts as typed.
    if (!document.takeApproval(id)) return { confirmed: false };
    const chosen = document.store.chat.call(id);
    const opened = await document.work({ brief: true });
    if (!opened.ok) {
      this.#client.log(opened.problem.message);
      return { confirmed: false };
    }
    const { session, close } = opened.value;
    // The call may have changed while other work on the document ended.
    const approved = isSameCall(chosen, session.chat.call(id)) ? await session.approve(id) : null;
    await close();
    if (approved?.ok === false) this.#client.log(approved.problem.message);
    return { confirmed: approved?.ok === true };
  }

  /** Approves calls like this one in this document for this session, and says how to undo that. */
  async allow({ document }: Asked, id: string): Promise<unknown> {
    const { working } = document;
    const opened = working === null ? await document.work({ brief: true }) : null;
    if (opened !== null && !opened.ok) return this.#refused(opened.problem);
    const session = working ?? opened!.value.session;
    const rule = await session.proposeRule(id);
    const added = rule.ok ? await session.addRule(rule.value.written) : rule;
    await opened?.value.close();
    if (!rule.ok) return this.#refused(rule.problem);
    if (!added.ok) return this.#refused(added.problem);
    this.#client.refresh();
    const back = document.path === null
      ? ""
      : ` To undo this: flemma session reset ${operands(document.path)}`;
    this.#client.say(
      MessageType.info,
      `The rule ${rule.value.text} applies to this document for this session.${back}`,
    );
    return { allowed: true, rule: rule.value.text };
  }

  async explain({ document, id, line }: Asked): Promise<unknown> {
    const session = await document.openReadOnly();
    if (!session.ok) return this.#refused(session.problem);
    const targets: CallTarget[] = id !== undefined
      ? [id]
      : line !== undefined
      ? [{ kind: "line", line }]
      : [];
    const explained = await session.value.explain(...targets);
    if (!explained.ok) return this.#refused(explained.problem);
    const lines = explained.value.flatMap(explanationLines);
    if (lines.length > 0) this.#client.say(MessageType.info, lines.join("\n"));
    return explained.value.map(explanationJson);
  }

  async showRequest({ document }: Asked): Promise<unknown> {
    const session = await document.openReadOnly();
    if (!session.ok) return this.#refused(session.problem);
    const prepared = await session.value.request();
    if (prepared.kind === "failed") return this.#refused(prepared.problem);
    if (prepared.kind === "blocked") {
      return new RpcRefusal(RpcCode.failed, prepared.diagnostics.map(({ message }) => message).join("\n"));
    }
    const { url, body } = prepared.request;
    return { url, body };
  }

  async showDiff({ document }: Asked, id: string): Promise<unknown> {
    const session = await document.openReadOnly();
    if (!session.ok) return this.#refused(session.problem);
    const shown = await session.value.show(id);
    if (!shown.ok) return this.#refused(shown.problem);
    const { parts } = shown.value;
    const texts = await session.value.fileTexts(id);
    return { id, diff: parts.find(({ kind }) => kind === "diff")?.text ?? null, ...texts };
  }

  showLine(document: OpenDocument, line: number) {
    this.#client.showPlace(document.uri, startOfLine(document, line));
    return null;
  }

  async status({ document }: Asked): Promise<unknown> {
    const session = await document.openReadOnly();
    if (!session.ok) return this.#refused(session.problem);
    const calls = await session.value.calls();
    return {
      running: document.working !== null,
      autopilot: session.value.autopilot,
      next: nextNeed(document.store.chat).kind,
      calls: calls.map(({ id, name, status, line, preview, decided }) => ({
        id,
        name,
        status,
        line,
        preview,
        decision: decided.decision,
        source: decided.source,
      })),
      doubts: session.value.doubts,
    };
  }

  /** Refuses, and shows the problem to the person too, because few editors show the answers of commands. */
  #refused(problem: Problem): RpcRefusal {
    this.#client.problem(problem);
    return new RpcRefusal(RpcCode.failed, problem.message, { code: problem.code, next: problem.next });
  }
}

type Target = Pick<Asked, "id" | "line" | "exact">;

/** Commands that decide about a call, so that a line outside of it must not choose one. */
const DECIDING: ReadonlySet<string> = new Set(["flemma.approve", "flemma.reject", "flemma.allowForSession"]);

/** Commands that act on the call that the person saw, even if other parts of the document have changed since. */
const ABOUT_CALLS: ReadonlySet<string> = new Set([
  "flemma.approve",
  "flemma.reject",
  "flemma.execute",
  "flemma.takeAsResult",
  "flemma.allowForSession",
  "flemma.showDiff",
]);
/** Commands that continue after decisions of the person which arrived while the command was under way. */
const AFTER_DECISIONS: ReadonlySet<string> = new Set(["flemma.advance", "flemma.send"]);

/** Returns the call that a command means; null if the command was meant for a text that has changed since. */
function targetOf(
  command: string,
  given: Readonly<Record<string, unknown>>,
  { store }: OpenDocument,
): Target | null {
  const target: Target = {
    id: textIn(given.id),
    line: typeof given.line === "number" ? given.line : undefined,
    exact: DECIDING.has(command),
  };
  const { version } = given;
  if (typeof version !== "number" || version === store.version) return target;
  const seen = store.earlier.chatAt(version);
  if (seen === null) return null;
  if (AFTER_DECISIONS.has(command)) {
    return store.earlier.isOursSince(version) && seen.turns.length === store.chat.turns.length
      ? target
      : null;
  }
  if (!ABOUT_CALLS.has(command)) return null;
  const found = resolveAll(seen, [callTarget(target)]);
  const id = found.ok ? found.value.ids[0]! : "";
  return isSameCall(seen.call(id), store.chat.call(id)) ? { ...target, id } : null;
}

function isSameCall(before: Call | undefined, now: Call | undefined): boolean {
  return before !== undefined && before.name === now?.name && before.inputText === now.inputText;
}

function callTarget({ id, line, exact }: Target): Parameters<typeof resolveAll>[1][number] {
  if (id !== undefined) return { kind: "id", text: id };
  return line !== undefined ? { kind: "line", line, exact } : { kind: "only" };
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Makes the text in a call's block the result of the call. */
async function takeText(session: ChatSession, id: string): Promise<Outcome<unknown>> {
  const result = session.chat.result(id);
  const problem = result === undefined
    ? { code: "no-result-block", message: `The call ${visible(id)} has no result block yet.` }
    : await session.edit(stripStatus(session.chat, result));
  return problem === null ? { ok: true, value: null } : { ok: false, problem };
}
