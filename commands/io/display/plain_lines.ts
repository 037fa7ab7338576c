// Shows a run in plain lines, one per call, result, request and reply: for logs, pipes and plain terminals.

import { visible } from "../../../base/visible.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import { type Display, type DisplayHost, formatElapsed, REAL } from "./display.ts";
import type { Messages } from "../messages.ts";

/** Writes to standard error. Text from other sources is made visible first, so no control character is written. */
export class PlainLines implements Display {
  /**
   * True if the text of the reply is printed. It is printed for a person, but not in a log, because the document
   * already contains the text.
   */
  readonly #showsText: boolean;
  readonly #world: DisplayHost;
  /** Start time of each running tool, by id; the request has the empty id. */
  readonly #since = new Map<string, number>();
  readonly #labels = new Map<string, string>();
  /** True if the last output was streamed text without a line end. */
  #inText = false;

  constructor(
    messages: Pick<Messages, "beforeLine">,
    options: { readonly text: boolean },
    world: DisplayHost = REAL,
  ) {
    this.#showsText = options.text;
    this.#world = world;
    messages.beforeLine = () => this.#endText();
  }

  show(event: CycleEvent): void {
    switch (event.event) {
      case "tool:executing":
        this.#since.set(event.id, this.#world.now());
        this.#labels.set(event.id, event.preview);
        this.#line("call", event.preview);
        break;
      case "tool:finished": {
        const mark = event.status === "success" ? "✓" : "✗";
        const note = event.note === undefined ? "" : `  ${event.note}`;
        const label = this.#labels.get(event.id);
        if (label !== undefined) this.#line("result", `${mark} ${label}  ${this.#time(event.id)}${note}`);
        this.#labels.delete(event.id);
        break;
      }
      case "tool:waiting":
        this.#labels.delete(event.id);
        break;
      case "job:started":
        this.#since.set(event.job, this.#world.now());
        this.#labels.set(event.job, event.preview);
        this.#line("job", `${event.job} ${event.preview}`);
        break;
      case "job:finished":
        this.#line(
          "job",
          `${JOB_ENDINGS[event.status]} ${event.job} ${this.#labels.get(event.job) ?? ""}  ${
            this.#time(event.job)
          }`,
        );
        break;
      case "request:sending":
        this.#since.set("", this.#world.now());
        this.#line("request", `${event.provider} ${event.model}`);
        break;
      case "text":
        if (this.#showsText) this.#text(event.text);
        break;
      case "thinking":
        if (!this.#showsText) break;
        this.#endText();
        this.#text(`thinks   ${event.text}\n`);
        break;
      case "reply:tool":
        if (!this.#showsText) break;
        this.#endText();
        this.#text(`provider ${event.text}\n`);
        break;
      case "reply:progress":
        // This event is not logged, because it occurs many times a second, but it shows that the text before it is
        // complete.
        this.#endText();
        break;
      case "request:finished":
        this.#line("reply", `${ENDINGS[event.status]}  ${this.#time("")}`);
        break;
      case "approval:pending":
        this.#line("waits", `${event.preview}  ${event.id}`);
        break;
    }
  }

  close(): void {
    this.#endText();
  }

  #time(id: string): string {
    const now = this.#world.now();
    return formatElapsed(now - (this.#since.get(id) ?? now));
  }

  #line(what: string, text: string): void {
    this.#endText();
    this.#world.write(`${what.padEnd(8)} ${visible(text)}\n`);
  }

  #text(text: string): void {
    const safe = visible(text, { lines: true });
    this.#world.write(safe);
    this.#inText = !safe.endsWith("\n");
  }

  #endText(): void {
    if (this.#inText) this.#world.write("\n");
    this.#inText = false;
  }
}

const JOB_ENDINGS = { success: "✓", error: "✗", stopped: "■ stopped" } as const;

const ENDINGS = { completed: "✓", cancelled: "✗ stopped", errored: "✗ failed" } as const;
