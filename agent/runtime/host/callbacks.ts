// Guards the functions that a host passes: what they throw becomes a problem that names them.

import { isObject, own } from "../../../base/is_object.ts";
import { after } from "../../../base/system/timer.ts";
import { failure, type Problem, thrownText } from "../../../base/problem.ts";
import type { MemoryOptions, OpenOptions } from "../../types.ts";

/** An error of a host's function whose answer is needed. A run that meets it fails with its problem. */
export class HostFault extends Error {
  readonly problem: Problem;

  constructor(name: string, thrown: unknown) {
    super(thrownText(thrown), { cause: thrown });
    this.problem = faultOf(name, thrown);
  }
}

/** Options of a host, guarded. */
export interface GuardedOptions {
  /** Returns, once, the first error of a function that is only informed; null if there is none. */
  takeFault(): Problem | null;
}

/**
 * Returns the options with guarded functions. An error of one that is only informed (`emit`, `print`, `notify`)
 * does not disturb the run; the run reports it at its end. An error of the provider or the store ends the run, and so
 * does a store that does not answer after the signal of the host has aborted.
 */
export function guardCallbacks<Options extends OpenOptions & MemoryOptions>(
  options: Options,
  { patience = PATIENCE } = {},
): Options & GuardedOptions {
  let fault: Problem | null = null;
  const keep = (name: string, thrown: unknown): void => {
    fault ??= faultOf(`option ${name}`, thrown);
  };
  const observer = <Given extends unknown[]>(
    name: string,
    callback: ((...given: Given) => unknown) | undefined,
  ) =>
    callback && ((...given: Given): void => {
      try {
        const returned = callback(...given);
        if (returned instanceof Promise) returned.catch((thrown) => keep(name, thrown));
      } catch (thrown) {
        keep(name, thrown);
      }
    });
  const { emit, print, notify, provider, store, signal } = options;
  const ended = signal === undefined
    ? undefined
    : <T>(answer: Promise<T>) => withinAbort(answer, signal, patience);
  return {
    ...options,
    emit: observer("emit", emit),
    print: observer("print", print),
    notify: observer("notify", notify),
    provider: provider && guardMethods(provider, `provider ${provider.name}`),
    store: store && guardMethods(store, "document store", ended),
    takeFault() {
      const taken = fault;
      fault = null;
      return taken;
    },
  };
}

interface Expected {
  fits(answer: unknown): boolean;
  readonly words: string;
  /** True if the method returns a promise of the answer. */
  readonly isAsync?: boolean;
}

const PROBLEM: Expected = {
  fits: (answer) =>
    answer === null ||
    (isObject(answer) && typeof answer.code === "string" && typeof answer.message === "string"),
  words: "null or a problem with code and message",
};

/** Answers on which a run relies. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  buildRequest: {
    fits: (answer) => isObject(answer) && isObject(answer.request) && Array.isArray(answer.warnings),
    words: "{ request, warnings }",
  },
  reader: {
    fits: (answer) => isObject(answer) && typeof answer.event === "function",
    words: "a reader with the function event",
  },
  obstacle: PROBLEM,
  commit: { ...PROBLEM, isAsync: true },
  extend: { ...PROBLEM, isAsync: true },
};

/** Milliseconds after an abort for which an answer is awaited: what the run has must still be written. */
const PATIENCE = 10_000;

/** Returns the answer; fails if it does not come within some time after an abort. */
function withinAbort<T>(answer: Promise<T>, signal: AbortSignal, patience: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    const aborted = (): void => {
      cancel = after(patience, () => reject(new Error("it gave no answer after the signal had aborted")));
    };
    const settled = (): void => {
      cancel();
      signal.removeEventListener("abort", aborted);
    };
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    answer.then(resolve, reject).finally(settled);
  });
}

/**
 * The same object, but errors and malformed answers of its methods are `HostFault`s that name the method.
 *
 * @param ended limits the wait for an answer. @default there is no limit
 */
function guardMethods<Target extends object>(
  target: Target,
  name: string,
  ended: <T>(answer: Promise<T>) => Promise<T> = (answer) => answer,
): Target {
  return new Proxy(target, {
    get(object, member) {
      const value: unknown = Reflect.get(object, member);
      if (typeof value !== "function") return value;
      const expected = own(EXPECTED, String(member));
      const fail = (thrown: unknown): never => {
        throw new HostFault(`${name} (${String(member)})`, thrown);
      };
      const checked = (answer: unknown): unknown =>
        expected?.fits(answer) === false ? fail(`it must return ${expected.words}`) : answer;
      return (...given: unknown[]): unknown => {
        let returned: unknown;
        try {
          returned = Reflect.apply(value, object, given);
        } catch (thrown) {
          return fail(thrown);
        }
        if (!(returned instanceof Promise)) return checked(returned);
        if (expected === undefined || expected.isAsync === true) return ended(returned).then(checked, fail);
        returned.catch(() => {}); // Whatever it becomes, a promise is not the answer.
        return checked(returned);
      };
    },
  });
}

function faultOf(name: string, thrown: unknown): Problem {
  const { problem } = failure(
    "callback-failed",
    `The ${name} of the program failed: ${thrownText(thrown) || "no error message"}.`,
    "Correct this function; the document is as the run left it.",
  );
  return problem;
}
