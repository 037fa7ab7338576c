// The tools of a run by name, and the sources from which more of them come (tools 2, 5).

import { byBytes } from "../base/bytes.ts";
import { nearest } from "../base/names.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Registration, ToolDefinition } from "./definition.ts";
import { checkDefinition } from "./registration/check.ts";
import { Sources } from "./registration/sources.ts";
import type { RegisterTool, ResolveTools, SourceStatus, ToolSource } from "./registration/types.ts";

/** Which tools are asked for. */
export interface GetAllOptions {
  /** Also those that are offered only when a document names them. @default false */
  readonly includeDisabled?: boolean;
  /** The settings that definitions are asked with whose `enabled` is a function. @default such tools count as disabled */
  readonly config?: Settings;
}

/** What a registry is made with. */
export interface RegistryOptions {
  /** Seconds a source may take that does not say. @default 30 */
  readonly defaultTimeout?: number;
  /** Registries whose tools and sources count too, the stronger first; the own ones are stronger still. @default none */
  readonly below?: readonly ToolRegistry[];
  /** Told what goes wrong later than a call of `register` can tell: in a source, or in a function-typed `enabled`. */
  readonly onProblem?: (problem: Problem) => void;
  /** Told when the last source that was begun has ended. */
  readonly onComplete?: () => void;
}

/** Seconds of a source where neither it nor the registry says. */
const DEFAULT_TIMEOUT = 30;

/** Holds definitions and sources; one entry, `register`, takes every form. */
export class ToolRegistry {
  readonly #options: RegistryOptions;
  readonly #below: readonly ToolRegistry[];
  readonly #tools = new Map<string, ToolDefinition>();
  /** The object each tool was registered with: registering it again is no replacement. */
  readonly #origins = new WeakMap<ToolDefinition, Registration>();
  /** What went wrong with the own sources. */
  readonly #problems: Problem[] = [];
  /** What went wrong with sources below and was told already. */
  readonly #told = new WeakSet<Problem>();
  #sources: Sources;

