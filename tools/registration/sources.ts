// The sources of one registry: started when first needed, awaited within their timeout, reported when they fail.

import { type Outcome, type Problem, thrownText } from "../../base/problem.ts";
import type { Registration, ToolOrigin } from "../definition.ts";
import type {
  AskedSources,
  RegisterTool,
  ResolveTools,
  SourceState,
  SourceStatus,
  ToolSource,
} from "./types.ts";
import { plural } from "../../base/text/plural.ts";

/** Services that sources need from their registry. */
export interface SourcesHost {
  /** Seconds for a source that sets no timeout. */
  readonly timeout: number;
  readonly register: (
    origin: ToolOrigin,
    given: Registering,
    file: string | null,
  ) => Outcome<readonly Problem[]>;
  /** Called with problems of a source or of its definitions; none of them stops anything. */
  readonly warn: (problem: Problem) => void;
  /** Called once when the last started source has ended. */
  readonly complete: () => void;
}

/** What a source registers: a tool under a name, or one that names itself. */
export type Registering = readonly [name: string, definition: Registration] | readonly [Registration];

interface Entry {
  readonly source: ToolSource;
  readonly name: string;
  readonly origin: ToolOrigin;
  /** Names of the tools that the source has already registered. A call of one of these waits for nothing else. */
  readonly given: Set<string | undefined>;
  state: SourceState;
  reason?: string;
  timer?: ReturnType<typeof setTimeout>;
}

export class ToolSources {
  readonly #host: SourcesHost;
  readonly #entries: Entry[] = [];
  readonly #waiting = new Set<() => void>();
  #forgotten = false;

  constructor(host: SourcesHost) {
    this.#host = host;
  }

  /** Adds a source; it starts when it is first needed. */
  add(source: ToolSource, origin: ToolOrigin): void {
    const name = source.name ?? (source.resolve.name || "a source of tools");
    this.#entries.push({ source, name, origin, given: new Set(), state: "idle" });
    this.#changed();
  }

  /** Adds a source that will not be asked. `reason` says why, as the end of a sentence. */
  leaveOut(
    { name, ...source }: Pick<ToolSource, "mayHave"> & { readonly name: string },
    reason: string,
  ): void {
    const never: ToolSource = { mayHave: source.mayHave?.bind(source), resolve: () => {} };
    this.#entries.push({ source: never, name, origin: "host", given: new Set(), state: "left-out", reason });
  }

  /** Status of each source, in the order they were added. */
  get all(): readonly SourceStatus[] {
    return this.#entries.map(({ name, state, reason }) => ({ name, state, reason }));
  }

  get isReady(): boolean {
    return this.#entries.every(({ state }) => state !== "idle" && state !== "pending");
  }

