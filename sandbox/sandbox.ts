// The sandbox of one run: what tools and reports ask of it, answered by its parts.

import { expandHome, isInside } from "../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../base/problem.ts";
import { isSystemPath } from "../base/system/reading.ts";
import type { BackendEntry } from "./backends/registry.ts";
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
import { WHOLE_VIEW } from "./policy/view.ts";
import { keepDescriptors } from "./process/descriptors.ts";
import { leftRunning } from "./process/leftovers.ts";
import { denoFolderForCommands } from "./protect/own_code.ts";
import { traceProtected } from "./protect/protect.ts";
import { recover } from "./protect/recover.ts";
import { type FileChange, obeyedBy } from "./protect/watched.ts";
import { BackendInUse } from "./run/backend_in_use.ts";
import { bare, runningBare } from "./process/unsandboxed.ts";
import { LiveCommands } from "./run/commands.ts";
import { WorkerKeeper, type WorkerSandbox } from "./run/worker.ts";
import { createWorkerSandbox, UNSANDBOXED_WORKER } from "./run/worker_sandbox.ts";
import { RunContext } from "./run/context.ts";
import { PolicySnapshots } from "./run/policy_snapshots.ts";
import { Notices } from "./run/notices.ts";
import type { SandboxOptions } from "./run/options.ts";
import type {
  FileAccess,
  FileTurn,
  Host,
  PathView,
  Prepared,
  PrepareOptions,
  Sandbox,
  SandboxWorker,
} from "./types.ts";

export type { CommandsWatch, SandboxOptions } from "./run/options.ts";

/** Makes the sandbox of a run. Touches nothing; what does not work is told by the answers (S11, S13). */
export function createSandbox(options: SandboxOptions): RunSandbox {
  return new RunSandbox(options);
}

/** A sandbox that can also describe itself, for status and for who writes protected files. */
export class RunSandbox implements Sandbox {
  /** Whether commands are wrapped at all. */
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

  /** Looks at nothing yet: a report on a document without calls never needs it. */
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

  /** The machine underneath. */
  get host(): Host {
    return this.#context.host;
  }

