// What a server asked of this program and does not get, in words.

import { isObject } from "../../base/is_object.ts";

/** Requests of servers, by their methods and by the capabilities that they need. */
const REQUESTS: readonly (readonly [method: string, capability: string, words: string])[] = [
  ["sampling/createMessage", "sampling", "asked for a model reply (sampling)"],
  ["elicitation/create", "elicitation", "asked you a question (elicitation)"],
  ["roots/list", "roots", "asked for your folders (roots)"],
];

/** Codes of the error that a client lacks a capability, in the protocol and in its drafts. */
const LACKS: ReadonlySet<unknown> = new Set([-32021, -32003]);

/** Returns what a request asks for, in words. */
export function wordsOfRequest(method: string): string {
  return REQUESTS.find(([each]) => each === method)?.[2] ?? `asked for ${JSON.stringify(method)}`;
}

/** Returns what a result asks for before the call can be answered; null if it is an answer. */
export function askedIn(result: unknown): string | null {
  if (!isObject(result) || result.resultType !== "input_required") return null;
  const requests = isObject(result.inputRequests) ? Object.values(result.inputRequests) : [];
  const methods = requests.map((request) => isObject(request) ? String(request.method) : "");
  const [first] = [...REQUESTS.map(([method]) => method), ...methods].filter((method) =>
    methods.includes(method)
  );
  return first === undefined ? "asked to be called again later" : wordsOfRequest(first);
}

/** Returns which capability a server needs, by its error; null if the error has another reason. */
export function lackedIn(thrown: unknown): string | null {
  const { code, data } = (thrown ?? {}) as { readonly code?: unknown; readonly data?: unknown };
  if (!LACKS.has(code) || !isObject(data) || !isObject(data.requiredCapabilities)) return null;
  const { extensions, ...names } = data.requiredCapabilities;
  const all = [...Object.keys(names), ...isObject(extensions) ? Object.keys(extensions) : []];
  if (all.length === 0) return null;
  const known = REQUESTS.find(([, capability]) => all.includes(capability));
  return known?.[2] ??
    `needs ${all.map((name) => name.replace(/^io\.modelcontextprotocol\//, "")).join(", ")}`;
}
