// What a person at a terminal sees while a run goes on: a spinner with the time, the reply as it comes, previews.

import type { Environment } from "../../base/environment.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { cutToWidth } from "../../base/width.ts";
import { visible } from "../../base/visible.ts";
import type { Messages } from "./messages.ts";
import { writeError } from "./streams.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MILLISECONDS = 100;
const CLEAR_LINE = "\r\x1b[K";

/** Whether to draw at all: only for a person who did not decline. */
export function wantsTerminal(environment: Environment, quiet: boolean): boolean {
  const { variables } = environment;
  return !quiet && Deno.stderr.isTerminal() && !variables.NO_COLOR && variables.TERM !== "dumb";
}

interface Activity {
  readonly label: string;
  readonly since: number;
}

/** Draws on standard error. Every text from outside is made visible before it is shown (S5). */
export class Terminal {
  /** Running tools by id, and the request under the empty name. */
  readonly #activities = new Map<string, Activity>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #frame = 0;
  #drawn = false;
  /** The cursor stands behind streamed text that has no line end yet. */
  #inText = false;

  constructor(messages: Messages) {
    messages.beforeLine = () => this.#stepAside();
  }

  show(event: CycleEvent): void {
    switch (event.event) {
      case "tool:executing":
        this.#begin(event.id, event.preview);
        break;
      case "tool:finished":
        this.#end(event.id, event.status === "success" ? "\x1b[32m✓\x1b[0m" : "\x1b[31m✗\x1b[0m", event.note);
        break;
      case "request:sending":
        this.#begin("", `${event.provider} ${event.model}`);
        break;
      case "text":
        this.#activities.delete("");
        this.#text(event.text);
        break;
      case "request:finished":
        this.#activities.delete("");
        this.#stepAside();
        break;
      case "approval:pending":
        this.#line(
          `\x1b[33m?\x1b[0m ${visible(event.preview)}  \x1b[2mline ${event.line}  ${
            visible(event.id)
          }\x1b[0m`,
        );
        break;
    }
    this.#tick();
  }

  close(): void {
    this.#activities.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stepAside();
  }

  #begin(id: string, label: string): void {
    this.#activities.set(id, { label: visible(label), since: performance.now() });
  }

  #end(id: string, mark: string, note: string | undefined): void {
    const activity = this.#activities.get(id);
    this.#activities.delete(id);
    if (activity === undefined) return;
    const more = note === undefined ? "" : `  ${visible(note)}`;
    this.#line(`${mark} ${activity.label}  \x1b[2m${elapsed(activity.since)}${more}\x1b[0m`);
  }

  #text(text: string): void {
    this.#clear();
    const safe = visible(text, { lines: true });
    writeError(safe);
    this.#inText = !safe.endsWith("\n");
  }

  #line(text: string): void {
    this.#stepAside();
    writeError(`${text}\n`);
  }

  #stepAside(): void {
    this.#clear();
    if (this.#inText) writeError("\n");
    this.#inText = false;
  }

  #clear(): void {
    if (this.#drawn) writeError(CLEAR_LINE);
    this.#drawn = false;
  }

  #tick(): void {
    if (this.#activities.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#clear();
    } else if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#draw(), FRAME_MILLISECONDS);
    }
  }

  #draw(): void {
    const [first, ...others] = this.#activities.values();
    if (first === undefined || this.#inText) return;
    const more = others.length === 0 ? "" : `  (and ${others.length} more)`;
    const end = `  ${elapsed(first.since)}${more}`;
    const frame = FRAMES[this.#frame++ % FRAMES.length]!;
    const room = Math.max(10, columns() - end.length - 3);
    writeError(`${CLEAR_LINE}${frame} ${cutToWidth(first.label, room)}\x1b[2m${end}\x1b[0m`);
    this.#drawn = true;
  }
}

function columns(): number {
  try {
    // A terminal that was never told its size says 0.
    return Deno.consoleSize().columns || 80;
  } catch {
    // Standard streams without a size, as in some containers.
    return 80;
  }
}

function elapsed(since: number): string {
  const seconds = (performance.now() - since) / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)}s`
    : `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
}
