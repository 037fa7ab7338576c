// Shows a run at a terminal: a spinner with the elapsed time, the streamed reply, and tool output.

import { cutToWidth } from "../../../base/width.ts";
import { visible } from "../../../base/visible.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import {
  type Display,
  type DisplayHost,
  formatElapsed,
  formatRemaining,
  progressText,
  REAL,
} from "./display.ts";
import type { Messages } from "../messages.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MILLISECONDS = 100;
const CLEAR_LINE = "\r\x1b[K";

/** Milliseconds without an event after which the spinner is shown below text that may still continue. */
const QUIET_MILLISECONDS = 1000;

/** Opens a line below the cursor, scrolling if needed, and moves back up; the column stays the same. */
const ROOM_BELOW = "\x1bD\x1b[A";
const GO_BELOW = `\x1b7\x1b[B${CLEAR_LINE}`;
const COME_BACK = "\x1b8";

/** Number of running tools that get their own rows; the others are only counted. */
const MOST_SHOWN = 4;

/** Number of characters that are kept of a tool's output, to show its last line. */
const OUTPUT_KEPT = 4096;

/** Terminal sequences in program output (colors, titles, cursor moves), also if the end of the output cuts them off. */
const TERMINAL_SEQUENCE =
  // deno-lint-ignore no-control-regex
  /\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)|\][^\x07\x1b]*(?:\x07|\x1b\\|\x1b?$)|[ -/]*(?:[0-Z\\^-~]|$))/g;

interface Activity {
  readonly label: string;
  readonly since: number;
  /** Time at which a retry starts, if one is scheduled; the row counts down to it. */
  readonly until?: number;
  /** The tail of a tool's output so far. */
  readonly output?: string;
}

/** Draws on standard error. Text from other sources is made visible before it is shown. */
export class Terminal implements Display {
  /** Running tools by id; the request has the empty id. */
  readonly #activities = new Map<string, Activity>();
  readonly #world: DisplayHost;
  #stopTicking: (() => void) | null = null;
  #frame = 0;
  /** Number of prompts that hold the display at the moment. */
  #buffered = 0;
  /** Where the spinner is now: on the cursor's line, or on the line below streamed text. */
  #drawn: "here" | "below" | null = null;
  /** Number of rows that were drawn last; the cursor is in the last of them. */
  #rows = 0;
  /** True if the cursor is behind streamed text without a line end. */
  #inText = false;
  /** The request's label without its current activity. */
  #request = "";
  /** Time at which streamed text was last shown; -Infinity once something else was shown. */
  #lastText = -Infinity;
  /** The model that was named last. */
  #named = "";

  constructor(messages: Pick<Messages, "beforeLine">, world: DisplayHost = REAL) {
    this.#world = world;
    messages.beforeLine = () => this.#stepAside();
  }

  show(event: CycleEvent): void {
    switch (event.event) {
      case "tool:executing":
        this.#begin(event.id, event.preview);
        break;
      case "tool:output":
        this.#heard(event.id, event.text);
        break;
      case "tool:finished":
        this.#end(event.id, END_MARKS[event.status], event.note);
        break;
      case "job:started":
        this.#begin(event.job, event.preview);
        break;
      case "job:output":
        this.#heard(event.job, event.text);
        break;
      case "job:finished":
        this.#end(event.job, END_MARKS[event.status], event.status === "stopped" ? "stopped" : undefined);
        break;
      case "tool:waiting":
        this.#end(event.id, "\x1b[33m?\x1b[0m", undefined);
        break;
      case "request:sending":
        this.#request = `${event.provider} ${event.model}`;
        this.#nameModel(this.#request);
        this.#begin("", this.#request);
        break;
      case "request:retrying":
        this.#begin(
          "",
          `waiting to retry, attempt ${event.attempt}${event.of === null ? "" : ` of ${event.of}`}`,
          event.wait,
        );
        break;
      case "request:waiting":
        this.#begin("", `waiting for the rate limit of ${event.provider}`, event.wait);
        break;
      case "text":
        this.#relabel(this.#request);
        this.#text(event.text);
        break;
      case "reply:tool":
      case "thinking":
        this.#line(`\x1b[2m${visible(event.text, { lines: true })}\x1b[0m`);
        break;
      case "reply:progress":
        // This event shows that the text before it is complete.
        this.#stepAside();
        this.#relabel(`${this.#request}  ${progressText(event)}`);
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

  hold(): () => void {
    this.#buffered++;
    this.#stepAside();
    this.#tick();
    return () => {
      this.#buffered--;
      this.#tick();
    };
  }

  close(): void {
    this.#activities.clear();
    this.#stopTicking?.();
    this.#stopTicking = null;
    this.#stepAside();
  }

  /** Names the model on its own line, once and on each change, because the model determines the cost. */
  #nameModel(model: string): void {
    if (model === this.#named) return;
    this.#named = model;
    this.#line(`\x1b[2m${visible(model)}\x1b[0m`);
  }

  #begin(id: string, label: string, wait?: number): void {
    const since = this.#world.now();
    const until = wait === undefined ? {} : { until: since + wait * 1000 };
    this.#activities.set(id, { label: visible(label), since, ...until });
  }

