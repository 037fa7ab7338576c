// Registry of tools by name, with their origins and rights, and of the sources that bring more.

import { byBytes } from "../base/bytes.ts";
import { nearest } from "../base/names.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { RegisteredTool, Registration, ToolDefinition, ToolOrigin } from "./definition.ts";
import { checkDefinition } from "./registration/check.ts";
import { ToolSources } from "./registration/sources.ts";
import type { AskedSources, ResolveTools, SourceStatus, ToolSource } from "./registration/types.ts";

/** Options that select the tools to return. */
export interface GetAllOptions {
  /** Also return tools that are offered only when a document names them. @default false */
  readonly includeDisabled?: boolean;
  /** Settings passed to function-typed `enabled`. @default such tools count as disabled */
  readonly config?: Settings;
}

/** Options for creating a registry. */
export interface RegistryOptions {
  /** Seconds for a source that sets no timeout. @default 30 */
  readonly defaultTimeout?: number;
  /**
   * Registries whose tools and sources are included, highest precedence first. The registry's own tools take
   * precedence over all of them.
   * @default none
   */
  readonly below?: readonly ToolRegistry[];
  /** Called with problems that occur after `register` returned: in a source, or in a function-typed `enabled`. */
  readonly onProblem?: (problem: Problem) => void;
  /** Called when the last started source has ended. */
  readonly onComplete?: () => void;
}

/** Seconds for a source when neither it nor the registry sets a timeout. */
const DEFAULT_TIMEOUT = 30;

/** Holds tool definitions and sources; `register` accepts every form. */
export class ToolRegistry {
  readonly #options: RegistryOptions;
  readonly #below: readonly ToolRegistry[];
  readonly #tools = new Map<string, RegisteredTool>();
  /** The object that each tool was registered with. Registering the same object again is not a replacement. */
  readonly #given = new WeakMap<RegisteredTool, Registration>();
  /** Problems of the registry's own sources. */
  readonly #problems: Problem[] = [];
  /** Problems of lower registries' sources that were already reported. */
  readonly #reported = new WeakSet<Problem>();
  /** Sentences about tools that are not offered, which were already reported. */
  readonly #refused = new Set<string>();
  #sources: ToolSources;

