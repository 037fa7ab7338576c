// The sandbox of one run. It answers questions from tools and reports, and leaves the work to its parts.

import { expandHome, isInside } from "../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../base/problem.ts";
import { isSystemPath } from "../base/system/system_files.ts";
import type { BackendEntry } from "./backends/registry.ts";
import { ARCHITECTURES } from "./kernel/seccomp.ts";
import { endWaiting } from "./kernel/waiting_launcher.ts";
import { FsSnapshot } from "../base/disk/fs_snapshot.ts";
import { realPath, traceLinks } from "../base/disk/real_path.ts";
import { strayLink } from "./paths/stray_link.ts";
import { isVisible, type ResolvedPolicy } from "./policy/policy.ts";
import {
  findSockets,
  type FoundSockets,
  isReplaced,
  runtimeFoldersOf,
  socketVariablesOf,
} from "./policy/sockets.ts";
import { cacheVariables } from "./policy/tool_caches.ts";
import { WHOLE_VIEW } from "./policy/view.ts";
import { keepDescriptors } from "./process/descriptors.ts";
import { describeLeftCommands } from "./process/leftovers.ts";
import { denoFolderForCommands } from "./protect/own_code.ts";
import { refusesSockets } from "./protect/mountable.ts";
import { traceProtected } from "./protect/protect.ts";
import { recover } from "./protect/recover.ts";
import { type FileChange, obeyedBy } from "./protect/watched.ts";
import { BackendInUse } from "./run/backend_in_use.ts";
import { prepareUnsandboxed, PRIVILEGED_ROOT, unsandboxedNotice } from "./process/unsandboxed.ts";
import { LiveCommands } from "./run/commands.ts";
import { WorkerKeeper, type WorkerSandbox } from "./run/worker.ts";
import { createWorkerSandbox, UNSANDBOXED_WORKER } from "./run/worker_sandbox.ts";
import type { SandboxComparison } from "./run/compare.ts";
import { RunContext } from "./run/context.ts";
import { PolicySnapshots } from "./run/policy_snapshots.ts";
import { Notices } from "./run/notices.ts";
import type { SandboxOptions } from "./run/options.ts";
import type {
  BackendCoverage,
  FileAccess,
  FileTurn,
  Host,
  PathView,
  PreparedCommand,
  PrepareOptions,
  Sandbox,
  SandboxWorker,
} from "./types.ts";

export type { CommandsWatch, SandboxOptions } from "./run/options.ts";

/**
 * Creates the sandbox of a run. Creating it changes nothing; errors appear in the results of its methods.
 *
 * @param options settings, document, and paths to protect
 * @returns the sandbox; its policy is fixed on first use
 */
export function createSandbox(options: SandboxOptions): RunSandbox {
  return new RunSandbox(options);
}

/** What bubblewrap and Landlock would do for a command. Runs nothing; fails as the policy does. */
export async function compareSandboxes(
  options: SandboxOptions,
  command: readonly string[],
): Promise<Outcome<SandboxComparison>> {
  const { comparePlans } = await import("./run/compare.ts");
  return comparePlans(options, command);
}

