// Connects hooks with a run: after calls, before a message is sent, and after a complete reply.

import type { Problem } from "../../../base/problem.ts";
import { folderOfCalls, type RuleSubject } from "../../../tools/approval/rules_of.ts";
import type { CycleParts } from "../../../cycle/mod.ts";
import { createStop } from "../../../cycle/run/stop.ts";
import type { DocumentStore, Emit, Send, Stop } from "../../../cycle/types.ts";
import type { Chat } from "../../../parser/types.ts";
import { lastReply } from "../last_reply.ts";
import { quoteText } from "../quoted.ts";
import { askNext } from "../question.ts";
import type { ToolsSubject } from "../../tools.ts";
import type { SubjectSettings } from "../../settings.ts";
import { watchFile } from "./file_watch.ts";
import { Hooks, sessionOf } from "./hooks.ts";

/** Parts of a run that hooks need. */
export interface AroundRun {
  readonly store: DocumentStore;
  readonly subject: SubjectSettings;
  readonly tools: ToolsSubject;
  readonly ruled: RuleSubject;
  readonly emit: Emit;
}

/** Info string of the fence around the text of hooks in a message. */
const FENCE = "hook";

/** The hooks of an open document, in the places where a run calls them. */
export class RunHooks {
  readonly #parts: AroundRun;
  readonly #hooks: Hooks;
  /** The message about which hooks were asked last, so that a repeated request does not ask again. */
  #prompt: string | null = null;

  constructor(parts: AroundRun, hooks: Hooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  /** Decides about calls. */
  get deciding(): Pick<Hooks, "decide" | "linesFor" | "askedAbout"> {
    return this.#hooks;
  }

  /** Forgets what an earlier run left. */
  begin(): void {
    this.#hooks.begin();
  }

  /** Ends the hooks that run now; false if none runs. */
  cancel(): boolean {
    return this.#hooks.cancelAll();
  }

  /** Returns a function that runs a call, and the hooks after it. */
  run(run: CycleParts["run"]): CycleParts["run"] {
    const { tools, emit } = this.#parts;
    return async (call, signal, onOutput) => {
      const result = await run(call, signal, onOutput);
      if (result.asks !== undefined) return result;
      return await this.#hooks.afterCall(call, result, signal, (file) => watchFile(call, file, tools, emit));
    };
  }

  /** Returns a function that asks hooks about the person's message, and sends the request. */
  send(send: Send): Send {
    return async (signal, how) => {
      const problem = await this.#beforeSending(signal);
      if (signal.aborted) return { kind: "cancelled" };
      return problem === null ? await send(signal, how) : { kind: "failed", problem };
    };
  }

  /** Lets hooks make the model continue after a complete reply; returns how the run ends. */
  async continueAfter(stop: Stop, advance: () => Promise<Stop>, signal: AbortSignal): Promise<Stop> {
    const { store } = this.#parts;
    const most = this.#hooks.maxContinuations;
    let now = stop;
    for (let done = 0; now.reason === "done" && most > 0 && !signal.aborted; done++) {
      const { blocked } = await this.#hooks.onStop(lastReply(store.chat), done > 0, signal);
      if (blocked === null || signal.aborted) return now;
      if (done === most) {
        const names = blocked.names.join(", ");
        return createStop("hook-limit", {
          line: store.chat.lineCount,
          problem: {
            code: "hook-limit",
            message:
              `The hook ${names} wants the model to continue, but it has done so ${done} times in this run ` +
              "(hooks.max_continuations).",
            next: "Read the reply. To continue, advance again below your own message.",
          },
        });
      }
      const problem = await this.#write(blocked.text);
      if (problem !== null) return createStop("failed", { problem });
      now = await advance();
    }
    return now;
  }

  async #beforeSending(signal: AbortSignal): Promise<Problem | null> {
    const ended = this.#hooks.takeEnd();
    if (ended !== null) {
      const why = ended.reason === "" ? "" : `: ${ended.reason.split("\n", 1)[0]!.replace(/\.$/, "")}`;
      return {
        code: "hook-ended",
        message: `The hook ${ended.name} ended the run${why}.`,
        next: "Advance again to go on.",
      };
    }
    const prompt = promptOf(this.#parts.store.chat);
    if (prompt === null || prompt === this.#prompt) return null;
    const { blocked, context } = await this.#hooks.onPrompt(prompt, signal);
    if (blocked !== null) {
      return {
        code: "hook-blocked",
        message: `The message was not sent, because a hook blocked it:\n${blocked.text}`,
        next: "Change your message, and advance again.",
      };
    }
    this.#prompt = prompt;
    return context === "" || signal.aborted ? null : await this.#write(context);
  }

  /** Writes a text of hooks into the person's message, or into a new one. In its fence, nothing takes effect. */
  async #write(text: string): Promise<Problem | null> {
    const { store, subject: { settings } } = this.#parts;
    const tags = settings.templating.enabled;
    const edit = askNext(store.chat, quoteText(text, FENCE, { tags }).trimEnd());
    return edit.ok ? await store.commit([edit.value]) : edit.problem;
  }
}

/** Creates the hooks of a document; null if no hook is configured. */
export async function createRunHooks(parts: AroundRun): Promise<RunHooks | null> {
  const { subject, store, tools, ruled, emit } = parts;
  const { loaded: { hooks: loaded }, settings, environment } = subject;
  if (loaded === null || loaded.hooks.length + loaded.unsupported.length === 0) return null;
  const hooks = new Hooks({
    environment,
    settings,
    sandbox: tools.sandbox,
    loaded,
    document: store.path,
    session: await sessionOf(store.path),
    emit,
    folderOf: (tool) => folderOfCalls(ruled, tool),
  });
  return new RunHooks(parts, hooks);
}

/** Returns the person's last message; null if it has no words, was answered, or has a text of hooks. */
function promptOf({ turns }: Chat): string | null {
  const last = turns.at(-1);
  if (last?.role !== "You") return null;
  const text = last.segments.flatMap((segment) =>
    segment.kind === "text" && segment.job === undefined ? [segment.value] : []
  ).join("")
    .trim();
  return text === "" || HOOK_BLOCK.test(text) ? null : text;
}

const HOOK_BLOCK = new RegExp(`^\`{3,}${FENCE}[ \\t]*$`, "m");