  /** True if a source that has not answered yet may bring a tool with this name. */
  mayGet(toolName: string, asked: AskedSources = "all"): boolean {
    return this.#entries.some((entry) =>
      (entry.state === "idle" || entry.state === "pending") && mayHave(entry, toolName, asked)
    );
  }

  /** Returns the name of the source that may have this tool but could not be asked; null if there is none. */
  unasked(toolName: string): string | null {
    const found = this.#entries.find((entry) =>
      (entry.state === "failed" || entry.state === "timed-out" || entry.state === "left-out") &&
      mayHave(entry, toolName)
    );
    return found?.name ?? null;
  }

  /** Starts every source that is not started, and waits until all have answered. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.isReady, () => true, signal);
  }

  /** Starts the sources that may have this tool, and waits until none of them can still bring it. */
  async readyFor(toolName: string, asked: AskedSources, signal?: AbortSignal): Promise<void> {
    await this.#until(
      () => !this.mayGet(toolName, asked),
      (entry) => mayHave(entry, toolName, asked),
      signal,
    );
  }

  /** Late answers are ignored from now on. */
  forget(): void {
    this.#forgotten = true;
    for (const entry of this.#entries) clearTimeout(entry.timer);
    this.#entries.length = 0;
    this.#changed();
  }

  async #until(over: () => boolean, which: (entry: Entry) => boolean, signal?: AbortSignal): Promise<void> {
    for (;;) {
      // The list may grow during this loop, because a source that is started or awaited may add other sources.
      for (const entry of this.#entries) if (which(entry)) this.#begin(entry);
      if (over() || signal?.aborted === true) return;
      await new Promise<void>((resolve) => {
        const go = () => {
          this.#waiting.delete(go);
          signal?.removeEventListener("abort", go);
          resolve();
        };
        this.#waiting.add(go);
        signal?.addEventListener("abort", go, { once: true });
      });
    }
  }

  #begin(entry: Entry): void {
    if (entry.state !== "idle") return;
    entry.state = "pending";
    const { source, name } = entry;
    this.#allow(entry, source.timeout ?? this.#host.timeout);
    const done = (error?: unknown) => this.#end(entry, error === undefined ? null : thrownText(error));
    const fail = (thrown: unknown) =>
      this.#end(entry, thrownText(thrown) || "it failed without an error message");
    const register = ((...given: Registering) => {
      if (this.#forgotten) return { ok: true, value: [] } as const;
      const outcome = this.#host.register(entry.origin, given, source.file ?? null);
      if (outcome.ok) { for (const name of namesIn(given)) entry.given.add(name); }
      const problems = outcome.ok ? outcome.value : [outcome.problem];
      for (const problem of problems) {
        this.#host.warn({ ...problem, message: `${name}: ${problem.message}` });
      }
      this.#changed();
      return outcome;
    }) as RegisterTool;
    try {
      const returned = source.resolve(register, done, (seconds) => {
        if (entry.state === "pending") this.#allow(entry, seconds);
      });
      const saysDone = sayDone(source.resolve);
      if (isPromise(returned)) returned.then(() => saysDone || done(), fail);
      else if (!saysDone) done();
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** Sets the timeout of a source to this many seconds from now. */
  #allow(entry: Entry, seconds: number): void {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      const reason = `it did not answer within ${plural(seconds, "second")}`;
      this.#settle(entry, "timed-out", reason);
      this.#host.warn({
        code: "tool-source-timeout",
        message: `${entry.name} did not list its tools within ${
          plural(seconds, "second")
        }; continuing without them.`,
      });
      this.#completed();
    }, seconds * 1000);
  }

  #end(entry: Entry, error: string | null): void {
    if (this.#forgotten) return;
    if (entry.state === "timed-out") {
      // An answer after the timeout still shows which tools exist.
      if (error === null) this.#settle(entry, "done");
      return;
    }
    if (entry.state !== "pending") return;
    clearTimeout(entry.timer);
    this.#settle(entry, error === null ? "done" : "failed", error ?? undefined);
    if (error !== null) {
      this.#host.warn({
        code: "tool-source-failed",
        message: `${entry.name} could not list its tools: ${error}`,
      });
    }
    this.#completed();
  }

  #settle(entry: Entry, state: SourceState, reason?: string): void {
    entry.state = state;
    entry.reason = reason;
    this.#changed();
  }

  #completed(): void {
    if (!this.#entries.some(({ state }) => state === "pending")) this.#host.complete();
  }

  #changed(): void {
    for (const go of [...this.#waiting]) go();
  }
}

/**
 * True if a function calls `done` itself. With a single parameter, which is `register`, it cannot. Without any declared
 * parameter, it may use rest arguments.
 */
export function sayDone(resolve: ResolveTools): boolean {
  return resolve.length !== 1;
}

function mayHave({ source, origin, given }: Entry, toolName: string, asked: AskedSources = "all"): boolean {
  if (asked === "code" && origin !== "module" && origin !== "file") return false;
  return !given.has(toolName) && (source.mayHave?.(toolName) ?? true);
}

function namesIn([first]: Registering): readonly (string | undefined)[] {
  // JavaScript code may pass a list.
  return typeof first === "string" ? [first] : [first].flat().map(({ name }) => name);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}
