// Sentences about a provider that cannot answer: retries, waits in line, and other models that are asked instead.

import { formatDuration } from "../../providers/http/patience.ts";
import type { CycleEvent } from "../types.ts";

/** The events of a request whose provider cannot answer at the moment. */
export type WaitEvent = Extract<
  CycleEvent,
  { readonly event: "request:retrying" | "request:waiting" | "request:fallback" }
>;

export function isWait(event: CycleEvent): event is WaitEvent {
  return event.event === "request:retrying" || event.event === "request:waiting" ||
    event.event === "request:fallback";
}

/** Seconds from which a wait is shown with the time of day at which it ends. */
const LONG = 60;

/** Returns the sentence for a person: what happened, what flemma waits for, and until when. */
export function waitSentence(event: WaitEvent): string {
  switch (event.event) {
    case "request:retrying": {
      const { error, attempt, of, wait, until } = event;
      const count = of === null ? `attempt ${attempt}` : `attempt ${attempt} of ${of}`;
      return `${ended(error.message)} Retrying in ${formatDuration(wait)}${timeOf(wait, until)} (${count}).`;
    }
    case "request:waiting": {
      const { provider, wait, until, ahead } = event;
      const time = wait > 0 ? ` for at least ${formatDuration(wait)}${timeOf(wait, until)}` : "";
      const line = ahead === 0 ? "" : `; ${ahead === 1 ? "1 request is" : `${ahead} requests are`} in front`;
      return `Waiting for the rate limit of ${provider}${time}${line}.`;
    }
    case "request:fallback":
      return `${event.from} cannot answer: ${ended(event.error.message)} Asking ${event.to} for this reply.`;
  }
}

/** Returns the time of day at which a long wait ends, in the time zone of the person. */
function timeOf(wait: number, until: string): string {
  if (wait < LONG) return "";
  const date = new Date(until);
  const time = date.toTimeString().slice(0, 8);
  const [day, month] = [date.getDate(), date.getMonth() + 1].map((part) => String(part).padStart(2, "0"));
  return wait < 12 * 3600 ? `, at ${time}` : `, at ${date.getFullYear()}-${month}-${day} ${time}`;
}

/** Adds the full stop that messages of servers often lack. */
function ended(message: string): string {
  return message.replace(/[^.!?]$/, "$&.");
}
