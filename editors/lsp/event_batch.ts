// Joins the pieces of a stream, so that an editor receives few notifications.

import { after } from "../../base/system/timer.ts";
import type { CycleEvent } from "../../cycle/types.ts";

/** Milliseconds during which pieces of a stream are joined. */
const INTERVAL = 50;

/** Sends events in order, and joins pieces of the same stream that arrive within `INTERVAL`. */
export class EventBatch {
  readonly #send: (event: CycleEvent) => void;
  readonly #after: typeof after;
  /** Pieces not sent yet, by their stream. */
  readonly #pieces = new Map<string, CycleEvent>();
  #cancel: (() => void) | null = null;

  /** @param later calls its second argument after this many milliseconds, and returns a function that cancels that */
  constructor(send: (event: CycleEvent) => void, later: typeof after = after) {
    this.#send = send;
    this.#after = later;
  }

  add(event: CycleEvent): void {
    const stream = streamOf(event);
    if (stream === null) {
      this.#flush();
      return this.#send(event);
    }
    const earlier = this.#pieces.get(stream);
    this.#pieces.set(stream, earlier === undefined ? event : joined(earlier, event));
    this.#cancel ??= this.#after(INTERVAL, () => this.#flush());
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    const pieces = [...this.#pieces.values()];
    this.#pieces.clear();
    for (const piece of pieces) this.#send(piece);
  }
}

/** Returns what identifies the stream of a piece; null for an event that is sent as it is. */
function streamOf(event: CycleEvent): string | null {
  if (event.event === "text") return "text";
  if (event.event === "tool:output") return `output ${event.id}`;
  if (event.event === "reply:progress") return `progress ${event.block} ${event.name ?? ""}`;
  return null;
}

/** Joins two pieces of a stream. Of two counts the later one counts. */
function joined(earlier: CycleEvent, event: CycleEvent): CycleEvent {
  return "text" in earlier && "text" in event ? { ...earlier, text: earlier.text + event.text } : event;
}
