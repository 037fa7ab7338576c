// Events of a stream that say no more than that the server lives.

import { isObject } from "../../base/is_object.ts";

/** Anthropic's `ping`, OpenAI's `keepalive`, and the like of gateways. */
const NAMES: ReadonlySet<unknown> = new Set(["ping", "keepalive", "keep_alive", "heartbeat"]);

/** Whether an event brings nothing: a ping by its name, or a piece of a chat completion in which everything is empty. */
export function isPing(event: object): boolean {
  if (!isObject(event)) return false;
  if (typeof event.type === "string") return NAMES.has(event.type);
  const { choices, usage, error } = event;
  return Array.isArray(choices) && choices.length > 0 && isNothing(usage) && isNothing(error) &&
    choices.every(isEmptyChoice);
}

function isEmptyChoice(choice: unknown): boolean {
  if (!isObject(choice) || !isNothing(choice.finish_reason) || !isNothing(choice.usage)) return false;
  if (!isNothing(choice.message)) return false;
  if (isNothing(choice.delta)) return true;
  return isObject(choice.delta) &&
    Object.entries(choice.delta).every(([name, value]) => name === "role" || isNothing(value));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" ||
    (Array.isArray(value) && value.length === 0);
}