  /** Creates an empty registry. */
  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.#below = options.below ?? [];
    this.#sources = this.#newSources();
  }

  /**
   * Registers one tool under a name, one tool that names itself, or a batch of which either all or none are registered.
   * The value holds warnings: a replaced tool, a `strict` that had to be dropped. Fails with `invalid-tool`, naming the
   * tool.
   */
  register(name: string, definition: Registration): Outcome<readonly Problem[]>;
  /** Registers one tool that names itself. */
  register(definition: Registration): Outcome<readonly Problem[]>;
  /** Registers a batch, of which either all or none are registered. */
  register(definitions: readonly Registration[]): Outcome<readonly Problem[]>;
  /** Registers a source of tools, which is asked when its tools are first needed. */
  register(source: ToolSource | ResolveTools): Outcome<readonly Problem[]>;
  /**
   * Loads a module and registers its exports: `resolve` as a source, or else the list `definitions`. Fails with
   * `tool-module` if the module does not load or exports neither.
   *
   * @param path absolute path, path relative to the working folder, or `file:` URL
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
    return this.#registerAll("host", [given[1] as Registration], { name: first });
  }

  /**
   * Registers what the program itself brings, as `register` does but under its true origin.
   *
   * @param file absolute path of the module that defines the tools
   */
  registerFrom(
    origin: ToolOrigin,
    given: Registration | readonly Registration[] | ToolSource | ResolveTools,
    file: string | null = null,
  ): Outcome<readonly Problem[]> {
    if (typeof given === "function") return this.#registerSource(origin, { resolve: given });
    if (isSource(given)) return this.#registerSource(origin, given);
    return this.#registerAll(origin, isList(given) ? given : [given], { file });
  }

  /** Removes a tool; false if there was none. Tools of lower registries are not removed. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** Returns the tool with this name. */
  get(name: string): RegisteredTool | undefined {
    const holder = this.#layers.find((registry) => registry.#tools.has(name));
    return holder === undefined ? undefined : holder.#tools.get(name);
  }

  /** True if a tool with this name exists. */
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Copies of the tools a request may offer, sorted by the bytes of their names so that prompts stay stable. */
  getAll(options: GetAllOptions = {}): RegisteredTool[] {
    return [...this.#all().values()]
      .filter((definition) => options.includeDisabled || this.isEnabled(definition, options.config))
      .sort((a, b) => byBytes(a.name, b.name))
      .map((definition) => ({ ...definition }));
  }

  /**
   * True if a tool is offered by default. If the tool's `enabled` function throws, the tool is not offered, and the
   * problem is reported once.
   */
  isEnabled({ name, enabled = true }: Pick<ToolDefinition, "name" | "enabled">, config?: Settings): boolean {
    if (typeof enabled !== "function") return enabled;
    if (config === undefined) return false;
    const refuse = (why: string): false => {
      const message = `The tool ${name} is not offered: its enabled function ${why}`;
      // The tools are listed for each request.
      if (!this.#refused.has(message)) this.#options.onProblem?.({ code: "tool-enabled", message });
      this.#refused.add(message);
      return false;
    };
    try {
      const answer: unknown = enabled(config);
      if (typeof answer === "boolean") return answer;
      if (answer instanceof Promise) answer.catch(() => {}); // Whatever it becomes, it is not an answer.
      return refuse("must return true or false.");
    } catch (thrown) {
      return refuse(`failed: ${thrownText(thrown)}`);
    }
  }

  /** Number of tools. */
  count(): number {
    return this.#all().size;
  }

  /** Removes all tools and sources. If a source answers later, its answer is ignored. */
  clear(): void {
    this.#tools.clear();
    this.#sources.forget();
    this.#problems.length = 0;
    this.#sources = this.#newSources();
  }

  /** True if a tool has a capability; false if there is no such tool. */
  hasCapability(name: string, capability: string): boolean {
    return this.get(name)?.capabilities?.includes(capability) ?? false;
  }

  /** True if the tool is registered and has an implementation to run. */
  isExecutable(name: string): boolean {
    const definition = this.get(name);
    return definition !== undefined && isExecutable(definition);
  }

  /** Registered name nearest to a mistyped one, or null if none is within three edits. */
  closestMatch(name: string): string | null {
    return nearest(name, [...this.#all().keys()].sort(byBytes));
  }

  /** True if every source has answered. A source that was not asked yet has not answered. */
  isReady(): boolean {
    return this.#layers.every((registry) => registry.#sources.isReady);
  }

  /** Asks the sources and calls back when all have answered, never synchronously. */
  onReady(callback: () => void): void {
    void this.whenReady().then(() => queueMicrotask(callback));
  }

  /**
   * Asks the sources and waits until all have answered.
   *
   * @param signal ends the waiting
   */
  async whenReady(signal?: AbortSignal): Promise<void> {
    // A source may register another source.
    while (!this.isReady() && signal?.aborted !== true) {
      await Promise.all(this.#layers.map((registry) => registry.#sources.ready(signal)));
    }
    this.#tellOfBelow();
  }

  /**
   * Waits until no source can bring or replace the tool with this name. Asks only the sources that may have this tool.
   *
   * @param signal ends the waiting
   * @param asked which sources to wait for
   */
  async whenKnown(name: string, signal?: AbortSignal, asked: AskedSources = "all"): Promise<void> {
    while (signal?.aborted !== true && this.mayCome(name, asked)) {
      await Promise.all(
        this.#deciding(name).map((registry) => registry.#sources.readyFor(name, asked, signal)),
      );
    }
    this.#tellOfBelow();
  }

  /** True if a source that has not answered may bring or replace the tool with this name. */
  mayCome(name: string, asked: AskedSources = "all"): boolean {
    return this.#deciding(name).some((registry) => registry.#sources.mayGet(name, asked));
  }

  /**
   * Returns the name of the source that may bring or replace this tool but could not be asked; null if there is none.
   */
  unaskedSource(name: string): string | null {
    for (const registry of this.#deciding(name)) {
      const found = registry.#sources.unasked(name);
      if (found !== null) return found;
    }
    return null;
  }

  /**
   * Records a source that will not be asked; `reason` says why, as the end of a sentence. Calls of tools that this
   * source may have wait for the person.
   */
  leaveOut(source: Pick<ToolSource, "mayHave"> & { readonly name: string }, reason: string): void {
    this.#sources.leaveOut(source, reason);
  }

  /** Status of each source. */
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

  #all(): Map<string, RegisteredTool> {
    return new Map(this.#layers.toReversed().flatMap((registry) => [...registry.#tools]));
  }

  /** This registry and the lower ones, highest precedence first. */
  get #layers(): readonly ToolRegistry[] {
    return [this, ...this.#below.flatMap((registry) => registry.#layers)];
  }

  /** Registries whose sources may affect a name: a tool takes precedence over the sources of lower registries. */
  #deciding(name: string): readonly ToolRegistry[] {
    const holder = this.#layers.findIndex((registry) => registry.#tools.has(name));
    return holder < 0 ? this.#layers : this.#layers.slice(0, holder + 1);
  }

  /** Reports each problem of a lower registry's source once, no matter who asked the source. */
  #tellOfBelow(): void {
    for (const problem of this.#layers.slice(1).flatMap((registry) => registry.#problems)) {
      if (this.#reported.has(problem)) continue;
      this.#reported.add(problem);
      this.#options.onProblem?.(problem);
    }
  }

  #newSources(): ToolSources {
    const { defaultTimeout = DEFAULT_TIMEOUT, onProblem, onComplete } = this.#options;
    return new ToolSources({
      timeout: defaultTimeout,
      register: (origin, given, file) =>
        given.length === 2
          ? this.#registerAll(origin, [given[1]], { name: given[0], file })
          : this.registerFrom(origin, given[0], file),
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
    { name, file = null }: { readonly name?: string; readonly file?: string | null } = {},
  ): Outcome<readonly Problem[]> {
    const warnings: Problem[] = [];
    const checked: { definition: RegisteredTool; given: Registration }[] = [];
    for (const given of batch) {
      const outcome = checkDefinition(given, name ?? given?.name, origin, warnings, file);
      if (!outcome.ok) return outcome;
      checked.push({ definition: outcome.value, given });
    }
    for (const { definition, given } of checked) {
      const before = this.get(definition.name);
      if (before !== undefined && this.#given.get(before) !== given) {
        warnings.push({
          code: "tool-replaced",
          message: `The tool ${definition.name} was already registered; the new definition replaces it.`,
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
      return failure("invalid-tool", "The timeout of a source of tools must be a number of seconds.");
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
    const file = modulePath(path, cwd, home);
    const loaded = await loadModule(file);
    if (!loaded.ok) return loaded;
    return "source" in loaded.value
      ? this.#registerSource("module", loaded.value.source)
      : this.#registerAll("module", loaded.value.definitions, { file });
  }
}

/**
 * Tools of this process. A tool registered here is available in every document the program opens. It takes precedence
 * over built-in tools, but not over tools passed in with a document.
 *
 * ```ts
 * import { tools } from "flemma";
 *
 * tools.register("greet", { input_schema: { type: "object" }, execute: () => ({ success: true, output: "moin" }) });
 * console.log(tools.has("greet"), tools.unregister("greet")); // true true
 * ```
 */
export const processTools: ToolRegistry = new ToolRegistry();

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