  /** An empty registry. */
  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.#below = options.below ?? [];
    this.#sources = this.#newSources();
  }

  /**
   * Registers one tool under a name, one tool that names itself, or a batch of which either all or none are
   * taken. The value holds warnings: a replaced tool, a `strict` that had to be dropped. Fails with
   * `invalid-tool`, naming the tool.
   */
  register(name: string, definition: Registration): Outcome<readonly Problem[]>;
  /** Registers one tool that names itself. */
  register(definition: Registration): Outcome<readonly Problem[]>;
  /** Registers a batch, of which either all or none are taken. */
  register(definitions: readonly Registration[]): Outcome<readonly Problem[]>;
  /** Registers a source of tools, which is asked when they are first needed. */
  register(source: ToolSource | ResolveTools): Outcome<readonly Problem[]>;
  /**
   * Loads a file of code and registers what it exports: `resolve` as a source, or else the list `definitions`. Fails
   * with `tool-module` when it does not load or exports neither.
   *
   * @param path absolute, relative to the working folder, or a `file:` address
   */
  register(path: string): Promise<Outcome<readonly Problem[]>>;
  register(
    ...given:
      | [string]
      | [string, Registration]
      | [Registration | readonly Registration[] | ToolSource | ResolveTools]
  ): Outcome<readonly Problem[]> | Promise<Outcome<readonly Problem[]>> {
    const [first] = given;
    if (typeof first === "string") {
      if (given.length === 1) return this.#registerModule(first);
      return this.#registerAll([given[1] as Registration], first);
    }
    if (typeof first === "function") return this.#registerSource({ resolve: first });
    if (isList(first)) return this.#registerAll(first);
    if (isSource(first)) return this.#registerSource(first);
    return this.#registerAll([first]);
  }

  /** Takes a tool away; false when there was none. What registries below have stays there. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** The tool of that name. */
  get(name: string): ToolDefinition | undefined {
    const own = this.#tools.get(name);
    if (own !== undefined) return own;
    for (const registry of this.#below) {
      const found = registry.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether there is a tool of that name. */
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Copies of the tools a request may offer, ordered by the bytes of their names so that prompts stay the same. */
  getAll(options: GetAllOptions = {}): ToolDefinition[] {
    return [...this.#all().values()]
      .filter((definition) => options.includeDisabled || this.isEnabled(definition, options.config))
      .sort((a, b) => byBytes(a.name, b.name))
      .map((definition) => ({ ...definition }));
  }

  /** Whether a tool is offered where nobody names it. One whose function throws is not, which is told. */
  isEnabled({ name, enabled = true }: Pick<ToolDefinition, "name" | "enabled">, config?: Settings): boolean {
    if (typeof enabled !== "function") return enabled;
    if (config === undefined) return false;
    try {
      return enabled(config) === true;
    } catch (thrown) {
      const message = `The tool ${name} is not offered: its enabled failed: ${thrownText(thrown)}`;
      this.#options.onProblem?.({ code: "tool-enabled", message });
      return false;
    }
  }

  /** Number of tools. */
  count(): number {
    return this.#all().size;
  }

  /** Takes all tools and sources away; what sources still answer is not heard any more. */
  clear(): void {
    this.#tools.clear();
    this.#sources.forget();
    this.#problems.length = 0;
    this.#sources = this.#newSources();
  }

  /** Whether a tool has a capability; false when there is no such tool. */
  hasCapability(name: string, capability: string): boolean {
    return this.get(name)?.capabilities?.includes(capability) ?? false;
  }

  /** Whether the tool is registered and can run; a definition alone cannot. */
  isExecutable(name: string): boolean {
    const definition = this.get(name);
    return definition !== undefined && isExecutable(definition);
  }

  /** The registered name nearest to a mistyped one, or null when none is within three edits. */
  closestMatch(name: string): string | null {
    return nearest(name, [...this.#all().keys()].sort(byBytes));
  }

  /** Whether every source has answered; one that nobody needed yet has not. */
  isReady(): boolean {
    return this.#everySources().every((sources) => sources.isReady);
  }

  /** Asks the sources, and calls back when all of them have answered: at once where they have, never inside the call. */
  onReady(callback: () => void): void {
    void this.whenReady().then(() => queueMicrotask(callback));
  }

  /**
   * Asks the sources and waits until all of them have answered.
   *
   * @param signal ends the waiting
   */
  async whenReady(signal?: AbortSignal): Promise<void> {
    // A source may register another one.
    while (!this.isReady() && signal?.aborted !== true) {
      await Promise.all(this.#everySources().map((sources) => sources.ready(signal)));
    }
    this.#tellOfBelow();
  }

  /**
   * Waits until a tool is there, or no source is left that may have it. Asks no other source.
   *
   * @param signal ends the waiting
   */
  async whenKnown(name: string, signal?: AbortSignal): Promise<void> {
    const isThere = () => this.has(name);
    while (!isThere() && signal?.aborted !== true && this.#everySources().some((each) => each.mayGet(name))) {
      await Promise.all(this.#everySources().map((sources) => sources.readyFor(name, isThere, signal)));
    }
    this.#tellOfBelow();
  }

  /** Whether a tool of that name is not there and may still come from a source. */
  mayCome(name: string): boolean {
    return !this.has(name) && this.#everySources().some((sources) => sources.mayGet(name));
  }

  /** The source that may have a tool of that name and could not be asked; null when there is none. */
  unaskedSource(name: string): string | null {
    for (const sources of this.#everySources()) {
      const found = sources.unasked(name);
      if (found !== null) return found;
    }
    return null;
  }

  /** Tells of a source that is not asked, with the reason as the end of a sentence: calls of its tools wait. */
  leaveOut(source: Pick<ToolSource, "mayHave"> & { readonly name: string }, reason: string): void {
    this.#sources.leaveOut(source, reason);
  }

  /** How each source stands. */
  sources(): readonly SourceStatus[] {
    return this.#everySources().flatMap((sources) => sources.all);
  }

  /** See `getAll`. */
  get_all(options?: GetAllOptions): ToolDefinition[] {
    return this.getAll(options);
  }

  /** See `hasCapability`. */
  has_capability(name: string, capability: string): boolean {
    return this.hasCapability(name, capability);
  }

  /** See `isExecutable`. */
  is_executable(name: string): boolean {
    return this.isExecutable(name);
  }

  /** See `closestMatch`. */
  closest_match(name: string): string | null {
    return this.closestMatch(name);
  }

  /** See `isReady`. */
  is_ready(): boolean {
    return this.isReady();
  }

  /** See `onReady`. */
  on_ready(callback: () => void): void {
    this.onReady(callback);
  }

  /** All tools by name, the stronger registry's where two have one. */
  #all(): Map<string, ToolDefinition> {
    const below = [...this.#below].reverse().flatMap((registry) => [...registry.#all()]);
    return new Map([...below, ...this.#tools]);
  }

  /** Tells once of what went wrong with sources below, whoever asked them: they are nobody's in particular. */
  #tellOfBelow(): void {
    for (const problem of this.#below.flatMap((registry) => registry.#everyProblem())) {
      if (this.#told.has(problem)) continue;
      this.#told.add(problem);
      this.#options.onProblem?.(problem);
    }
  }

  #everyProblem(): readonly Problem[] {
    return [...this.#problems, ...this.#below.flatMap((registry) => registry.#everyProblem())];
  }

  #everySources(): readonly Sources[] {
    return [this.#sources, ...this.#below.flatMap((registry) => registry.#everySources())];
  }

  #newSources(): Sources {
    const { defaultTimeout = DEFAULT_TIMEOUT, onProblem, onComplete } = this.#options;
    return new Sources({
      timeout: defaultTimeout,
      register: (given) => this.register(...given as Parameters<RegisterTool>),
      warn: (problem) => {
        this.#problems.push(problem);
        onProblem?.(problem);
      },
      complete: () => onComplete?.(),
    });
  }

  #registerAll(batch: readonly Registration[], name?: string): Outcome<readonly Problem[]> {
    const warnings: Problem[] = [];
    const checked: { definition: ToolDefinition; origin: Registration }[] = [];
    for (const origin of batch) {
      const outcome = checkDefinition(origin, name ?? origin?.name, warnings);
      if (!outcome.ok) return outcome;
      checked.push({ definition: outcome.value, origin });
    }
    for (const { definition, origin } of checked) {
      const before = this.get(definition.name);
      if (before !== undefined && this.#origins.get(before) !== origin) {
        warnings.push({
          code: "tool-replaced",
          message: `The tool ${definition.name} was registered before; the new definition replaces it.`,
        });
      }
      this.#tools.set(definition.name, definition);
      this.#origins.set(definition, origin);
    }
    return success(warnings);
  }

  #registerSource(source: ToolSource): Outcome<readonly Problem[]> {
    const { timeout } = source;
    if (timeout !== undefined && !(typeof timeout === "number" && timeout >= 0)) {
      return failure("invalid-tool", "The timeout of a source of tools is a number of seconds.");
    }
    this.#sources.add(source);
    return success([]);
  }

  async #registerModule(path: string): Promise<Outcome<readonly Problem[]>> {
    const [{ loadModule }, { modulePath }, { processEnvironment }] = await Promise.all([
      import("./registration/module.ts"),
      import("../config/schema/module_path.ts"),
      import("../base/environment.ts"),
    ]);
    const { cwd, home } = processEnvironment();
    const loaded = await loadModule(modulePath(path, cwd, home));
    if (!loaded.ok) return loaded;
    return "source" in loaded.value
      ? this.#registerSource(loaded.value.source)
      : this.#registerAll(loaded.value.definitions);
  }
}

/**
 * Tools of this process: what a program registers once is there in every document that it opens, stronger than the
 * built-in tools, weaker than those handed in with a document.
 *
 * ```ts
 * import { tools } from "flemma";
 *
 * tools.register("greet", { input_schema: { type: "object" }, execute: () => ({ success: true, output: "moin" }) });
 * console.log(tools.has("greet"), tools.unregister("greet")); // true true
 * ```
 */
export const processTools: ToolRegistry = new ToolRegistry();

/** Whether a definition can run at all. */
export function isExecutable(definition: ToolDefinition): boolean {
  return definition.execute !== undefined && definition.executable !== false;
}

function isList<T>(value: T | readonly Registration[]): value is readonly Registration[] {
  return Array.isArray(value);
}

function isSource(value: unknown): value is ToolSource {
  return typeof value === "object" && value !== null &&
    typeof (value as { resolve?: unknown }).resolve === "function";
}