  #relabel(label: string): void {
    const request = this.#activities.get("");
    if (request !== undefined) this.#activities.set("", { ...request, label: visible(label) });
  }

  #heard(id: string, text: string): void {
    const activity = this.#activities.get(id);
    if (activity === undefined) return;
    this.#activities.set(id, { ...activity, output: `${activity.output ?? ""}${text}`.slice(-OUTPUT_KEPT) });
  }

  #end(id: string, mark: string, note: string | undefined): void {
    const activity = this.#activities.get(id);
    this.#activities.delete(id);
    if (activity === undefined) return;
    const more = note === undefined ? "" : `  ${visible(note)}`;
    this.#line(
      `${mark} ${activity.label}  \x1b[2m${formatElapsed(this.#world.now() - activity.since)}${more}\x1b[0m`,
    );
  }

  #text(text: string): void {
    this.#clear();
    const safe = visible(text, { lines: true });
    this.#world.write(safe);
    this.#inText = !safe.endsWith("\n");
    this.#lastText = this.#world.now();
  }

  #line(text: string): void {
    this.#stepAside();
    this.#world.write(`${text}\n`);
  }

  #stepAside(): void {
    this.#clear();
    if (this.#inText) this.#world.write("\n");
    this.#inText = false;
    this.#lastText = -Infinity;
  }

  #clear(): void {
    if (this.#drawn === "here") this.#world.write(this.#erasing());
    if (this.#drawn === "below") this.#world.write(GO_BELOW + COME_BACK);
    this.#drawn = null;
  }

  #tick(): void {
    if (this.#activities.size === 0 || this.#buffered > 0) {
      this.#stopTicking?.();
      this.#stopTicking = null;
      this.#clear();
    } else this.#stopTicking ??= this.#world.every(FRAME_MILLISECONDS, () => this.#draw());
  }

  /** Returns the sequence that erases the rows drawn last and leaves the cursor at the start of the first row. */
  #erasing(): string {
    return CLEAR_LINE + `\x1b[A${CLEAR_LINE}`.repeat(Math.max(0, this.#rows - 1));
  }

  #draw(): void {
    const activities = [...this.#activities.values()];
    // While a reply is shown, its row says more than that of a background job.
    const first = this.#activities.get("") ?? activities[0];
    if (first === undefined) return;
    if (this.#world.now() - this.#lastText < QUIET_MILLISECONDS) return;
    const frame = FRAMES[this.#frame++ % FRAMES.length]!;
    if (this.#inText) {
      const makeRoom = this.#drawn === null ? ROOM_BELOW : "";
      this.#world.write(`${makeRoom}${GO_BELOW}${this.#row(first, frame)}${COME_BACK}`);
      this.#drawn = "below";
      return;
    }
    const shown = activities.slice(0, mostShown());
    const rows = shown.flatMap((activity) => [this.#row(activity, frame), ...outputRow(activity)]);
    const others = activities.length - shown.length;
    if (others > 0) rows.push(`\x1b[2m  and ${others} more\x1b[0m`);
    this.#world.write(`${this.#drawn === "here" ? this.#erasing() : CLEAR_LINE}${rows.join("\n")}`);
    this.#drawn = "here";
    this.#rows = rows.length;
  }

  #row({ label, since, until }: Activity, frame: string): string {
    const now = this.#world.now();
    const end = `  ${until === undefined ? formatElapsed(now - since) : formatRemaining(until - now)}`;
    const room = Math.max(10, size().columns - end.length - 3);
    return `${frame} ${cutToWidth(label, room)}\x1b[2m${end}\x1b[0m`;
  }
}

/** Marks of calls and background jobs that have ended. */
const END_MARKS = {
  success: "\x1b[32m✓\x1b[0m",
  error: "\x1b[31m✗\x1b[0m",
  stopped: "\x1b[33m■\x1b[0m",
} as const;

/** Returns the last line of a tool's output; empty while there is no output. */
function outputRow({ output = "" }: Activity): string[] {
  const text = lastLine(output);
  return text === ""
    ? []
    : [`\x1b[2m  ${cutToWidth(visible(text), Math.max(10, size().columns - 3))}\x1b[0m`];
}

/**
 * Returns the last line that is not blank, as a terminal would show it: text after a carriage return replaces the line.
 */
function lastLine(output: string): string {
  const lines = output.replace(TERMINAL_SEQUENCE, "").split(/[\n\r]/);
  return lines.findLast((line) => line.trim() !== "")?.trimEnd().replaceAll("\t", " ") ?? "";
}

/** Returns how many tools fit on the screen, because rows that scroll off could not be erased. */
function mostShown(): number {
  return Math.max(1, Math.min(MOST_SHOWN, Math.floor((size().rows - 2) / 2)));
}

function size(): { readonly columns: number; readonly rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A terminal whose size was never set reports 0.
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    // The size is unknown, as in some containers.
    return { columns: 80, rows: 24 };
  }
}
