// Creates the execution context of a call. Nothing is computed before a tool asks for it.

import type { Environment } from "../base/environment.ts";
import { problemLine } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import { toolEnvironment } from "../sandbox/policy/tool_environment.ts";
import { expandPath } from "../sandbox/paths/expand.ts";
import { folderOfDocument, resolvePath, workFolderOf } from "../base/paths.ts";
import type { PreparedCommand, Sandbox } from "../sandbox/types.ts";
import type {
  BackgroundRun,
  Caller,
  DiskAccess,
  ExecutionContext,
  JsonSchema,
  Limits,
  LongTextOptions,
  PersonsAnswers,
  ReplacedFile,
  SeenFiles,
  ToolDefinition,
  Truncate,
} from "./definition.ts";
import { type OverflowOptions, OverflowText, truncateWithOverflow } from "./overflow/long_text.ts";
import { formatSize, MAX_LINE_CHARS, truncateHead, truncateLine, truncateTail } from "./truncate.ts";

/** Options for creating a context. */
export interface ContextOptions {
  /** The tool. */
  readonly definition: Pick<ToolDefinition, "name" | "config_schema">;
  /** Id of the call. */
  readonly toolId: string;
  /** Absolute path of the document, or null when it is unsaved. */
  readonly document: string | null;
  /** Settings of the document. */
  readonly settings: Pick<Settings, "tools">;
  /** Working folder, home folder and environment variables. */
  readonly environment: Environment;
  /** The sandbox for commands. */
  readonly sandbox: Sandbox;
  /** Signal that aborts when the call is canceled. */
  readonly signal: AbortSignal;
  /** Who made the call. */
  readonly caller?: Caller;
  /** Called with output while the tool runs. */
  onOutput?(chunk: string): void;
  /** State of each file when a call of this document last saw it. */
  readonly seen?: SeenFiles;
  /** Called with the real path of a file that the tool changed. */
  onFileChanged?(path: string): void;
  /** Saves a file's content before the tool changes it. */
  keepReplaced?(file: ReplacedFile): Promise<() => Promise<void>>;
  /** Called with what the tool waits for before it starts. */
  onWait?(message: string): void;
  /** Performs the built-in tools' file work. @default this process */
  readonly disk?: DiskAccess;
  /** Set if a command runs as a background job. */
  readonly background?: BackgroundRun;
  /** The person's answers to what the server of the tool asked in this call. */
  readonly answers?: PersonsAnswers;
}

/** A wrapped command, or why nothing may run. */
export type WrappedCommand =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** The context, with the additional names that plugin tools use. */
export interface PluginContext extends ExecutionContext {
  /** See `filename`. */
  readonly __filename: string | null;
  /** See `dirname`. */
  readonly __dirname: string | null;
  /** See `toolId`. */
  readonly tool_id: string;
  /** The sandbox, with the plugin's names in addition to flemma's. */
  readonly sandbox: PluginSandbox;
  /** The truncation functions, with the plugin's names in addition to flemma's. */
  readonly truncate: PluginTruncate;
  /** See `getConfig`. */
  get_config(): Record<string, unknown> | null;
  /** Releases what was prepared for the call. */
  release(): Promise<void>;
}

/** The sandbox as tools see it. */
export interface PluginSandbox extends Sandbox {
  /** Wraps a command for `spawn`. What was prepared for the command is released when the tool ends. */
  wrapCommand(argv: readonly string[]): Promise<WrappedCommand>;
  /** See `wrapCommand`. */
  wrap_command(argv: readonly string[]): Promise<WrappedCommand>;
  /** See `isPathWritable`. */
  is_path_writable(path: string): boolean;
}

/** The truncation functions under both spellings. */
export interface PluginTruncate extends Truncate {
  /** See `truncateHead`. */
  readonly truncate_head: Truncate["truncateHead"];
  /** See `truncateTail`. */
  readonly truncate_tail: Truncate["truncateTail"];
  /** See `truncateLine`. */
  readonly truncate_line: Truncate["truncateLine"];
  /** See `truncateWithOverflow`. */
  readonly truncate_with_overflow: Truncate["truncateWithOverflow"];
  /** See `longText`. */
  readonly long_text: Truncate["longText"];
  /** See `formatSize`. */
  readonly format_size: Truncate["formatSize"];
}

