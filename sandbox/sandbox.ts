// The sandbox of one run: policy fixed when it is made, backend found when it is needed, commands wrapped by it.

import type { Environment } from "../config/environment.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../config/problem.ts";
import type { SandboxSettings } from "../config/settings.ts";
import { backends } from "./backends.ts";
import { detect } from "./detect.ts";
import { hostOf } from "./host.ts";
import { type ResolvedPolicy, resolvePolicy } from "./policy.ts";
import { mountablePolicy } from "./prepare.ts";
import { EMPTY_COMMAND, forgetProbe, probe } from "./probe.ts";
import { existing, type ProtectedPath, protectedPaths, realProtected } from "./protect.ts";
import { expandHome, isInside, parentFolder, realPath } from "./realpath.ts";
import type { BackendEntry, BackendRegistry } from "./registry.ts";
import { makeRuntimeFolder, runtimeFolders } from "./runtime.ts";
import type { BackendPreparation, Host, Policy, Prepared, Sandbox } from "./types.ts";

export interface SandboxOptions {
  readonly settings: SandboxSettings;
  readonly environment: Environment;
  /** Path of the document, or null when it is unsaved. */
  readonly document: string | null;
  /** Paths nobody inside may change: document, settings, state. They need not exist. */
  readonly protect: readonly string[];
  /** @default the registry of this process */
  readonly registry?: BackendRegistry;
}

/** Makes the sandbox of a run. Touches nothing; what does not work is told by the answers (S11, S13). */
export function createSandbox(options: SandboxOptions): RunSandbox {
  return new RunSandbox(options);
}

/** A sandbox that can also describe itself, for status and for who writes protected files. */
export class RunSandbox implements Sandbox {
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  readonly host: Host;
  readonly #settings: SandboxSettings;
  readonly #registry: BackendRegistry;
  readonly #policy: Outcome<ResolvedPolicy>;
  /** As they were named, to be resolved anew whenever they matter. */
  readonly #protected: readonly ProtectedPath[];
  /** Where they led when the run began. */
  readonly #protectedThen: readonly string[];
  readonly #notices = new Map<string, Problem>();
  #detected: { generation: number; answer: Promise<Outcome<BackendEntry>> } | undefined;
  #active = 0;

