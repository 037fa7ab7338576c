// The sources of one registry: begun when first needed, awaited as long as each may take, reported when they fail.

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

/** What sources need of the registry they belong to. */
export interface SourcesHost {
  /** Seconds a source may take that does not say. */
  readonly timeout: number;
  /** Takes one registration. */
  readonly register: (origin: ToolOrigin, given: Registering) => Outcome<readonly Problem[]>;
  /** Told what went wrong with a source or a definition of it; none of it is a stop. */
  readonly warn: (problem: Problem) => void;
  /** Told once when the last source that was begun has ended. */
  readonly complete: () => void;
}

/** What a source registers: a tool under a name, or one that names itself. */
export type Registering = readonly [name: string, definition: Registration] | readonly [Registration];

interface Entry {
  readonly source: ToolSource;
  readonly name: string;
  readonly origin: ToolOrigin;
  /** Names of the tools that it has given: of these it has nothing more to say. */
  readonly given: Set<string | undefined>;
  state: SourceState;
  reason?: string;
  timer?: ReturnType<typeof setTimeout>;
}

/** The sources of one registry, until they are forgotten. */
export class Sources {
  readonly #host: SourcesHost;
  readonly #entries: Entry[] = [];
  readonly #waiting = new Set<() => void>();
  #forgotten = false;

  constructor(host: SourcesHost) {
    this.#host = host;
  }

  /** Adds a source; it begins when somebody needs it. */
  add(source: ToolSource, origin: ToolOrigin): void {
    const name = source.name ?? (source.resolve.name || "a source of tools");
    this.#entries.push({ source, name, origin, given: new Set(), state: "idle" });
    this.#changed();
  }

  /** Adds one that is not asked, with the reason as the end of a sentence. */
  leaveOut(
    { name, ...source }: Pick<ToolSource, "mayHave"> & { readonly name: string },
    reason: string,
  ): void {
    const never: ToolSource = { mayHave: source.mayHave?.bind(source), resolve: () => {} };
    this.#entries.push({ source: never, name, origin: "host", given: new Set(), state: "left-out", reason });
  }

  /** How each stands, in the order in which they were added. */
  get all(): readonly SourceStatus[] {
    return this.#entries.map(({ name, state, reason }) => ({ name, state, reason }));
  }

  /** Whether none is still to answer. */
  get isReady(): boolean {
    return this.#entries.every(({ state }) => state !== "idle" && state !== "pending");
  }

  /** Whether a tool of that name may still come. */
  mayGet(toolName: string, asked: AskedSources = "all"): boolean {
    return this.#entries.some((entry) =>
      (entry.state === "idle" || entry.state === "pending") && mayHave(entry, toolName, asked)
    );
  }

  /** The source that may have a tool of that name and could not be asked; null when there is none. */
  unasked(toolName: string): string | null {
    const found = this.#entries.find((entry) =>
      (entry.state === "failed" || entry.state === "timed-out" || entry.state === "left-out") &&
      mayHave(entry, toolName)
    );
    return found?.name ?? null;
  }

  /** Begins every source that was not begun, and tells when none is left to answer. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.isReady, () => true, signal);
  }

  /** Begins the sources that may have a tool of that name, and waits until none of them can give it any more. */
  async readyFor(toolName: string, asked: AskedSources, signal?: AbortSignal): Promise<void> {
    await this.#until(
      () => !this.mayGet(toolName, asked),
      (entry) => mayHave(entry, toolName, asked),
      signal,
    );
  }

  /** Late answers mean nothing from now on. */
  forget(): void {
    this.#forgotten = true;
    for (const entry of this.#entries) clearTimeout(entry.timer);
    this.#entries.length = 0;
    this.#changed();
  }

  async #until(over: () => boolean, which: (entry: Entry) => boolean, signal?: AbortSignal): Promise<void> {
    for (;;) {
      // Also those that come while others are begun or waited for: the list grows under this loop.
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
    const done = (error?: unknown) => this.#end(entry, error === undefined ? null : String(error));
    const fail = (thrown: unknown) => this.#end(entry, thrownText(thrown) || "it failed without saying why");
    const register = ((...given: Registering) => {
      if (this.#forgotten) return { ok: true, value: [] } as const;
      const outcome = this.#host.register(entry.origin, given);
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

  /** Gives a source so many seconds from now. */
  #allow(entry: Entry, seconds: number): void {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      const reason = `it has not answered within ${seconds} seconds`;
      this.#settle(entry, "timed-out", reason);
      this.#host.warn({
        code: "tool-source-timeout",
        message: `${entry.name} has not told its tools within ${seconds} seconds; going on without them.`,
      });
      this.#completed();
    }, seconds * 1000);
  }

  #end(entry: Entry, error: string | null): void {
    if (this.#forgotten) return;
    if (entry.state === "timed-out") {
      // An answer that comes too late to be waited for still tells what is there.
      if (error === null) this.#settle(entry, "done");
      return;
    }
    if (entry.state !== "pending") return;
    clearTimeout(entry.timer);
    this.#settle(entry, error === null ? "done" : "failed", error ?? undefined);
    if (error !== null) {
      this.#host.warn({
        code: "tool-source-failed",
        message: `${entry.name} could not tell its tools: ${error}`,
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

/** Whether a function calls `done` itself. One that names no parameter takes what it gets in another way. */
export function sayDone(resolve: ResolveTools): boolean {
  return resolve.length !== 1;
}

function mayHave({ source, origin, given }: Entry, toolName: string, asked: AskedSources = "all"): boolean {
  if (asked === "code" && origin !== "module" && origin !== "file") return false;
  return !given.has(toolName) && (source.mayHave?.(toolName) ?? true);
}

function namesIn([first]: Registering): readonly (string | undefined)[] {
  // Code in JavaScript may hand in a list.
  return typeof first === "string" ? [first] : [first].flat().map(({ name }) => name);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}
