// The sandbox API for other programs: one object per process, with documents as arguments.

import type { Environment } from "../base/environment.ts";
import { type Outcome, problemLine, success } from "../base/problem.ts";
import type { SandboxSettings } from "../config/settings.generated.ts";
import { registerBuiltinBackends } from "./backends/builtin.ts";
import type { BackendEntry, BackendRegistry } from "./backends/registry.ts";
import { createSandbox, type RunSandbox } from "./sandbox.ts";
import type { Backend, Policy, PreparedCommand } from "./types.ts";

/** Options of `createSandboxApi`: how to find settings and paths of documents. */
export interface SandboxApiOptions<Document> {
  /**
   * Returns the current settings of a document; for null, the settings that apply without a document. `setEnabled`
   * overrides them.
   */
  settings(document: Document | null): SandboxSettings;
  /** The absolute path of a document, or null if it is unsaved. */
  path(document: Document): string | null;
  /** Working directory, home folder and environment variables. */
  readonly environment: Environment;
  /** The backends to choose from. */
  readonly registry: BackendRegistry;
  /** Additional paths that nothing inside the sandbox may change. */
  protect?(document: Document | null): readonly string[];
}

/** Success, or an error message. */
export type SandboxResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** A command to run in place of the given one, or why nothing may run. */
export type Wrapped =
  | {
    readonly ok: true;
    /** Argument list to run. It equals the given command if the sandbox is off, or if `auto` finds no backend. */
    readonly argv: readonly string[];
    readonly wrapped: boolean;
    /**
     * Returns the failure of the backend, if it failed before the command could start. Call this after the command has
     * ended. See `PreparedCommand`.
     */
    readonly setupFailure: PreparedCommand["setupFailure"];
    /** Releases what was prepared. Call it once, after the command has ended. See `PreparedCommand`. */
    readonly dispose: PreparedCommand["dispose"];
  }
  | { readonly ok: false; readonly error: string };

/** Result of looking for a working backend. */
export interface Detected {
  /** Name of the first backend that works, or null. */
  readonly name: string | null;
  /** Reason why no backend works, or null. */
  readonly diagnostic: string | null;
}

/**
 * Sandbox functions for a host. Each call creates the sandbox of its document again, so the settings may change between
 * calls.
 */
export interface SandboxApi<Document> {
  /** The current settings of a document, with the override of `setEnabled` applied. */
  resolveConfig(document?: Document | null): SandboxSettings;
  /** True if the sandbox wraps commands. */
  isEnabled(document?: Document | null): boolean;
  /**
   * Resolves the policy of a document.
   *
   * @throws {Error} if the policy cannot be resolved, for instance because of an unknown URN
   */
  getPolicy(document: Document | null): Policy;
  /** Returns the command to run in place of `inner`, or an error if nothing may run. */
  wrapCommand(inner: readonly string[], document: Document | null): Promise<Wrapped>;
  /** True if tools may write to an absolute path. */
  isPathWritable(path: string, document: Document | null): boolean;
  /** True if tools may read an absolute path. */
  isPathReadable(path: string, document: Document | null): boolean;
  /** True if the configured backend works, or if the sandbox is off. */
  validateBackend(document?: Document | null): Promise<SandboxResult>;
  /** Finds the first backend that works, even if the sandbox is off or the settings name another backend. */
  detectAvailableBackend(document?: Document | null): Promise<Detected>;
  /** Adds a backend, or replaces the one of the same name. */
  register(name: string, backend: Backend): void;
  /** Removes a backend. Returns false if there was none. */
  unregister(name: string): boolean;
  /** The backend of that name, or null. */
  get(name: string): BackendEntry | null;
  /** True if there is a backend of that name. */
  has(name: string): boolean;
  /** All backends in the order they are tried. */
  getAll(): BackendEntry[];
  /** Number of backends. */
  count(): number;
  /** Removes all backends. */
  clear(): void;
  /** Registers the missing built-in backends and forgets which backend was detected. */
  setup(): void;
  /** Turns the sandbox on or off for this process. Overrides every setting. */
  setEnabled(enabled: boolean): void;
  /** Clears the override of `setEnabled`. */
  resetEnabled(): void;
  /** The override of `setEnabled`, or null if it is not set. */
  getOverride(): boolean | null;
}

