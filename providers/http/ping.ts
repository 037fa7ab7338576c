// Detection of stream events that only keep the connection alive.

import { isObject } from "../../base/is_object.ts";

/** Names used by Anthropic (`ping`), OpenAI (`keepalive`) and gateways. */
const NAMES: ReadonlySet<unknown> = new Set(["ping", "keepalive", "keep_alive", "heartbeat"]);

/** True if an event carries nothing: a ping by name, or a chat completion chunk with only empty fields. */
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
