// The sandbox as other programs use it (sandbox section 9): one object for a process, with documents as arguments.

import type { Environment } from "../base/environment.ts";
import { inOneLine, type Outcome, success } from "../base/problem.ts";
import type { SandboxSettings } from "../config/settings/sandbox.ts";
import { registerBuiltinBackends } from "./backends/builtin.ts";
import type { BackendEntry, BackendRegistry } from "./backends/registry.ts";
import { createSandbox, type RunSandbox } from "./sandbox.ts";
import type { Backend, Policy, Prepared } from "./types.ts";

/** Where documents, their settings and the world come from. */
export interface SandboxApiOptions<Document> {
  /** The settings in force for a document; for null those without a document. The session switch is put on top. */
  settings(document: Document | null): SandboxSettings;
  /** The document's absolute path, or null when it is unsaved. */
  path(document: Document): string | null;
  /** Directory, home and variables. */
  readonly environment: Environment;
  /** The backends to choose from. */
  readonly registry: BackendRegistry;
  /** Further paths nobody inside may change. */
  protect?(document: Document | null): readonly string[];
}

/** `{ok: true}`, or why not. */
export type Result = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** A command to run instead of the one that was given, or why nothing may run. */
export type Wrapped =
  | {
    readonly ok: true;
    /** The command itself when the sandbox is off, or when `auto` finds no backend. */
    readonly argv: readonly string[];
    readonly wrapped: boolean;
    /** As in `Prepared`: after the command, whether the backend failed before it could start. */
    readonly setupFailure: Prepared["setupFailure"];
    /** As in `Prepared`: to be called once when the command is over. */
    readonly dispose: Prepared["dispose"];
  }
  | { readonly ok: false; readonly error: string };

/** Which backend works here. */
export interface Detected {
  /** Name of the first backend that works, or null. */
  readonly name: string | null;
  /** Why none does, or null. */
  readonly diagnostic: string | null;
}

/** The functions of section 9. Each makes the sandbox of its document anew, so settings may change in between. */
export interface SandboxApi<Document> {
  /** The settings in force, the switch of this process on top. */
  resolveConfig(document?: Document | null): SandboxSettings;
  /** Whether commands are wrapped. */
  isEnabled(document?: Document | null): boolean;
  /** Throws an `Error` for a policy that cannot be resolved, such as one with an unknown URN. */
  getPolicy(document: Document | null): Policy;
  /** The command as it has to be run. */
  wrapCommand(inner: readonly string[], document: Document | null): Promise<Wrapped>;
  /** Whether tools may write to an absolute path. */
  isPathWritable(path: string, document: Document | null): boolean;
  /** Whether tools may read an absolute path. */
  isPathReadable(path: string, document: Document | null): boolean;
  /** Ok when the sandbox is off; else whether the backend of the settings works. */
  validateBackend(document?: Document | null): Promise<Result>;
  /** Ignores whether the sandbox is on, and which backend is set. */
  detectAvailableBackend(document?: Document | null): Promise<Detected>;
  /** Adds a backend; the same name again replaces it. */
  register(name: string, backend: Backend): void;
  /** Takes a backend away; false when there was none. */
  unregister(name: string): boolean;
  /** The backend of that name; null when there is none. */
  get(name: string): BackendEntry | null;
  /** Whether there is a backend of that name. */
  has(name: string): boolean;
  /** All backends in the order in which they are tried. */
  getAll(): BackendEntry[];
  /** Number of backends. */
  count(): number;
  /** Takes all backends away. */
  clear(): void;
  /** Registers the built-in backends that are missing and forgets what was detected. */
  setup(): void;
  /** Switches the sandbox for this process, above every setting. */
  setEnabled(enabled: boolean): void;
  /** Takes the switch of this process back. */
  resetEnabled(): void;
  /** The switch of this process; null when it is not set. */
  getOverride(): boolean | null;
}

/** The same under the names of the plugin. */
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

/** Makes the object. Its functions can be taken out and called alone. */
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
      if (!policy.ok) throw new Error(inOneLine(policy.problem));
      return policy.value;
    },
    async wrapCommand(inner, document) {
      const prepared = await sandboxOf(document).prepare(inner);
      if (!prepared.ok) return { ok: false, error: inOneLine(prepared.problem) };
      const handedOut = prepared.value.handOut();
      if (!handedOut.ok) return { ok: false, error: inOneLine(handedOut.problem) };
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
        : { name: null, diagnostic: inOneLine(found.problem) };
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

/** The functions that are about backends, whatever the document. */
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

function resultOf(outcome: Outcome<unknown>): Result {
  return outcome.ok ? { ok: true } : { ok: false, error: inOneLine(outcome.problem) };
}