/**
 * Creates the context of one call. Reading `cwd` throws if its setting is invalid; `runTool` turns that into an error
 * result.
 */
export function createContext(options: ContextOptions): PluginContext {
  return new CallContext(options);
}

class CallContext implements PluginContext {
  readonly #options: ContextOptions;
  readonly #prepared: PreparedCommand[] = [];
  #listening = true;
  #cwd: string | undefined;
  #env: Readonly<Record<string, string>> | undefined;
  #sandbox: PluginSandbox | undefined;
  #truncate: PluginTruncate | undefined;

  readonly document: string | null;
  readonly filename: string | null;
  readonly dirname: string | null;
  readonly __filename: string | null;
  readonly __dirname: string | null;
  readonly toolId: string;
  readonly tool_id: string;
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly environment: Environment;
  readonly path: { resolve(path: string): string };

  constructor(options: ContextOptions) {
    this.#options = options;
    const { document, toolId, environment } = options;
    this.document = this.filename = this.__filename = document;
    this.dirname = this.__dirname = document === null ? null : folderOfDocument(document);
    this.toolId = this.tool_id = toolId;
    this.timeout = options.settings.tools.default_timeout;
    this.signal = options.signal;
    this.environment = environment;
    const base = { folder: workFolderOf(environment, document), home: environment.home };
    this.path = { resolve: (path) => resolvePath(path, base) };
    // Tools may extract these functions and call them without the context.
    this.getConfig = this.getConfig.bind(this);
    this.get_config = this.getConfig;
    this.onOutput = this.onOutput.bind(this);
  }

  readonly get_config: () => Record<string, unknown> | null;

  get cwd(): string {
    return this.#cwd ??= configuredFolder(this.#options);
  }

