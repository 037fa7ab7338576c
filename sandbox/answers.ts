// Checks what backends of other programs answer. A malformed answer throws here, where callers expect that a backend may
// throw: then no command runs, because it is unknown whether the backend works.

import { isObject } from "../base/is_object.ts";
import { type Outcome, thrownText } from "../base/problem.ts";
import type { Backend } from "./types.ts";

type Functions = Required<Pick<Backend, "available" | "wrap" | "prepare" | "probe" | "retry">>;

/** Returns the functions of a backend, bound to it, with checked answers. */
export function checkedFunctions(
  backend: Backend,
): Omit<Backend, "priority" | "description" | "confines" | "onlyByName" | "repairs"> {
  const outcome = <Value>(call: keyof Functions, answer: Outcome<Value>, fits: (value: unknown) => boolean) =>
    checked(call, answer, (value) => isOutcome(value, fits), "{ ok: true, value } or { ok: false, problem }");
  return {
    available: async (...given) => outcome("available", await backend.available(...given), () => true),
    wrap: (...given) => outcome("wrap", backend.wrap(...given), isCommand),
    prepare: backend.prepare &&
      (async (...given) => outcome("prepare", await backend.prepare!(...given), isPreparation)),
    probe: backend.probe &&
      (async (...given) => outcome("probe", await backend.probe!(...given), () => true)),
    retry: backend.retry &&
      ((...given) =>
        checked(
          "retry",
          backend.retry!(...given),
          (value) => value === null || isObject(value),
          "settings or null",
        )),
    hardening: backend.hardening && ((...given) => {
      try {
        const lines: unknown = backend.hardening!(...given);
        return isTexts(lines) ? lines : ["The backend does not list what protects commands."];
      } catch (thrown) {
        return [`The backend could not list what protects commands: ${thrownText(thrown)}`];
      }
    }),
    coverage: backend.coverage && ((policy) => backend.coverage!(policy)),
    version: backend.version && (async (...given) => {
      try {
        const version: unknown = await backend.version!(...given);
        return typeof version === "string" ? version : null;
      } catch (thrown) {
        return `unknown: ${thrownText(thrown)}`;
      }
    }),
  };
}

function checked<Answer>(
  call: keyof Functions,
  answer: Answer,
  fits: (answer: unknown) => boolean,
  expected: string,
): Answer {
  if (fits(answer)) return answer;
  throw new TypeError(`${call} must return ${expected}`);
}

function isOutcome(answer: unknown, fits: (value: unknown) => boolean): boolean {
  if (!isObject(answer)) return false;
  if (answer.ok === true) return fits(answer.value);
  const { problem } = answer;
  return answer.ok === false && isObject(problem) && typeof problem.code === "string" &&
    typeof problem.message === "string";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isCommand(value: unknown): boolean {
  return isTexts(value) && value.length > 0;
}

function isPreparation(value: unknown): boolean {
  return isObject(value) && isCommand(value.argv) && isTexts(value.fingerprint) &&
    typeof value.setupFailure === "function" && typeof value.dispose === "function";
}