  get #policy(): Outcome<ResolvedPolicy> {
    return this.#context.policy;
  }

  /**
   * The policy with the origin of each path; fails as `resolvePolicy` does. What is protected is looked up when it is first
   * asked for: most only want to know what can be written to.
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

  /** What is there of what was protected at the start. */
  #protectedNow(): string[] {
    const snapshot = new FsSnapshot();
    return this.#context.atStart().protection.real.filter((path) => snapshot.has(path));
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
    if (!found.ok) {
      // A call that waits because of it must not wait without a reason.
      this.#notices.add([found.problem]);
      return found;
    }
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
   * backend was registered or removed meanwhile, or when the answer was for the moment only.
   */
  backend(): Promise<Outcome<BackendEntry>> {
    return this.#backend.find();
  }

  async prepare(
    inner: readonly string[],
    { waits = false }: PrepareOptions = {},
  ): Promise<Outcome<Prepared>> {
    if (inner.length === 0) return failure("empty-command", "There is no command to run.");
    const kept = keepDescriptors();
    if (!kept.ok) return kept;
    if (!this.enabled) return success(bare(inner, waits, this.host.environment));
    if (!this.#policy.ok) return this.#policy;
    const found = await this.backend();
    if (!found.ok) {
      if (this.mode !== "auto" || found.problem.code !== "backend-unavailable") {
        this.#notices.add([found.problem]);
        this.#refused = found.problem;
        return found;
      }
      this.#notices.add([runningBare(found.problem)]);
      return success(bare(inner, waits, this.host.environment));
    }
    // A command that another run left behind may still be at what this one is about to look at.
    this.#notices.add(await this.recover());
    return await this.#commands.prepare(found.value, this.#policy.value, inner, waits);
  }

  /**
   * Ends what a run that was killed left running, and puts right what its commands did, whatever document they were of.
   * Answers with what was done, the first time only; needs neither policy nor backend.
   */
  async recover(): Promise<readonly Problem[]> {
    const first = this.#recovery === undefined;
    this.#recovery ??= recover(this.#options.environment);
    const reported = await this.#recovery;
    return first ? reported : [];
  }

  /** What `recover` would end, in sentences. Changes nothing. */
  leftRunning(): string[] {
    return leftRunning(this.#options.environment);
  }

  isPathWritable(path: string): boolean {
    const snapshot = new FsSnapshot();
    return this.#isWritable(path, snapshot, (real) => this.#context.isProtected(real, snapshot));
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
    // A command finds an empty folder there (12.4); keys of registries and key rings lie in it.
    const { environment } = this.host;
    if (isReplaced(real, environment, this.#policy.value, snapshot)) return false;
    return isVisible(real, this.#policy.value);
  }

  betweenCommands<T>(access: FileAccess, turn: FileTurn, work: () => Promise<T>): Promise<T> {
    // Without a sandbox a command does whatever it wants to by itself.
    return this.enabled ? this.#context.turns.files(access, turn, work) : work();
  }

  startWorker(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Outcome<SandboxWorker>> {
    return this.#workers.get(argv, env, () => this.#workerSandbox(argv));
  }

  /** Ends the companion; whoever asks again gets another one. */
  async endWorker(): Promise<void> {
    await this.#workers.end();
  }

  /** The wall that the companion of this run would have now. */
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
      recover: async () => this.#notices.add(await this.recover()),
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
    const folder = denoFolderForCommands(this.#context.ownCode, this.host.environment);
    // Where the cache is not writable anyway, what the person has fetched can at least be read.
    return folder === null || !this.#isWritableToCommands(folder) ? {} : { DENO_DIR: folder };
  }

  /** As `isPathWritable`, but by the look that the commands which live or are ready are wrapped by, if there are any. */
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

  /** All notices so far in the order they arose, each one once; a caller that polls shows what is new at the end. */
  notices(): readonly Problem[] {
    this.#context.fix();
    return this.#notices.all();
  }

  /** Watched files that commands have changed so far, in the order it was found out. */
  fileChanges(): readonly FileChange[] {
    return this.#commands.fileChanges();
  }

  watchedBy(path: string): string | null {
    const { home, cwd } = this.host.environment;
    const real = this.#context.realPath(path, new FsSnapshot());
    return real === null ? null : obeyedBy(real, realPath(home, cwd) ?? home);
  }

  /** Real paths that are protected now, and whether they exist (only those are mounted read-only). */
  protectedPaths(): { path: string; asked: boolean; exists: boolean }[] {
    const { cwd } = this.host.environment;
    const snapshot = new FsSnapshot();
    const paths = this.#context.protectedNow(snapshot);
    const asked = new Set(traceProtected(paths.filter(({ asked }) => asked), cwd, snapshot).real);
    return traceProtected(paths, cwd, snapshot).real
      .map((path) => ({ path, asked: asked.has(path), exists: snapshot.has(path) }));
  }

  /** Real paths of what this program itself runs from, as far as it is there. */
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
    return findSockets(this.host.environment, this.#policy.value);
  }

  /** Why the last command that may not run bare did not run at all; null when there was none. */
  get refused(): Problem | null {
    return this.#refused;
  }

  /** What a backend that works does and does not do beyond the policy, in sentences. */
  hardeningOf(entry: BackendEntry): readonly string[] {
    if (!this.#policy.ok) return [];
    return entry.hardening?.(this.#policy.value, this.#backend.configOf(entry), this.host) ?? [];
  }

  /**
   * Wrapped commands that were prepared and not yet disposed of. While it is not 0, protected files must be
   * written in place: a rename over a mounted file takes its protection away (sandbox 12.5).
   */
  get activeCommands(): number {
    return this.#commands.count;
  }

  /** Version of the program behind a backend, or null. */
  async versionOf(entry: BackendEntry): Promise<string | null> {
    return await entry.version?.(this.#backend.configOf(entry), this.host) ?? null;
  }
}