  get env(): Readonly<Record<string, string>> {
    return this.#env ??= Object.freeze({
      ...toolEnvironment(this.environment.variables, this.#options.settings.tools.env, {
        sandboxed: this.#options.sandbox.enabled,
        kept: this.#options.sandbox.socketVariables?.(),
        added: this.#options.sandbox.addedVariables?.(),
      }),
      ...stringMembers(this.getConfig()?.env),
    });
  }

  get sandbox(): PluginSandbox {
    return this.#sandbox ??= pluginSandbox(this.#options.sandbox, this.#prepared);
  }

  get truncate(): PluginTruncate {
    return this.#truncate ??= pluginTruncate(this.#options);
  }

  getConfig(): Record<string, unknown> | null {
    return structuredClone(configOf(this.#options));
  }

  onOutput(chunk: string): void {
    if (!this.#listening) return;
    try {
      this.#options.onOutput?.(chunk);
    } catch {
      // If progress cannot be displayed, the tool must not fail, because progress is only for display. No more output
      // is sent to the display.
      this.#listening = false;
    }
  }

  get disk(): DiskAccess | undefined {
    return this.#options.disk;
  }

  get answers(): PersonsAnswers | undefined {
    return this.#options.answers;
  }

  get background(): BackgroundRun | undefined {
    return this.#options.background;
  }

  get caller(): Caller | undefined {
    return this.#options.caller;
  }

  get seen(): SeenFiles | undefined {
    return this.#options.seen;
  }

  onFileChanged(path: string): void {
    this.#options.onFileChanged?.(path);
  }

  async keepReplaced(file: ReplacedFile): Promise<() => Promise<void>> {
    return await this.#options.keepReplaced?.(file) ?? (() => Promise.resolve());
  }

  onWait(message: string): void {
    this.#options.onWait?.(message);
  }

  async release(): Promise<void> {
    await Promise.all(this.#prepared.splice(0).map((prepared) => prepared.dispose()));
  }
}

/** A tool, and what its settings depend on. */
type ToolPlace = Pick<ContextOptions, "settings" | "document" | "environment"> & {
  readonly definition: Pick<ToolDefinition, "name" | "config_schema">;
};

/** Returns the settings `tools.NAME`, with the defaults of the tool's schema; null if there are neither. */
function configOf({ definition, settings }: Pick<ToolPlace, "definition" | "settings">) {
  const defaults = schemaDefaults(definition.config_schema);
  const set = settings.tools.named[definition.name];
  return defaults === null && set === undefined ? null : { ...defaults, ...set };
}

/** Returns the working folder of a tool. Throws if its setting is invalid. */
export function configuredFolder(tool: ToolPlace): string {
  return workingFolder(configOf(tool)?.cwd, tool);
}

/**
 * Returns the working folder of a tool from the setting `tools.NAME.cwd`. If it is unset, or has no meaning for this
 * document, returns the folder in which the program was started.
 */
function workingFolder(
  setting: unknown,
  { definition, document, environment }: {
    readonly definition: Pick<ToolDefinition, "name">;
    readonly document: string | null;
    readonly environment: Environment;
  },
): string {
  if (typeof setting !== "string" || setting === "") return environment.cwd;
  const expansion = expandPath(setting, { environment, document });
  if (expansion.kind === "unknown-urn") {
    throw new Error(
      `The setting tools.${definition.name}.cwd has the unknown value ${setting}.`,
    );
  }
  if (expansion.kind === "dropped") return environment.cwd;
  return resolvePath(expansion.path, { folder: environment.cwd, home: environment.home });
}

/** The sandbox of the run with the plugin's names added. */
function pluginSandbox(sandbox: Sandbox, prepared: PreparedCommand[]): PluginSandbox {
  const wrapCommand = async (argv: readonly string[]): Promise<WrappedCommand> => {
    const outcome = await sandbox.prepare(argv);
    if (!outcome.ok) return { ok: false, error: problemLine(outcome.problem) };
    prepared.push(outcome.value);
    const handedOut = outcome.value.handOut();
    if (!handedOut.ok) return { ok: false, error: problemLine(handedOut.problem) };
    return { ok: true, argv: outcome.value.argv };
  };
  const added: Record<PropertyKey, unknown> = {
    wrapCommand,
    wrap_command: wrapCommand,
    is_path_writable: (path: string): boolean => sandbox.isPathWritable(path),
  };
  const members: ProxyHandler<Sandbox> = {
    get(target, name) {
      if (Object.hasOwn(added, name)) return added[name];
      const member: unknown = Reflect.get(target, name);
      // Tools may extract members and call them without the object.
      return typeof member === "function" ? member.bind(target) : member;
    },
  };
  return new Proxy(sandbox, members) as PluginSandbox;
}

function pluginTruncate(options: ContextOptions): PluginTruncate {
  const { definition, document, environment, sandbox, settings, toolId } = options;
  const { max_lines, max_bytes } = settings.tools.truncate;
  const within = (limits: Limits = {}): Limits => ({ maxLines: max_lines, maxBytes: max_bytes, ...limits });
  const overflow = ({ direction, source, id, maxLines, maxBytes }: LongTextOptions): OverflowOptions => ({
    direction,
    source: source ?? definition.name,
    id: id ?? toolId,
    document,
    environment,
    settings: settings.tools.truncate,
    strayLink: (path) => sandbox.strayLink?.(path) ?? null,
    maxLines,
    maxBytes,
  });
  const members: Truncate = {
    MAX_LINES: max_lines,
    MAX_BYTES: max_bytes,
    MAX_LINE_CHARS,
    truncateHead: (text, limits) => truncateHead(text, within(limits)),
    truncateTail: (text, limits) => truncateTail(text, within(limits)),
    truncateLine,
    formatSize,
    truncateWithOverflow: (text, given) => truncateWithOverflow(text, overflow(given)),
    longText: (given) => new OverflowText(overflow(given)),
  };
  return {
    ...members,
    truncate_head: members.truncateHead,
    truncate_tail: members.truncateTail,
    truncate_line: members.truncateLine,
    truncate_with_overflow: members.truncateWithOverflow,
    long_text: members.longText,
    format_size: members.formatSize,
  };
}

/** Collects the `default`s of a schema's properties; null if it declares none. */
function schemaDefaults(schema: JsonSchema | undefined): Record<string, unknown> | null {
  const properties = schema?.properties;
  if (typeof properties !== "object" || properties === null) return null;
  const defaults = Object.entries(properties).flatMap(([name, member]) =>
    typeof member === "object" && member !== null && "default" in member
      ? [[name, member.default] as const]
      : []
  );
  return defaults.length === 0 ? null : Object.fromEntries(defaults);
}

function stringMembers(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
