// Replays one document of a conversation in the copy of its folder, from step to step.

import { openChat } from "../../../agent/open.ts";
import { ASK_TOOL } from "../../../config/layers/presets.ts";
import type { ChatOptions, ChatSession } from "../../../agent/types.ts";
import type { SettingsHost } from "../../../agent/settings.ts";
import { failed, failure, type Outcome, success } from "../../../base/problem.ts";
import { isLifecycle } from "../../../parser/text/status_words.ts";
import type { Call } from "../../../parser/types.ts";
import { sayNext } from "../../../parser/edits/turn.ts";
import { writeResult } from "../../../parser/edits/placement.ts";
import { replayProvider } from "../../../providers/replay/provider.ts";
import { type Replay, startReplay } from "../../../providers/replay/server.ts";
import { differences } from "./compare.ts";
import { hadRun, type RecordedResult, type RecordedStep, type Recording } from "./recording.ts";

/** A result of a replay. */
export interface Played {
  readonly recorded: RecordedResult;
  /** Lines of a diff; empty if the result is as recorded. */
  readonly differs: readonly string[];
  /** The new result; null for a call that did not run. */
  readonly found: ReplayedResult | null;
  /** What became of a call that asked a helper; null for other calls. */
  readonly helper: PlayedHelper | null;
}

/** What became of a call that asked a helper. */
export interface PlayedHelper {
  /** True if the helper's own document was replayed. */
  readonly replayed: boolean;
  /** A sentence without its end. */
  readonly words: string;
}

/** The result of a call that ran during the replay. */
export interface ReplayedResult {
  readonly content: string;
  readonly isError: boolean;
  readonly language: "" | "json";
  /** Names of the images and files that the tool returned. */
  readonly attachments: readonly string[];
}

export interface PlayerOptions {
  /** The host, with the environment of the copy. */
  readonly host: ChatOptions & SettingsHost;
  /** True if the person allowed the tools to run without a sandbox. */
  readonly bare: boolean;
  /** True if requests that the provider would refuse are accepted. */
  readonly lenient: boolean;
  readonly signal: AbortSignal;
  /** Replaces paths of the copy by those of the original. */
  readonly asThere: (text: string) => string;
  /** Replays the helper of a call. */
  readonly ask: (call: Call, recorded: RecordedResult) => Promise<Outcome<PlayedHelper>>;
}

/** Replays one document. */
export class Player implements AsyncDisposable {
  readonly #session: ChatSession;
  readonly #replay: Replay;
  readonly #options: PlayerOptions;
  readonly recording: Recording;
  /** The number of steps that are replayed. */
  at = 0;
  readonly played: Played[] = [];

  private constructor(recording: Recording, session: ChatSession, replay: Replay, options: PlayerOptions) {
    this.recording = recording;
    this.#session = session;
    this.#replay = replay;
    this.#options = options;
  }

  /** Opens the copy of a document. Each document has a server of its own, so that no other takes its replies. */
  static async open(path: string, recording: Recording, options: PlayerOptions): Promise<Outcome<Player>> {
    const replies = recording.steps.flatMap((step) => step.do === "reply" ? [{ reply: step.blocks }] : []);
    const replay = await startReplay({ replies }, { lenient: options.lenient });
    const { host, signal } = options;
    const opened = await openChat(path, { ...host, provider: replayProvider(replay), signal });
    if (!opened.ok) {
      await replay.close();
      return opened;
    }
    const player = new Player(recording, opened.value, replay, options);
    const obstacle = await obstacleOf(opened.value, options.bare);
    if (obstacle === null) return success(player);
    await player[Symbol.asyncDispose]();
    return obstacle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.close();
    await this.#replay.close();
  }

  /** Replays the steps before an index. */
  async play(end: number): Promise<Outcome<void>> {
    for (; this.at < end; this.at++) {
      if (this.#options.signal.aborted) return failure("cancelled", "The replay was stopped.");
      const done = await this.#step(this.recording.steps[this.at]!);
      if (!done.ok) return done;
    }
    return success(undefined);
  }

  async #step(step: RecordedStep): Promise<Outcome<void>> {
    const session = this.#session;
    if (step.do === "say") {
      const problem = await session.edit([sayNext(session.chat, step.text)]);
      return problem === null ? success(undefined) : failed(problem);
    }
    if (step.do === "result") {
      const played = await this.#result(step.result);
      if (!played.ok) return played;
      this.played.push(played.value);
      return success(undefined);
    }
    const stop = await session.send();
    if (stop.problem !== undefined) return failed(stop.problem);
    if (["done", "stepped", "cut"].includes(stop.reason)) return success(undefined);
    return failure(
      "replay-stopped",
      `The reply in line ${step.line} cannot be replayed: ${stop.reason} (${stop.ids.join(", ")}).`,
      "Each call of the document needs a result before the next reply.",
    );
  }

  /**
   * Runs one call and compares its result. A call that had not run in the recording gets its recorded result instead, and
   * so does one that asked a helper, because that result is a text of the model.
   */
  async #result(recorded: RecordedResult): Promise<Outcome<Played>> {
    const { id } = recorded;
    const session = this.#session;
    const call = session.chat.call(id);
    if (call === undefined) {
      return failure(
        "replay-stopped",
        `The call ${id} is missing in the replay, so its result cannot be compared.`,
      );
    }
    if (recorded.name === ASK_TOOL) {
      const helper = await this.#options.ask(call, recorded);
      return helper.ok ? await this.#asRecorded(call, recorded, helper.value) : helper;
    }
    if (!hadRun(recorded, await session.tool(recorded.name))) {
      return await this.#asRecorded(call, recorded, null);
    }
    const stop = await session.execute(id);
    const result = session.chat.result(id);
    if (result === undefined || isLifecycle(result.status)) {
      return failed(
        stop.problem ??
          { code: "replay-stopped", message: `The call ${id} has no result (${stop.reason}).` },
      );
    }
    const found: ReplayedResult = {
      content: this.#options.asThere(result.content),
      isError: result.status === "error",
      language: /^`+json\s*$/.test(session.chat.lineText(result.opener.start)) ? "json" : "",
      attachments: result.attachments,
    };
    return success({ recorded, differs: differences(recorded, found), found, helper: null });
  }

  async #asRecorded(
    call: Call,
    recorded: RecordedResult,
    helper: PlayedHelper | null,
  ): Promise<Outcome<Played>> {
    const { content, isError: error } = recorded;
    const problem = await this.#session.edit(
      writeResult(this.#session.chat, call, { content, error, language: "" }),
    );
    return problem === null ? success({ recorded, differs: [], found: null, helper }) : failed(problem);
  }
}

/** Returns why the replay may not run; null if it may. */
async function obstacleOf(session: ChatSession, bare: boolean): Promise<Outcome<never> | null> {
  const [blocker] = session.blockers;
  if (blocker !== undefined) return failure("first-block-invalid", blocker.message);
  if (bare) return null;
  const remedy = "Set up the sandbox, or run the tools without it: --no-sandbox.";
  if (!session.sandbox.enabled) {
    return failure(
      "sandbox-off",
      "The sandbox is off, and a replay really runs the document's calls.",
      remedy,
    );
  }
  const available = await session.sandbox.available();
  if (available.ok) return null;
  const { message, next = "Set up the sandbox." } = available.problem;
  return failure("sandbox-unusable", message, `${next} Or run the tools without it: --no-sandbox.`);
}
