// Checks what backends of other programs answer. A malformed answer throws here, where callers expect that a backend may
// throw: then no command runs, because it is unknown whether the backend works.

import { isObject } from "../base/is_object.ts";
import { type Outcome, success, thrownText } from "../base/problem.ts";
import type { Backend, BackendPreparation, SetupFailure } from "./types.ts";

type Functions = Required<Pick<Backend, "available" | "wrap" | "prepare" | "probe" | "retry">>;

/** Returns the functions of a backend, bound to it, with checked answers. */
export function checkedFunctions(
  backend: Backend,
): Omit<Backend, "priority" | "description" | "confines" | "repairs"> {
  const outcome = <Value>(call: keyof Functions, answer: Outcome<Value>, fits: (value: unknown) => boolean) =>
    checked(call, answer, (value) => isOutcome(value, fits), "{ ok: true, value } or { ok: false, problem }");
  return {
    available: async (...given) => outcome("available", await backend.available(...given), () => true),
    wrap: (...given) => outcome("wrap", backend.wrap(...given), isCommand),
    prepare: backend.prepare &&
      (async (...given) => {
        const prepared = outcome("prepare", await backend.prepare!(...given), isPreparation);
        return prepared.ok ? success(guarded(prepared.value)) : prepared;
      }),
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

/** The same preparation, but if it cannot tell whether the command began, that is a failure of the set-up. */
function guarded(preparation: BackendPreparation): BackendPreparation {
  const setupFailure: BackendPreparation["setupFailure"] = async (stderr, signal) => {
    let why = "it must return null or a problem";
    try {
      const problem: unknown = await preparation.setupFailure(stderr, signal);
      if (problem === null || isProblem(problem)) return problem as SetupFailure | null;
    } catch (thrown) {
      why = thrownText(thrown);
    }
    const message = `The sandbox backend cannot tell whether the command began (setupFailure: ${why}).`;
    const next = "Correct the backend, or set another sandbox.backend.";
    return { code: "sandbox-setup-failed", message, next, stderr, forModel: message };
  };
  return new Proxy(preparation, {
    get(target, member) {
      if (member === "setupFailure") return setupFailure;
      const value: unknown = Reflect.get(target, member);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
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
  return answer.ok === false && isProblem(answer.problem);
}

function isProblem(value: unknown): boolean {
  return isObject(value) && typeof value.code === "string" && typeof value.message === "string";
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