  constructor({ settings, environment, document, protect, registry = backends }: SandboxOptions) {
    this.#settings = structuredClone(settings);
    this.#registry = registry;
    this.enabled = settings.enabled;
    this.mode = settings.backend;
    const policy = resolvePolicy(settings, { environment, document });
    const writable = policy.ok ? policy.value.rw_paths : [];
    const workplaces = [
      realPath(environment.cwd, "/"),
      document === null ? null : folderOf(document, environment.cwd),
    ].filter((place) => place !== null);
    // The private folder holds what this program believes about the sandbox, so it must stay out of reach too.
    this.#protected = protectedPaths([...protect, ...runtimeFolders(environment)], writable, workplaces);
    // What counts only by its present kind, `.git`, is not among them: a repository may be made during the run.
    this.#protectedThen = realProtected(
      this.#protected.filter(({ unlessFolder }) => !unlessFolder),
      environment.cwd,
    );
    this.#policy = policy.ok ? success({ ...policy.value, protect: existing(this.#protectedThen) }) : policy;
    this.host = hostOf(environment, writable);
    if (policy.ok && this.enabled) this.#note(policy.value.notices);
  }

  /** The policy with the origin of each path; fails with `unknown-urn`. */
  policy(): Outcome<ResolvedPolicy> {
    return this.#policy;
  }

  /**
   * Name of the backend that approval may rest on. Fails with `sandbox-disabled`, `unknown-urn`,
   * `unknown-backend`, `backend-unavailable`, or with `sandbox-privileged-root`: the superuser with privileges is
   * confined by nothing, though commands are wrapped (sandbox 7.2, approval section 6).
   */
  async available(): Promise<Outcome<string>> {
    if (!this.enabled) return failure("sandbox-disabled", "The sandbox is switched off.");
    if (!this.#policy.ok) return this.#policy;
    const found = await this.backend();
    if (!found.ok) return found;
    if (this.host.root && this.#policy.value.allow_privileged) {
      return failure(
        "sandbox-privileged-root",
        "The sandbox confines nothing: commands run as the superuser and keep their privileges.",
        "Set sandbox.policy.allow_privileged to false, or run as an ordinary user.",
      );
    }
    return success(found.value.name);
  }

  /**
   * The backend commands are wrapped by, present and probed under this policy. Found once, and again when a
   * backend was registered or removed meanwhile.
   */
  backend(): Promise<Outcome<BackendEntry>> {
    const { generation } = this.#registry;
    if (this.#detected?.generation !== generation) {
      const answer = detect(this.#registry, this.mode, (entry) => this.#check(entry));
      this.#detected = { generation, answer };
    }
    return this.#detected!.answer;
  }

  async prepare(inner: readonly string[]): Promise<Outcome<Prepared>> {
    if (inner.length === 0) return failure("empty-command", "There is no command to run.");
    if (!this.enabled) return success(bare(inner));
    if (!this.#policy.ok) return this.#policy;
    const found = await this.backend();
    if (!found.ok) {
      if (this.mode !== "auto") return found;
      this.#note([runningBare(found.problem)]);
      return success(bare(inner));
    }
    const wrapped = await this.#wrap(found.value, this.#policy.value, inner);
    return wrapped.ok ? success(this.#track(wrapped.value, inner)) : wrapped;
  }

  isPathWritable(path: string): boolean {
    const { cwd, home } = this.host.environment;
    const real = realPath(expandHome(path, home), cwd);
    if (real === null || this.#isProtected(real)) return false;
    if (!this.enabled) return true;
    return this.#policy.ok && this.#policy.value.rw_paths.some((root) => isInside(real, root));
  }

  /** All notices so far in the order they arose, each one once; a caller that polls shows what is new at the end. */
  notices(): readonly Problem[] {
    return [...this.#notices.values()];
  }

  /** Real paths that are protected now, and whether they exist (only those are mounted read-only). */
  protectedPaths(): { path: string; asked: boolean; exists: boolean }[] {
    const { cwd } = this.host.environment;
    const asked = new Set(realProtected(this.#protected.filter(({ asked }) => asked), cwd));
    const real = realProtected(this.#protected, cwd);
    const there = new Set(existing(real));
    return real.map((path) => ({ path, asked: asked.has(path), exists: there.has(path) }));
  }

  /**
   * Wrapped commands that were prepared and not yet disposed of. While it is not 0, protected files must be
   * written in place: a rename over a mounted file takes its protection away (sandbox 12.5).
   */
  get activeCommands(): number {
    return this.#active;
  }

  /** Version of the program behind a backend, or null. */
  async versionOf(entry: BackendEntry): Promise<string | null> {
    return await entry.version?.(this.#configOf(entry), this.host) ?? null;
  }

  /** Presence, then a run of the empty command under this policy. */
  async #check(entry: BackendEntry): Promise<Outcome<void>> {
    if (!this.#policy.ok) return this.#policy;
    const config = this.#configOf(entry);
    const present = await entry.available(config, this.host);
    if (!present.ok) return present;
    if (entry.probe) return await entry.probe(this.#policy.value, config);
    const preparation = await this.#wrap(entry, this.#policy.value, EMPTY_COMMAND);
    return preparation.ok ? await probe(preparation.value, this.host) : preparation;
  }

  async #wrap(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    inner: readonly string[],
  ): Promise<Outcome<BackendPreparation>> {
    const config = this.#configOf(entry);
    try {
      if (entry.prepare) return await entry.prepare(this.#mountable(resolved), config, inner, this.host);
      const argv = entry.wrap(resolved, config, inner);
      return argv.ok ? success(silent(argv.value)) : argv;
    } catch (thrown) {
      return failure("backend-failed", `The sandbox backend ${entry.name} failed: ${thrownText(thrown)}`);
    }
  }

  #mountable(resolved: ResolvedPolicy): Policy {
    // Made before the protected paths are looked at, so that it is among those that exist.
    makeRuntimeFolder(this.host.environment);
    const now = realProtected(this.#protected, this.host.environment.cwd);
    const { policy, notices } = mountablePolicy(
      resolved,
      existing([...new Set([...this.#protectedThen, ...now])]),
    );
    this.#note(notices);
    return policy;
  }

  #track(preparation: BackendPreparation, inner: readonly string[]): Prepared {
    this.#active++;
    let disposed = false;
    return {
      argv: preparation.argv,
      wrapped: true,
      setupFailure: async (stderr, signal) => {
        const problem = await preparation.setupFailure(stderr, signal);
        if (problem !== null) {
          // The tool result holds the short sentence; cause and remedy are for the person.
          this.#note([problem]);
          await forgetProbe(preparation.fingerprint, inner, this.host);
        }
        return problem;
      },
      dispose: async () => {
        if (disposed) return;
        disposed = true;
        this.#active--;
        await preparation.dispose();
      },
    };
  }

  #isProtected(real: string): boolean {
    const now = realProtected(this.#protected, this.host.environment.cwd);
    return [...this.#protectedThen, ...now].some((path) => isInside(real, path));
  }

  #configOf({ name }: BackendEntry): Readonly<Record<string, unknown>> {
    return this.#settings.backends[name] ?? {};
  }

  #note(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const key = `${problem.code}\n${problem.message}`;
      if (!this.#notices.has(key)) this.#notices.set(key, problem);
    }
  }
}

function folderOf(document: string, cwd: string): string | null {
  const real = realPath(document, cwd);
  return real === null ? null : parentFolder(real);
}

function bare(inner: readonly string[]): Prepared {
  return {
    argv: [...inner],
    wrapped: false,
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(),
  };
}

/** The preparation of a backend that only knows how to wrap, and so cannot tell its failures from the command's. */
function silent(argv: readonly string[]): BackendPreparation {
  return {
    argv,
    fingerprint: argv,
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(),
  };
}

function runningBare(why: Problem): Problem {
  return {
    code: "running-bare",
    message: `Commands run without a sandbox. ${why.message}`,
    next: why.next ?? "Set sandbox.backend to required to refuse that.",
  };
}