/** Functions of the sandbox API under the names of the editor plugin flemma.nvim. */
export interface SandboxApiAliases<Document> {
  /** See `resolveConfig`. */
  resolve_config: SandboxApi<Document>["resolveConfig"];
  /** See `isEnabled`. */
  is_enabled: SandboxApi<Document>["isEnabled"];
  /** See `getPolicy`. */
  get_policy: SandboxApi<Document>["getPolicy"];
  /** See `wrapCommand`. */
  wrap_command: SandboxApi<Document>["wrapCommand"];
  /** See `isPathWritable`. */
  is_path_writable: SandboxApi<Document>["isPathWritable"];
  /** See `isPathReadable`. */
  is_path_readable: SandboxApi<Document>["isPathReadable"];
  /** See `validateBackend`. */
  validate_backend: SandboxApi<Document>["validateBackend"];
  /** See `detectAvailableBackend`. */
  detect_available_backend: SandboxApi<Document>["detectAvailableBackend"];
  /** See `getAll`. */
  get_all: SandboxApi<Document>["getAll"];
  /** See `setEnabled`. */
  set_enabled: SandboxApi<Document>["setEnabled"];
  /** See `resetEnabled`. */
  reset_enabled: SandboxApi<Document>["resetEnabled"];
  /** See `getOverride`. */
  get_override: SandboxApi<Document>["getOverride"];
}

/**
 * Creates the sandbox API of a process. Its functions can be detached and called alone.
 *
 * @param options how to find settings and paths of documents, and the backends to choose from
 * @returns the functions; some also have the name that they have in the editor plugin
 */
export function createSandboxApi<Document>(
  options: SandboxApiOptions<Document>,
): SandboxApi<Document> & SandboxApiAliases<Document> {
  const { registry, environment } = options;
  let override: boolean | null = null;

  const resolveConfig = (document: Document | null = null): SandboxSettings => {
    const settings = options.settings(document);
    return override === null ? settings : { ...settings, enabled: override };
  };
  const sandboxOf = (document: Document | null, changes: Partial<SandboxSettings> = {}): RunSandbox =>
    createSandbox({
      settings: { ...resolveConfig(document), ...changes },
      environment,
      document: document === null ? null : options.path(document),
      protect: options.protect?.(document) ?? [],
      registry,
    });
  const backendOf = (document: Document | null, changes?: Partial<SandboxSettings>) =>
    sandboxOf(document, changes).backend();

  const api: SandboxApi<Document> = {
    resolveConfig,
    isEnabled: (document = null) => resolveConfig(document).enabled,
    getPolicy(document) {
      const policy = sandboxOf(document).policy();
      if (!policy.ok) throw new Error(problemLine(policy.problem));
      return policy.value;
    },
    async wrapCommand(inner, document) {
      const prepared = await sandboxOf(document).prepare(inner);
      if (!prepared.ok) return { ok: false, error: problemLine(prepared.problem) };
      const handedOut = prepared.value.handOut();
      if (!handedOut.ok) return { ok: false, error: problemLine(handedOut.problem) };
      const { argv, wrapped, setupFailure, dispose } = prepared.value;
      return { ok: true, argv, wrapped, setupFailure, dispose };
    },
    isPathWritable: (path, document) => sandboxOf(document).isPathWritable(path),
    isPathReadable: (path, document) => sandboxOf(document).isPathReadable(path),
    async validateBackend(document = null) {
      const found = resolveConfig(document).enabled ? await backendOf(document) : success(undefined);
      return resultOf(found);
    },
    async detectAvailableBackend(document = null) {
      const found = await backendOf(document, { enabled: true, backend: "auto" });
      return found.ok
        ? { name: found.value.name, diagnostic: null }
        : { name: null, diagnostic: problemLine(found.problem) };
    },
    ...backendsOf(registry),
    setEnabled(enabled) {
      override = enabled;
    },
    resetEnabled() {
      override = null;
    },
    getOverride: () => override,
  };
  return { ...api, ...aliasesOf(api) };
}

function backendsOf(
  registry: BackendRegistry,
): Pick<
  SandboxApi<never>,
  "register" | "unregister" | "get" | "has" | "getAll" | "count" | "clear" | "setup"
> {
  return {
    register: (name, backend) => registry.register(name, backend),
    unregister: (name) => registry.unregister(name),
    get: (name) => registry.get(name),
    has: (name) => registry.has(name),
    getAll: () => registry.getAll(),
    count: () => registry.count(),
    clear: () => registry.clear(),
    setup: () => registerBuiltinBackends(registry),
  };
}

function aliasesOf<Document>(api: SandboxApi<Document>): SandboxApiAliases<Document> {
  return {
    resolve_config: api.resolveConfig,
    is_enabled: api.isEnabled,
    get_policy: api.getPolicy,
    wrap_command: api.wrapCommand,
    is_path_writable: api.isPathWritable,
    is_path_readable: api.isPathReadable,
    validate_backend: api.validateBackend,
    detect_available_backend: api.detectAvailableBackend,
    get_all: api.getAll,
    set_enabled: api.setEnabled,
    reset_enabled: api.resetEnabled,
    get_override: api.getOverride,
  };
}

function resultOf(outcome: Outcome<unknown>): SandboxResult {
  return outcome.ok ? { ok: true } : { ok: false, error: problemLine(outcome.problem) };
}
