// One run on a document in the editor: starts it, reports its progress, cancels it, and reports its end.

import type { ChatSession } from "../../agent/types.ts";
import type { Problem } from "../../base/problem.ts";
import { isWait, waitSentence } from "../../cycle/run/waits.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { stopWords } from "../stop_words.ts";
import { type Client, MessageType, type Progress } from "./client.ts";
import { concernsCalls, type OpenDocument, type Working } from "./document.ts";
import { startOfLine } from "./features/actions.ts";

/** Milliseconds between two progress reports. */
const REPORT_EVERY = 1000;

export interface RunRequest {
  readonly document: OpenDocument;
  readonly client: Client;
  readonly act: (session: ChatSession) => Promise<Stop>;
  /** The token for progress reports that the editor chose. */
  readonly workDoneToken?: unknown;
  /** The line of the cursor when the person started the run, if known. */
  readonly line?: number;
}

export class Run {
  readonly document: OpenDocument;
  readonly #client: Client;
  readonly #controller = new AbortController();
  readonly #foreignBefore: number;
  #progress: Progress | null = null;
  /** The current activity, and its start time. */
  #doing: { readonly what: string; readonly since: number } | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #cursor: number | null = null;
  readonly #request: RunRequest;
  readonly #over = Promise.withResolvers<void>();
  /** Settles when the document was released, or could not be opened. */
  readonly ended: Promise<void> = this.#over.promise;

  /** Creates a run without starting it; it can be cancelled from now on. */
  constructor(request: RunRequest) {
    const { document, client } = request;
    this.document = document;
    this.#client = client;
    this.#request = request;
    this.#foreignBefore = document.foreignChanges;
  }

  /** Starts the run, which continues in the background; returns what prevents it, or null. */
  async start(): Promise<Problem | null> {
    const working = await this.document.work({
      signal: this.#controller.signal,
      emit: (event) => this.#event(event),
    });
    if (!working.ok) {
      this.#over.resolve();
      return working.problem;
    }
    this.#goOn(working.value).then(this.#over.resolve, this.#over.reject);
    return null;
  }

  async #goOn({ session, close }: Working): Promise<void> {
    let stop: Stop;
    try {
      this.#progress = await this.#client.progress(this.#request.workDoneToken, "flemma");
      this.#timer = setInterval(() => this.#report(), REPORT_EVERY);
      stop = await this.#request.act(session);
    } finally {
      clearInterval(this.#timer);
      await close();
    }
    // The end is reported after the release, because anyone who learns of the end may start the next run.
    this.#tell(stop);
  }

  /** The progress token of this run. */
  get token(): string | number | null {
    return this.#progress?.token ?? null;
  }

  /** Cancels what is running, like one Ctrl-C. */
  cancel(): void {
    this.#controller.abort();
  }

  #event(event: CycleEvent): void {
    const { document } = this;
    this.#client.event(document.uri, event);
    if (event.event === "notice") {
      // The person must know before they approve the call again.
      if (event.code === "was-running") this.#client.say(MessageType.warning, event.message);
      else this.#client.log(event.message);
    }
    if (event.event === "cursor") this.#cursor = event.line;
    if (event.event === "file:changed") this.#client.filesChanged(document.uri, [event.path]);
    if (event.event === "tool:executing") this.#does(event.preview);
    if (event.event === "request:sending") this.#does(`waiting for ${event.model}`);
    if (isWait(event)) {
      const words = waitSentence(event);
      this.#does(words);
      if (event.event === "request:fallback") this.#client.log(words);
    }
    if (concernsCalls(event)) this.#client.refresh();
  }

  #does(what: string): void {
    this.#doing = { what, since: performance.now() };
    this.#progress?.report(what);
  }

  #report(): void {
    if (this.#doing === null) return;
    const seconds = Math.floor((performance.now() - this.#doing.since) / 1000);
    this.#progress?.report(`${this.#doing.what} ${seconds} s`);
  }

  /** Reports the end, and shows where the person is needed, unless they have edited the document since. */
  #tell(stop: Stop): void {
    const words = stopWords(stop);
    this.#progress?.end(words?.text ?? "done");
    if (words !== null) {
      this.#client.say(words.level === "error" ? MessageType.error : MessageType.info, words.text);
    }
    const line = stop.line ?? this.#cursor;
    const { document } = this;
    if (line === null || document.foreignChanges !== this.#foreignBefore) return;
    this.#client.showPlace(document.uri, startOfLine(document, line));
  }
}