/** A `Sandbox` that also describes itself, for status and for code that writes protected files. */
export class RunSandbox implements Sandbox {
  /** True if commands are wrapped at all. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  readonly #options: SandboxOptions;
  readonly #notices = new Notices();
  readonly #context: RunContext;
  readonly #snapshots: PolicySnapshots;
  readonly #backend: BackendInUse;
  readonly #commands: LiveCommands;
  readonly #workers = new WorkerKeeper();
  #refused: Problem | null = null;
  #recovery: Promise<Problem[]> | undefined;

  /** Reads nothing yet, because a report on a document without calls does not need it. */
  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#context = new RunContext(options, this.#notices);
    this.#snapshots = new PolicySnapshots(this.#context, this.#notices);
    this.#backend = new BackendInUse(this.#context, this.#snapshots, options);
    this.#commands = new LiveCommands({
      context: this.#context,
      snapshots: this.#snapshots,
      backend: this.#backend,
      notices: this.#notices,
      around: options.around,
    });
    this.enabled = this.#context.enabled;
    this.mode = this.#backend.mode;
  }

  /** The machine the sandbox runs on. */
  get host(): Host {
    return this.#context.host;
  }

  get #policy(): Outcome<ResolvedPolicy> {
    return this.#context.policy;
  }

  /**
   * The policy with the origin of each path. Fails as `resolvePolicy` does. `protect` is computed on first access,
   * because most callers only ask for writable paths.
   */
  policy(): Outcome<ResolvedPolicy> {
    if (!this.#policy.ok) return this.#policy;
    let protect: readonly string[] | undefined;
    const protectedNow = () => protect ??= this.#protectedNow();
    return success({
      ...this.#policy.value,
      get protect() {
        return protectedNow();
      },
    });
  }

  /** Existing paths that have been protected since the start of the run. */
  #protectedNow(): string[] {
    const snapshot = new FsSnapshot();
    return this.#context.atStart().protection.real.filter((path) => snapshot.has(path));
  }

  /**
   * Name of the backend that approval may rely on.
   *
   * Fails with `sandbox-disabled`, `unknown-urn`, `unknown-backend`, `backend-unavailable`, `backend-repairs` or
   * `sandbox-privileged-root`. With the last two, commands are wrapped: in a sandbox that only repairs protected files,
   * which nobody chose; or in one that does not confine a superuser who keeps privileges.
   */
  async available(): Promise<Outcome<string>> {
    if (!this.enabled) return failure("sandbox-disabled", "The sandbox is switched off.");
    if (!this.#policy.ok) return this.#policy;
    const found = await this.backend();
    if (!found.ok) {
      // A call may wait for the person because no backend works, so the person must see why.
      this.#notices.add([found.problem]);
      return found;
    }
    if (this.host.root && this.#policy.value.allow_privileged) {
      return failure(
        PRIVILEGED_ROOT,
        "The sandbox confines nothing: commands run as root and keep their privileges.",
        "Set sandbox.policy.allow_privileged to false, or run as an ordinary user.",
      );
    }
    const waits = await this.#backend.whyCallsWait();
    if (waits === null) return success(found.value.name);
    this.#notices.add([waits]);
    return { ok: false, problem: waits };
  }

  /**
   * Returns the backend that wraps commands. It exists on this machine and was probed under this policy. The result is
   * cached until backends are registered or removed; a failure that may be temporary is not cached.
   */
  backend(): Promise<Outcome<BackendEntry>> {
    return this.#backend.find();
  }

  async prepare(
    inner: readonly string[],
    options: PrepareOptions = {},
  ): Promise<Outcome<PreparedCommand>> {
    if (inner.length === 0) return failure("empty-command", "There is no command to run.");
    const { waits = false } = options;
    const kept = keepDescriptors();
    if (!kept.ok) return kept;
    if (!this.enabled) return success(prepareUnsandboxed(inner, waits, this.host.environment));
    if (!this.#policy.ok) return this.#policy;
    const found = await this.backend();
    if (!found.ok) {
      if (this.mode !== "auto" || found.problem.code !== "backend-unavailable") {
        this.#notices.add([found.problem]);
        this.#refused = found.problem;
        return found;
      }
      this.#notices.add([unsandboxedNotice(found.problem)]);
      return success(prepareUnsandboxed(inner, waits, this.host.environment));
    }
    const unchosen = await this.#backend.whyCallsWait();
    // The command runs in a sandbox that nobody chose, because somebody approved it.
    if (unchosen !== null) this.#notices.add([unchosen]);
    // A leftover command of another run may still change what the preparation is about to inspect.
    this.#commands.report(await this.recover());
    return await this.#commands.prepare(found.value, this.#policy.value, inner, options);
  }

  /**
   * Ends commands left by a killed run and repairs what they did, in any document. Needs neither policy nor backend.
   *
   * @param again true if a run may have been killed since the last call
   * @returns what was done; empty after the first call
   */
  async recover({ again = false } = {}): Promise<readonly Problem[]> {
    if (again) this.#recovery = undefined;
    const first = this.#recovery === undefined;
    this.#recovery ??= recover(this.#options.environment);
    const reported = await this.#recovery;
    return first ? reported : [];
  }

  /** Sentences about what `recover` would end. Changes nothing. */
  leftRunning(): string[] {
    return describeLeftCommands(this.#options.environment);
  }

  isPathWritable(path: string): boolean {
    const snapshot = new FsSnapshot();
    return this.#isWritable(path, snapshot, (real) => this.#context.isProtected(real, snapshot));
  }

  isProtected(path: string): boolean {
    const snapshot = new FsSnapshot();
    const real = this.#context.realPath(path, snapshot);
    return real === null || this.#context.isProtected(real, snapshot);
  }

  #isWritable(path: string, snapshot: FsSnapshot, isProtected: (real: string) => boolean): boolean {
    const real = this.#context.realPath(path, snapshot);
    if (real === null || isProtected(real)) return false;
    if (!this.enabled) return true;
    return this.#policy.ok && this.#policy.value.rw_paths.some((root) => isInside(real, root)) &&
      isVisible(real, this.#policy.value);
  }

  isPathReadable(path: string): boolean {
    const snapshot = new FsSnapshot();
    const real = this.#context.realPath(path, snapshot);
    if (real === null || isSystemPath(real)) return false;
    if (!this.enabled) return true;
    if (!this.#policy.ok) return false;
    // Commands find an empty folder here; the real one holds registry keys and key rings.
    const { environment } = this.host;
    if (isReplaced(real, environment, this.#policy.value, snapshot)) return false;
    return isVisible(real, this.#policy.value);
  }

  betweenCommands<T>(access: FileAccess, turn: FileTurn, work: () => Promise<T>): Promise<T> {
    // Without a sandbox, commands are unrestricted, so waiting would protect nothing.
    return this.enabled ? this.#context.turns.files(access, turn, work) : work();
  }

  startWorker(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Outcome<SandboxWorker>> {
    return this.#workers.get(argv, env, () => this.#workerSandbox(argv));
  }

  /** Ends the sandbox worker, and what waits for further commands. The next `startWorker` starts another one. */
  async endWorker(): Promise<void> {
    endWaiting();
    await this.#workers.end();
    if (this.#commands.background === 0) await this.#context.network.close();
  }

  /**
   * Lets commands that start from now on reach the ports of a background command that is about to start. Returns false
   * if the sandbox keeps their networks apart.
   */
  async shareNetwork(): Promise<boolean> {
    if (!this.enabled || !this.#policy.ok || this.#policy.value.network) return true;
    const found = await this.backend();
    // Without a backend, the command either runs without a sandbox or not at all.
    if (!found.ok) return true;
    const { path = "bwrap" } = this.#backend.configOf(found.value);
    const program = found.value.name === "bwrap" && typeof path === "string" ? this.host.program(path) : null;
    return program?.ok === true && await this.#context.network.open(program.value, this.host);
  }

  /** The sandbox the worker would get now. */
  #workerSandbox(argv: readonly string[]): Promise<Outcome<WorkerSandbox>> {
    const kept = keepDescriptors();
    if (!kept.ok) return Promise.resolve(kept);
    if (!this.enabled) return Promise.resolve(success(UNSANDBOXED_WORKER));
    if (!this.#policy.ok) return Promise.resolve(this.#policy);
    const parts = {
      context: this.#context,
      snapshots: this.#snapshots,
      backend: this.#backend,
      commands: this.#commands,
      notices: this.#notices,
      recover: async () => this.#commands.report(await this.recover()),
    };
    return createWorkerSandbox(parts, this.#policy.value, argv);
  }

  pathView(): PathView {
    if (!this.enabled) return WHOLE_VIEW;
    if (!this.#policy.ok) return { ...WHOLE_VIEW, hidden: ["/"] };
    const { deny_read, rw_paths, covered, sockets } = this.#policy.value;
    return {
      hidden: deny_read,
      shown: [...rw_paths, ...covered],
      replaced: runtimeFoldersOf(this.host.environment),
      kept: sockets,
    };
  }

  strayLink(path: string): string | null {
    if (!this.enabled || !this.#policy.ok) return null;
    const { cwd, home } = this.host.environment;
    const trace = traceLinks(expandHome(path, home), cwd);
    return trace === null ? null : strayLink(trace, this.#policy.value.rw_paths);
  }

  addedVariables(): Readonly<Record<string, string>> {
    if (!this.enabled) return {};
    const { environment } = this.host;
    const caches = this.#policy.ok ? this.#policy.value.caches : null;
    if (caches !== null && this.#isWritableToCommands(caches)) return cacheVariables(caches, environment);
    const folder = denoFolderForCommands(this.#context.ownCode, environment);
    // If the cache is read-only anyway, commands can at least read what the person has fetched.
    return folder === null || !this.#isWritableToCommands(folder) ? {} : { DENO_DIR: folder };
  }

  /** Like `isPathWritable`, but uses the snapshot that wraps the live or prepared commands, if there are any. */
  #isWritableToCommands(path: string): boolean {
    const { snapshot } = this.#commands;
    if (snapshot === null) return this.isPathWritable(path);
    return this.#isWritable(
      path,
      new FsSnapshot(),
      (real) => snapshot.real.some((protect) => isInside(real, protect)),
    );
  }

  socketVariables(): readonly string[] {
    return this.#policy.ok ? socketVariablesOf(this.host.environment, this.#policy.value) : [];
  }

  /** All notices so far, in order, each once. A caller that polls finds new ones at the end. */
  notices(): readonly Problem[] {
    this.#context.fix();
    return this.#notices.all();
  }

  /** What is not protected repository by repository, or not searched completely, because there is too much of it. */
  limits(): readonly Problem[] {
    const isProtected = this.enabled && this.#policy.ok && this.#policy.value.protectWords.includes("$git");
    return isProtected ? this.#context.atStart().limits : [];
  }

  takeRepaired(): readonly string[] {
    return this.#commands.takeRepaired();
  }

  /** Watched files that commands have changed so far, in the order of discovery. */
  fileChanges(): readonly FileChange[] {
    return this.#commands.fileChanges();
  }

  watchedBy(path: string): string | null {
    const { home, cwd } = this.host.environment;
    const real = this.#context.realPath(path, new FsSnapshot());
    return real === null ? null : obeyedBy(real, realPath(home, cwd) ?? home);
  }

  /** Real paths that are protected now, and whether they exist (only existing ones are mounted read-only). */
  protectedPaths(): { path: string; asked: boolean; exists: boolean }[] {
    const { cwd } = this.host.environment;
    const snapshot = new FsSnapshot();
    const paths = this.#context.protectedNow(snapshot);
    const asked = new Set(traceProtected(paths.filter(({ asked }) => asked), cwd, snapshot).real);
    return traceProtected(paths, cwd, snapshot).real
      .map((path) => ({ path, asked: asked.has(path), exists: snapshot.has(path) }));
  }

  /** Existing real paths of the files this program runs from. */
  ownCode(): string[] {
    const snapshot = new FsSnapshot();
    const paths = this.#context.ownCode.protect.map((path) => ({ path }));
    return traceProtected(paths, this.host.environment.cwd, snapshot).real.filter((path) =>
      snapshot.has(path)
    );
  }

  /** The sockets of this machine, and which of them the policy keeps. */
  sockets(): FoundSockets {
    if (!this.#policy.ok) return { runtime: [], masked: [], kept: [] };
    return findSockets(
      this.host.environment,
      this.#policy.value,
      new FsSnapshot(),
      this.#context.listening(),
    );
  }

  /** True if commands can create no local sockets with this backend. */
  refusesSockets(entry: BackendEntry | null): boolean {
    if (!this.#policy.ok) return false;
    const { block_unix_sockets } = this.#policy.value;
    const filters = entry !== null && this.#backend.configOf(entry).seccomp !== false &&
      Object.hasOwn(ARCHITECTURES, Deno.build.arch);
    return block_unix_sockets || (filters && refusesSockets(this.#policy.value));
  }

  /** Reason why the last refused command did not run; null if none was refused. */
  get refused(): Problem | null {
    return this.#refused;
  }

  /** Sentences about what a working backend does and does not do beyond the policy. */
  hardeningOf(entry: BackendEntry): readonly string[] {
    if (!this.#policy.ok) return [];
    return entry.hardening?.(this.#policy.value, this.#backend.configOf(entry), this.host) ?? [];
  }

  /** What the backend does not cover of this policy; null if it covers all of it. */
  async coverageOf(entry: BackendEntry): Promise<BackendCoverage | null> {
    const found = await this.#backend.coverage(entry);
    return found.ok ? found.value : null;
  }

  /**
   * Number of wrapped commands that are prepared and not yet disposed of. While it is not 0, write protected files in
   * place: a rename over a mounted file removes its protection.
   */
  get activeCommands(): number {
    return this.#commands.count;
  }

  /** Version of the program behind a backend, or null. */
  async versionOf(entry: BackendEntry): Promise<string | null> {
    return await entry.version?.(this.#backend.configOf(entry), this.host) ?? null;
  }
}
