// The tools of a run by name, each with its origin and rights, and the sources that more of them come from.

import { byBytes } from "../base/bytes.ts";
import { nearest } from "../base/names.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { RegisteredTool, Registration, ToolDefinition, ToolOrigin } from "./definition.ts";
import { checkDefinition } from "./registration/check.ts";
import { Sources } from "./registration/sources.ts";
import type { AskedSources, ResolveTools, SourceStatus, ToolSource } from "./registration/types.ts";

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
  readonly #tools = new Map<string, RegisteredTool>();
  /** The object each tool was registered with: registering it again is no replacement. */
  readonly #given = new WeakMap<RegisteredTool, Registration>();
  /** What went wrong with the own sources. */
  readonly #problems: Problem[] = [];
  /** What went wrong with sources below and was told already. */
  readonly #reported = new WeakSet<Problem>();
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
    if (typeof first !== "string") return this.registerFrom("host", first);
    if (given.length === 1) return this.#registerModule(first);
    return this.#registerAll("host", [given[1] as Registration], first);
  }

  /** Registers like `register` what the program itself brings in, under its true origin. */
  registerFrom(
    origin: ToolOrigin,
    given: Registration | readonly Registration[] | ToolSource | ResolveTools,
  ): Outcome<readonly Problem[]> {
    if (typeof given === "function") return this.#registerSource(origin, { resolve: given });
    if (isList(given)) return this.#registerAll(origin, given);
    return isSource(given) ? this.#registerSource(origin, given) : this.#registerAll(origin, [given]);
  }

  /** Takes a tool away; false when there was none. What registries below have stays there. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** The tool of that name. */
  get(name: string): RegisteredTool | undefined {
    const holder = this.#layers.find((registry) => registry.#tools.has(name));
    return holder === undefined ? undefined : holder.#tools.get(name);
  }

  /** Whether there is a tool of that name. */
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Copies of the tools a request may offer, ordered by the bytes of their names so that prompts stay the same. */
  getAll(options: GetAllOptions = {}): RegisteredTool[] {
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
    return this.#layers.every((registry) => registry.#sources.isReady);
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
      await Promise.all(this.#layers.map((registry) => registry.#sources.ready(signal)));
    }
    this.#tellOfBelow();
  }

  /**
   * Waits until no source can bring or replace the tool of that name any more. Asks no other source.
   *
   * @param signal ends the waiting
   * @param asked which sources are waited for
   */
  async whenKnown(name: string, signal?: AbortSignal, asked: AskedSources = "all"): Promise<void> {
    while (signal?.aborted !== true && this.mayCome(name, asked)) {
      await Promise.all(
        this.#deciding(name).map((registry) => registry.#sources.readyFor(name, asked, signal)),
      );
    }
    this.#tellOfBelow();
  }

  /** Whether a source that has not answered may bring or replace the tool of that name. */
  mayCome(name: string, asked: AskedSources = "all"): boolean {
    return this.#deciding(name).some((registry) => registry.#sources.mayGet(name, asked));
  }

  /** The source that may bring or replace the tool of that name and could not be asked; null when there is none. */
  unaskedSource(name: string): string | null {
    for (const registry of this.#deciding(name)) {
      const found = registry.#sources.unasked(name);
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
    return this.#layers.flatMap((registry) => registry.#sources.all);
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
  #all(): Map<string, RegisteredTool> {
    return new Map(this.#layers.toReversed().flatMap((registry) => [...registry.#tools]));
  }

  /** This registry and those below it, the strongest first. */
  get #layers(): readonly ToolRegistry[] {
    return [this, ...this.#below.flatMap((registry) => registry.#layers)];
  }

  /** The registries whose sources have a say in a name: a tool outranks the sources of weaker registries. */
  #deciding(name: string): readonly ToolRegistry[] {
    const holder = this.#layers.findIndex((registry) => registry.#tools.has(name));
    return holder < 0 ? this.#layers : this.#layers.slice(0, holder + 1);
  }

  /** Tells once of what went wrong with sources below, whoever asked them: they are nobody's in particular. */
  #tellOfBelow(): void {
    for (const problem of this.#layers.slice(1).flatMap((registry) => registry.#problems)) {
      if (this.#reported.has(problem)) continue;
      this.#reported.add(problem);
      this.#options.onProblem?.(problem);
    }
  }

  #newSources(): Sources {
    const { defaultTimeout = DEFAULT_TIMEOUT, onProblem, onComplete } = this.#options;
    return new Sources({
      timeout: defaultTimeout,
      register: (origin, given) =>
        given.length === 2
          ? this.#registerAll(origin, [given[1]], given[0])
          : this.registerFrom(origin, given[0]),
      warn: (problem) => {
        this.#problems.push(problem);
        onProblem?.(problem);
      },
      complete: () => onComplete?.(),
    });
  }

  #registerAll(
    origin: ToolOrigin,
    batch: readonly Registration[],
    name?: string,
  ): Outcome<readonly Problem[]> {
    const warnings: Problem[] = [];
    const checked: { definition: RegisteredTool; given: Registration }[] = [];
    for (const given of batch) {
      const outcome = checkDefinition(given, name ?? given?.name, origin, warnings);
      if (!outcome.ok) return outcome;
      checked.push({ definition: outcome.value, given });
    }
    for (const { definition, given } of checked) {
      const before = this.get(definition.name);
      if (before !== undefined && this.#given.get(before) !== given) {
        warnings.push({
          code: "tool-replaced",
          message: `The tool ${definition.name} was registered before; the new definition replaces it.`,
        });
      }
      this.#tools.set(definition.name, definition);
      this.#given.set(definition, given);
    }
    return success(warnings);
  }

  #registerSource(origin: ToolOrigin, source: ToolSource): Outcome<readonly Problem[]> {
    const { timeout } = source;
    if (timeout !== undefined && !(typeof timeout === "number" && timeout >= 0)) {
      return failure("invalid-tool", "The timeout of a source of tools is a number of seconds.");
    }
    this.#sources.add(source, origin);
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
      ? this.#registerSource("module", loaded.value.source)
      : this.#registerAll("module", loaded.value.definitions);
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
