// The sandbox of one run: policy fixed when it is made, backend found when it is needed, commands wrapped by it.

import type { Environment } from "../base/environment.ts";
import { configFolder, stateFolder } from "../base/folders.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../base/problem.ts";
import type { SandboxSettings } from "../config/settings.ts";
import { type Before, before, settle } from "./protect/repair.ts";
import { backends } from "./backends/builtin.ts";
import { keepDescriptors } from "./process/descriptors.ts";
import { detect } from "./backends/detect.ts";
import { judge, type Verdict } from "./backends/judge.ts";
import { forgetVerdict, keepVerdict, keptVerdict } from "./backends/kept_verdict.ts";
import { isOfMachine, readMachine } from "./backends/machine.ts";
import { FsSnapshot } from "./paths/fs_snapshot.ts";
import { Moment } from "./paths/moment.ts";
import { hostOf } from "./process/host.ts";
import { CompanionKeeper, type Wall } from "./companion.ts";
import { WHOLE_VIEW } from "./policy/view.ts";
import { emptyPolicy, makeAskedFolders, mountablePolicy, withoutVanished } from "./protect/mountable.ts";
import {
  denoFolderForCommands,
  type OwnCode,
  ownCode,
  type RunningProgram,
  runningProgram,
} from "./protect/own_code.ts";
import { isVisible, type ResolvedPolicy, resolvePolicy } from "./policy/policy.ts";
import { EMPTY_COMMAND, forgetProbe, probe } from "./backends/probe.ts";
import {
  type ProtectedPath,
  protectedPaths,
  type Protection,
  realApart,
  traceProtected,
} from "./protect/protect.ts";
import { lasting, recover } from "./protect/recover.ts";
import { withInnerScript } from "./process/inner_script.ts";
import { newMark } from "./process/marks.ts";
import { forget, leftBehind, othersAlive, record, survivors } from "./process/left_behind.ts";
import { spawn } from "./process/spawn.ts";
import { parentOf } from "../base/paths.ts";
import { realPath, traceLinks } from "./paths/real_path.ts";
import { strayLink } from "./paths/stray_link.ts";
import { expandHome, isInside } from "../base/paths.ts";
import { isSystemPath } from "../base/reading.ts";
import { Turns } from "./process/turns.ts";
import type { BackendEntry, BackendRegistry } from "./backends/registry.ts";
import { foldersInReach, gitConfigsOf, RepositoriesOfRun } from "./protect/repositories.ts";
import { type Found, TreeScan } from "./paths/tree_scan.ts";
import { notChanged, notChangedSentence, type TrackedFiles, TrackedHeld } from "./protect/tracked.ts";
import { type FileChange, isWatchedName, obeyedBy, WatchedFiles } from "./protect/watched.ts";
import { makeRuntimeFolder, runtimeFolders } from "./process/runtime_folders.ts";
import {
  findSockets,
  type FoundSockets,
  isReplaced,
  runtimeFoldersOf,
  variablesOfKept,
} from "./policy/sockets.ts";
import type {
  BackendConfig,
  BackendPreparation,
  Companion,
  FileAccess,
  FileTurn,
  Host,
  MountablePolicy,
  PathView,
  Prepared,
  PrepareOptions,
  Sandbox,
} from "./types.ts";

/** What a sandbox is made of. */
export interface SandboxOptions {
  /** What is allowed inside. */
  readonly settings: SandboxSettings;
  /** Directory, home and variables. */
  readonly environment: Environment;
  /** Path of the document, or null when it is unsaved. */
  readonly document: string | null;
  /** Paths nobody inside may change: document, settings, state. They need not exist. */
  readonly protect: readonly string[];
  /** The backends to choose from. @default the registry of this process */
  readonly registry?: BackendRegistry;
  /** Told before the first command begins to live, and when the last one is over and what it left was put right. */
  readonly around?: CommandsWatch;
  /**
   * Whether what earlier runs found out about the backends is left aside: for who asks because something is wrong.
   * @default false
   */
  readonly lookAnew?: boolean;
  /** What is protected as the program's own code. @default the program that runs now */
  readonly running?: RunningProgram;
}

/** Paths of repositories that are not worked in, up to which each is mounted; a mount costs a millisecond. */
const MOST_APART = 12;

/** What holds from the first need of a sandbox on. */
interface Fixed {
  readonly policy: Outcome<ResolvedPolicy>;
  readonly host: Host;
  /** Document, settings, state, as they were named. */
  readonly asked: readonly string[];
  /** What this program, or the person's editor, may make while a command runs. */
  readonly ownPlaces: readonly string[];
  readonly workingFolders: readonly string[];
  /** What this program itself runs from. */
  readonly ownCode: OwnCode;
  readonly turns: Turns;
}

/** What is fixed for a run, and who looks after what commands do to it. */
interface Start {
  readonly repositories: RepositoriesOfRun;
  readonly scan: TreeScan;
  readonly watched: WatchedFiles;
  readonly tracked: TrackedHeld;
  protection: Protection;
}

/** The policy as it can be mounted, and what to compare with afterwards. */
interface PolicySnapshot {
  readonly policy: MountablePolicy;
  /** Existing protected paths of repositories that are not worked in. */
  readonly apart: readonly string[];
  /** Whether those are compared and not mounted. */
  readonly compares: boolean;
  readonly before: Before;
}

/**
 * The commands that live at the same time. They are wrapped by one look, which is seen to hold before the first of them
 * begins; a command that waits for its start gets ready meanwhile.
 */
interface Batch {
  readonly snapshot: PolicySnapshot;
  /** Once outdated none of them may begin, and those that are prepared later are a batch of their own. */
  state: "fresh" | "unchecked" | "begun" | "outdated";
}

/** Whoever has to know when commands live. */
export interface CommandsWatch {
  /** Before a command; may be called again while commands live. A problem keeps the command from starting. */
  begin(): Promise<Problem | null>;
  /** When the last one is over. */
  end(): Promise<void>;
}

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
  readonly #settings: SandboxSettings;
  readonly #registry: BackendRegistry;
  #fixed: Fixed | undefined;
  #start: Start | undefined;
  readonly #fileChanges: FileChange[] = [];
  #snapshot: PolicySnapshot | undefined;
  /** Of the commands that live now, or lived last. */
  #batch: Batch | undefined;
  #settling: Promise<void> | undefined;
  /** Settings of backends that had to be probed with others than the person's. */
  readonly #retried = new Map<string, BackendConfig>();
  readonly #notices = new Map<string, Problem>();
  #detected: { generation: number; answer: Promise<Outcome<BackendEntry>> } | undefined;
  readonly #lookAnew: boolean;
  readonly #around: CommandsWatch | undefined;
  /** Whether the last command's set-up failed: a second time in a row is told. */
  #failedBefore = false;
  #refused: Problem | null = null;
  #recovery: Promise<Problem[]> | undefined;
  #active = 0;
  readonly #companions = new CompanionKeeper();

  /** Looks at nothing yet: a report on a document without calls never needs it. */
  constructor(options: SandboxOptions) {
    const { settings, registry = backends, lookAnew = false } = options;
    this.#options = options;
    this.#around = options.around;
    this.#lookAnew = lookAnew;
    this.#settings = structuredClone(settings);
    this.#registry = registry;
    this.enabled = settings.enabled;
    this.mode = settings.backend;
  }

  /** Policy and places as they are at the first need, for the rest of the run; nothing is probed yet. */
  #fix(): Fixed {
    if (this.#fixed !== undefined) return this.#fixed;
    const { environment, document, protect } = this.#options;
    const policy = resolvePolicy(this.#settings, { environment, document });
    const code = ownCode(environment, this.#options.running ?? runningProgram());
    const writable = policy.ok ? policy.value.rw_paths : [];
    const note = (problem: Problem) => this.#note([problem]);
    const fixed = this.#fixed = {
      policy,
      host: hostOf(environment, writable, note),
      // Settings and tool files, and what this program believes about the sandbox, must stay out of reach too.
      asked: [...protect, configFolder(environment), ...runtimeFolders(environment)],
      ownPlaces: [...runtimeFolders(environment), ...code.mayAppear, ...(document === null ? [] : [document])]
        .map((path) => realPath(path, environment.cwd))
        .filter((path) => path !== null),
      workingFolders: [
        realPath(environment.cwd, "/"),
        document === null ? null : folderOf(document, environment.cwd),
      ].filter((place) => place !== null),
      ownCode: code,
      turns: new Turns(environment, note),
    };
    if (policy.ok && this.enabled) this.#note(policy.value.notices);
    const { folder } = code;
    if (folder !== null && fixed.workingFolders.some((place) => isInside(place, folder))) {
      this.#note([ownFolder(folder)]);
    }
    return fixed;
  }

  /** The machine underneath. */
  get host(): Host {
    return this.#fix().host;
  }

  get #policy(): Outcome<ResolvedPolicy> {
    return this.#fix().policy;
  }

  get #asked(): readonly string[] {
    return this.#fix().asked;
  }

  get #ownPlaces(): readonly string[] {
    return this.#fix().ownPlaces;
  }

  get #workingFolders(): readonly string[] {
    return this.#fix().workingFolders;
  }

  get #ownCode(): OwnCode {
    return this.#fix().ownCode;
  }

  get #turns(): Turns {
    return this.#fix().turns;
  }

  /** The policy with the origin of each path; fails as `resolvePolicy` does. */
  policy(): Outcome<ResolvedPolicy> {
    if (!this.#policy.ok) return this.#policy;
    const snapshot = new FsSnapshot();
    const protect = this.#atStart().protection.real.filter((path) => snapshot.has(path));
    return success({ ...this.#policy.value, protect });
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
      this.#note([found.problem]);
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
    const { generation } = this.#registry;
    if (this.#detected?.generation !== generation) {
      const answer = detect(this.#registry, this.mode, (entry) => this.#judge(entry));
      const detected = this.#detected = { generation, answer };
      answer.then((found) => {
        // A failure that may pass is not kept: the next call is judged by the next moment.
        const passing = !found.ok && found.problem.code === "backend-setup";
        if (passing && this.#detected === detected) this.#detected = undefined;
      });
    }
    return this.#detected!.answer;
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
        this.#note([found.problem]);
        this.#refused = found.problem;
        return found;
      }
      this.#note([runningBare(found.problem)]);
      return success(bare(inner, waits, this.host.environment));
    }
    // A command that another run left behind may still be at what this one is about to look at.
    this.#note(await this.recover());
    const turn = await this.#turns.commandBegins(this.#policy.value.rw_paths);
    if (!turn.ok) return turn;
    const unwatched = await this.#whenSettled();
    if (unwatched !== null) {
      await this.#turns.commandEnded();
      return { ok: false, problem: unwatched };
    }
    const { policy, batch } = this.#begin(this.#policy.value, waits);
    const config = this.#configOf(found.value);
    const wrapped = await this.#wrap(found.value, this.#policy.value, policy, inner, config);
    if (wrapped.ok) return success(this.#track(wrapped.value, batch, inner, waits));
    await this.#end();
    return wrapped;
  }

  /**
   * Ends what a run that was killed left running, and puts right what its commands did, whatever document they were of.
   * Answers with what was done, the first time only; needs neither policy nor backend.
   */
  async recover(): Promise<readonly Problem[]> {
    const first = this.#recovery === undefined;
    this.#recovery ??= recover(this.#options.environment);
    const told = await this.#recovery;
    return first ? told : [];
  }

  /** What `recover` would end, in sentences. Changes nothing. */
  leftRunning(): string[] {
    return leftBehind(this.#options.environment).filter((each) => survivors(each).length > 0)
      .map(({ leader, owner }) =>
        `process ${leader.pid}, a command of the run ${owner.pid} that was killed; the next advance ends it`
      );
  }

  isPathWritable(path: string): boolean {
    const snapshot = new FsSnapshot();
    const real = this.#real(path, snapshot);
    if (real === null || this.#isProtected(real, snapshot)) return false;
    if (!this.enabled) return true;
    return this.#policy.ok && this.#policy.value.rw_paths.some((root) => isInside(real, root)) &&
      isVisible(real, this.#policy.value);
  }

  isPathReadable(path: string): boolean {
    const snapshot = new FsSnapshot();
    const real = this.#real(path, snapshot);
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
    return this.enabled ? this.#turns.files(access, turn, work) : work();
  }

  companion(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome<Companion>> {
    return this.#companions.get(argv, env, () => this.#wall(argv));
  }

  /** Ends the companion; whoever asks again gets another one. */
  async endCompanion(): Promise<void> {
    await this.#companions.end();
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
    const folder = denoFolderForCommands(this.#ownCode, this.host.environment);
    // Where the cache is not writable anyway, what the person has fetched can at least be read.
    return folder === null || !this.isPathWritable(folder) ? {} : { DENO_DIR: folder };
  }

  keptVariables(): readonly string[] {
    return this.#policy.ok ? variablesOfKept(this.host.environment, this.#policy.value) : [];
  }

  /** All notices so far in the order they arose, each one once; a caller that polls shows what is new at the end. */
  notices(): readonly Problem[] {
    this.#fix();
    return [...this.#notices.values()];
  }

  /** Watched files that commands have changed so far, in the order it was found out. */
  fileChanges(): readonly FileChange[] {
    return [...this.#fileChanges];
  }

  watchedBy(path: string): string | null {
    const { home, cwd } = this.host.environment;
    const real = this.#real(path, new FsSnapshot());
    return real === null ? null : obeyedBy(real, realPath(home, cwd) ?? home);
  }

  /** Real paths that are protected now, and whether they exist (only those are mounted read-only). */
  protectedPaths(): { path: string; asked: boolean; exists: boolean }[] {
    const { cwd } = this.host.environment;
    const snapshot = new FsSnapshot();
    const paths = this.#protectedNow(snapshot);
    const asked = new Set(traceProtected(paths.filter(({ asked }) => asked), cwd, snapshot).real);
    return traceProtected(paths, cwd, snapshot).real
      .map((path) => ({ path, asked: asked.has(path), exists: snapshot.has(path) }));
  }

  /** Real paths of what this program itself runs from, as far as it is there. */
  ownCode(): string[] {
    const snapshot = new FsSnapshot();
    const paths = this.#ownCode.protect.map((path) => ({ path }));
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
    return entry.hardening?.(this.#policy.value, this.#configOf(entry), this.host) ?? [];
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

  /** Presence, then runs of the empty command: under this policy, and where that fails under the empty one. */
  async #judge(entry: BackendEntry): Promise<Verdict> {
    if (!this.#policy.ok) return { kind: "unknown", problem: this.#policy.problem };
    const resolved = this.#policy.value;
    const config = this.#configOf(entry);
    const present = await entry.available(config, this.host);
    if (!present.ok) return { kind: "cannot", problem: present.problem };
    if (entry.probe) {
      const answer = await entry.probe(resolved, config);
      return answer.ok ? { kind: "works", config } : { kind: "unknown", problem: answer.problem };
    }
    const empty = emptyPolicy(resolved.allow_privileged);
    const programOf = () => this.#programOf(entry, empty, config);
    const kept = this.#lookAnew ? null : await keptVerdict(entry.name, programOf, this.host);
    if (kept !== null) return { kind: "cannot", problem: kept };
    const verdict = await judge(config, {
      real: async (config) => {
        const { policy } = this.#lastLook(true) ?? this.#look(resolved);
        const answer = await this.#try(entry, resolved, policy, config);
        // What stood there a moment ago may be what failed.
        if (!answer.ok) this.#snapshot = undefined;
        return answer;
      },
      empty: (config) => this.#try(entry, { ...resolved, ...empty }, empty, config),
      less: (config, problem) => entry.retry?.(config, problem) ?? null,
      ofMachine: (said) => isOfMachine(said, readMachine()),
    });
    if (verdict.kind === "works") this.#retried.set(entry.name, verdict.config);
    if (verdict.kind === "cannot") await keepVerdict(entry.name, programOf, verdict.problem, this.host);
    else if (this.#lookAnew) await forgetVerdict(entry.name, this.host);
    return verdict;
  }

  /** Runs the empty command. */
  async #try(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    mountable: MountablePolicy,
    config: BackendConfig,
  ): Promise<Outcome<void>> {
    const preparation = await this.#wrap(entry, resolved, mountable, EMPTY_COMMAND, config);
    if (!preparation.ok) return preparation;
    return await probe(preparation.value, this.host, { again: this.#lookAnew });
  }

  /** The program behind a backend that tells its own set-up apart; null for others, about which nothing is kept. */
  async #programOf(
    entry: BackendEntry,
    empty: MountablePolicy,
    config: BackendConfig,
  ): Promise<string | null> {
    if (!entry.prepare) return null;
    const prepared = await entry.prepare(empty, config, EMPTY_COMMAND, this.host);
    if (!prepared.ok) return null;
    await prepared.value.dispose();
    const [program = ""] = prepared.value.fingerprint;
    return program.startsWith("/") ? program : null;
  }

  async #wrap(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    mountable: MountablePolicy,
    inner: readonly string[],
    config: BackendConfig,
  ): Promise<Outcome<BackendPreparation>> {
    try {
      if (entry.prepare) return await entry.prepare(mountable, config, inner, this.host);
      const argv = entry.wrap(resolved, config, inner);
      return argv.ok ? success(silent(argv.value)) : argv;
    } catch (thrown) {
      return failure("backend-failed", `The sandbox backend ${entry.name} failed: ${thrownText(thrown)}`);
    }
  }

  /**
   * What was last found, if it can still be: most commands follow one another without a change near anything that matters.
   * Null when it cannot. Whether it is still so is seen now, or has to be later.
   */
  #lastLook(checked: boolean): PolicySnapshot | null {
    const last = this.#snapshot;
    if (last === undefined || last.compares !== this.#compares(last.apart)) return null;
    return !checked || last.before.look.holds() ? last : null;
  }

  /** The policy for a command that starts now, and what has to be looked at when it has ended. */
  #look(resolved: ResolvedPolicy): PolicySnapshot {
    const start = this.#atStart().protection;
    const snapshot = new FsSnapshot();
    const { cwd } = this.host.environment;
    const paths = this.#protectedNow(snapshot);
    const now = traceProtected(paths, cwd, snapshot);
    // A link to something hidden is put back like one to something protected: without it the next run would not hide
    // what it led to.
    const { links } = traceProtected(
      resolved.hiddenAsked.map((path) => ({ path })),
      this.host.environment.cwd,
      snapshot,
    );
    const protection = {
      // What is reached through a link by now counts where that leads.
      real: [
        ...new Set([...start.real.filter((path) => realPath(path, "/", snapshot) === path), ...now.real]),
      ],
      links: withoutTwins([...now.links, ...links]),
    };
    const apart = realApart(paths, cwd, snapshot);
    const compares = this.#compares(apart);
    const compared = new Set(compares ? apart : []);
    const mounted = { ...protection, real: protection.real.filter((path) => !compared.has(path)) };
    const { policy, notices } = mountablePolicy(resolved, mounted, this.host.environment, snapshot);
    this.#note(
      paths.filter(({ path, whole }) => whole && snapshot.has(path)).map(({ path }) => wholeFolder(path)),
    );
    this.#note(notices);
    const reach = { writable: policy.rw_paths, exempt: this.#ownPlaces, apart: [...compared] };
    return this.#snapshot = {
      policy,
      apart,
      compares,
      before: before(protection, reach, snapshot),
    };
  }

  /**
   * Whether these paths, of repositories that are not worked in, are compared after a command instead of mounted before
   * it: because each mount costs more than the one before it, or because another run's command can reach them, which
   * could put a link where the mount is about to be made.
   */
  #compares(apart: readonly string[]): boolean {
    return apart.length > MOST_APART || (apart.length > 0 && this.#othersReach(apart));
  }

  /** Whether a command of another process lives that can write around these paths, or that they can write around. */
  #othersReach(paths: readonly string[]): boolean {
    return othersAlive(this.host.environment).some(({ writable }) =>
      paths.some((path) => writable.some((root) => isInside(path, root) || isInside(root, path)))
    );
  }

  /** The wall that the companion of this run would have now. */
  #wall(argv: readonly string[]): Promise<Outcome<Wall>> {
    const kept = keepDescriptors();
    if (!kept.ok) return Promise.resolve(kept);
    if (!this.enabled) return Promise.resolve(success(NO_WALL));
    return this.#policy.ok ? this.#wallOf(this.#policy.value, argv) : Promise.resolve(this.#policy);
  }

  /** A look that was made before counts as long as it holds, so that the mounts stay the same while nothing changes near them. */
  async #wallOf(resolved: ResolvedPolicy, argv: readonly string[]): Promise<Outcome<Wall>> {
    const found = await this.backend();
    if (!found.ok) {
      // Where there is no wall to put up, what the program itself holds back is all there is, whatever the mode.
      if (found.problem.code === "backend-unavailable" || found.problem.code === "unknown-backend") {
        return success(NO_WALL);
      }
      this.#note([found.problem]);
      return found;
    }
    this.#note(await this.recover());
    while (this.#settling !== undefined) await this.#settling;
    const batch = this.#active > 0 ? this.#batch : undefined;
    if (batch === undefined) {
      makeRuntimeFolder(this.host.environment);
      this.#note(makeAskedFolders(resolved));
      // What this program writes by itself changes nothing.
      this.#snapshot?.before.look.accept(this.#ownPlaces);
    }
    const snapshot = batch?.snapshot ?? this.#lastLook(true) ?? this.#look(resolved);
    const policy = batch === undefined ? snapshot.policy : withoutVanished(snapshot.policy);
    const unsteady = policy.unsteady || this.#othersReach(policy.rw_paths);
    // Limits are for commands, and it talks to nobody.
    const free = { limits: {}, network: true, network_allow: [] };
    const config = this.#configOf(found.value);
    return success({
      mounts: snapshot,
      own: this.#ownPlaces.map(stampOf).join(),
      commandsLive: batch !== undefined || unsteady,
      wrap: () =>
        this.#wrap(found.value, { ...resolved, ...free }, { ...policy, ...free, unsteady }, argv, config),
      failed: async (failure, { fingerprint }) => {
        this.#note([failure]);
        this.#snapshot = undefined;
        this.#detected = undefined;
        await forgetProbe(fingerprint, argv, this.host);
      },
    });
  }

  /**
   * The policy for one more command. What stands in the file system while another command lives may be that one's bait,
   * such as a folder that turns into a link before it is mounted. So the look that was made while none lived holds for
   * all of them: what it found cannot be moved by any, and what appeared since is judged when all are over. Whether a
   * look that is not new holds is seen at once, or, for a command that waits, when it is ready to begin.
   */
  #begin(resolved: ResolvedPolicy, waits: boolean): { policy: MountablePolicy; batch: Batch } {
    if (this.#active === 0 || this.#batch?.state === "outdated") {
      // Made before the protected paths are looked at, so that they are among those that exist; and only for a command
      // that runs, never for a report.
      makeRuntimeFolder(this.host.environment);
      this.#note(makeAskedFolders(resolved));
      // One that was made for the probe stems from before these folders were made.
      const used = this.#batch?.snapshot === this.#snapshot;
      const last = this.#lastLook(!used);
      // The document is written after each call, and mounted as it stands by now.
      if (used) last?.before.look.accept(this.#ownPlaces);
      this.#batch = {
        snapshot: last ?? this.#look(resolved),
        state: last === null || !used ? "fresh" : "unchecked",
      };
    }
    if (!waits && !this.#mayBegin(this.#batch!)) {
      this.#batch = { snapshot: this.#look(resolved), state: "fresh" };
      this.#mayBegin(this.#batch);
    }
    const batch = this.#batch!;
    const now = this.#active++ === 0 ? batch.snapshot.policy : withoutVanished(batch.snapshot.policy);
    const unsteady = now.unsteady || this.#othersReach(now.rw_paths);
    return { policy: unsteady === now.unsteady ? now : { ...now, unsteady }, batch };
  }

  /** Whether a command of this batch may begin. Before the first one it is noted what they could change. */
  #mayBegin(batch: Batch, moment = new Moment()): boolean {
    if (batch.state === "unchecked" && !batch.snapshot.before.look.holds(moment)) {
      batch.state = "outdated";
      this.#snapshot = undefined;
    }
    if (batch.state === "begun" || batch.state === "outdated") return batch.state === "begun";
    const { repositories, scan, watched } = this.#atStart();
    const found = scan.look(moment);
    repositories.remember(found, new FsSnapshot(moment));
    watched.remember(found.wanted, moment);
    batch.state = "begun";
    return true;
  }

  /** Waits until what earlier commands left is put right and somebody watches; why nobody does, or null. */
  async #whenSettled(): Promise<Problem | null> {
    while (true) {
      while (this.#settling !== undefined) await this.#settling;
      const problem = await this.#around?.begin() ?? null;
      // Meanwhile the last of the others may have ended, and the watch with it.
      if (problem !== null || this.#settling === undefined) return problem;
    }
  }

  /** Puts right what commands left behind, once none lives that could interfere. Others wait for it. */
  async #end(): Promise<void> {
    try {
      await this.#settle();
    } finally {
      await this.#turns.commandEnded();
    }
  }

  async #settle(): Promise<void> {
    if (--this.#active > 0) return;
    const { snapshot: { before }, state } = this.#batch!;
    // Where none began, what is other than before is nothing that a command did.
    const settled = state === "begun" ? this.#putRight(before) : Promise.resolve();
    this.#settling = settled.then(() => this.#around?.end()).finally(() => this.#settling = undefined);
    await this.#settling;
  }

  async #putRight(before: Before): Promise<void> {
    const { repositories, scan, watched } = this.#atStart();
    const keep = () => `${stateFolder(this.host.environment)}/moved`;
    const watchesGit = this.#policy.ok && this.#policy.value.protectWords.includes("$git");
    let moment = new Moment();
    let found: Found | undefined;
    const told = await settle(before, keep, (now) => {
      found = scan.look(moment = now);
      return watchesGit ? repositories.changed(found, new FsSnapshot(moment)) : [];
    });
    // The next command need not get ready by a look that is known not to hold.
    if (told !== null) this.#snapshot = undefined;
    // Where something was moved away the look before that no longer holds.
    if (found === undefined || (told?.length ?? 0) > 0) found = scan.look(moment = new Moment());
    this.#fileChanges.push(...watched.changed(found.wanted, moment));
    this.#note([...told ?? [], ...(watchesGit ? repositories.todos(new FsSnapshot(moment)) : [])]);
  }

  #track(
    preparation: BackendPreparation,
    batch: Batch,
    inner: readonly string[],
    waits: boolean,
  ): Prepared {
    let disposed = false;
    let recorded: string | undefined;
    let neverBegan: Promise<unknown> | undefined;
    const { policy: { rw_paths: writable, protect: held }, before } = batch.snapshot;
    const { tracked } = this.#atStart();
    let trackedBefore = waits ? NOTHING_TRACKED : tracked.now(held);
    const recordedAs = (leader: number): Problem | null => {
      const written = writtenDown(this.host.environment, leader, { writable, before: lasting(before) });
      if (written.ok) recorded = written.value;
      return written.ok ? null : written.problem;
    };
    return {
      argv: preparation.argv,
      wrapped: true,
      note: (output) => {
        const paths = notChanged(trackedBefore, tracked.now(held), output);
        return paths.length === 0 ? null : notChangedSentence(paths);
      },
      start: (options) => {
        const kind = options.stdin === undefined ? "empty" : "piped";
        const gated = waits
          ? preparation.argv
          : preparation.gated?.(kind) ?? withInnerScript([], kind, preparation.argv);
        return spawn(gated, options, {
          open: (leader, ended) => {
            const moment = new Moment();
            const problem = this.#mayBegin(batch, moment) ? recordedAs(leader) : OUTDATED;
            if (problem !== null) neverBegan = ended;
            else trackedBefore = tracked.now(held, new FsSnapshot(moment));
            return problem;
          },
        });
      },
      handOut: () => {
        const problem = recordedAs(Deno.pid);
        return problem === null ? success(undefined) : { ok: false, problem };
      },
      setupFailure: async (stderr, signal) => {
        const problem = await preparation.setupFailure(stderr, signal);
        if (problem !== null) {
          // The tool result holds the short sentence; cause and remedy are for the person, once it failed twice.
          if (this.#failedBefore) this.#note([problem]);
          this.#snapshot = undefined;
          this.#detected = undefined;
          await forgetProbe(preparation.fingerprint, inner, this.host);
        }
        this.#failedBefore = problem !== null;
        return problem;
      },
      dispose: async () => {
        if (disposed) return;
        disposed = true;
        try {
          // It may be making its files at this moment.
          await neverBegan;
          await preparation.dispose();
        } finally {
          await this.#end();
          // Only now: what it did has been put right.
          if (recorded !== undefined) forget(recorded);
        }
      },
    };
  }

  /** What is fixed for the run, found when it first matters, which is before any command. */
  #atStart(): Start {
    if (this.#start !== undefined) return this.#start;
    const snapshot = new FsSnapshot();
    const writable = this.#policy.ok ? this.#policy.value.rw_paths : [];
    const folders = foldersInReach(this.#workingFolders, writable);
    const scan = new TreeScan(folders, isWatchedName);
    const found = scan.look();
    const repositories = new RepositoriesOfRun(folders, found);
    const home = realPath(this.host.environment.home, this.host.environment.cwd, snapshot) ?? "/";
    const watched = new WatchedFiles(
      folders,
      home,
      (path) => writable.some((root) => isInside(path, root)),
    );
    const protection = { real: [], links: [] };
    this.#start = { repositories, scan, watched, tracked: new TrackedHeld(folders), protection };
    // What counts only by its present kind, `.git`, is not among them: a repository may be made during the run.
    const lasting = this.#protectedNow(snapshot).filter(({ unlessFolder }) => !unlessFolder);
    this.#start.protection = traceProtected(lasting, this.host.environment.cwd, snapshot);
    return this.#start;
  }

  #protectedNow(snapshot: FsSnapshot): ProtectedPath[] {
    const policy = this.#policy.ok ? this.#policy.value : null;
    return protectedPaths({
      asked: [...this.#asked, ...(policy?.protectAsked ?? [])],
      listed: [...(policy?.protectHome ?? []), ...this.#ownCode.protect],
      words: policy?.protectWords ?? [],
      writable: policy?.rw_paths ?? [],
      workingFolders: this.#workingFolders,
      ...this.#atStart().repositories.atStart,
      home: this.host.environment.home,
      gitConfigs: gitConfigsOf(this.host.environment),
    }, snapshot);
  }

  #isProtected(real: string, snapshot: FsSnapshot): boolean {
    const now = traceProtected(this.#protectedNow(snapshot), this.host.environment.cwd, snapshot).real;
    return [...this.#atStart().protection.real, ...now].some((path) => isInside(real, path));
  }

  #real(path: string, snapshot: FsSnapshot): string | null {
    const { cwd, home } = this.host.environment;
    return realPath(expandHome(path, home), cwd, snapshot);
  }

  #configOf({ name }: BackendEntry): BackendConfig {
    return this.#retried.get(name) ?? this.#settings.backends[name] ?? {};
  }

  #note(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const key = `${problem.code}\n${problem.message}`;
      if (!this.#notices.has(key)) this.#notices.set(key, problem);
    }
  }
}

/** The file of a record; without one the command must not start. */
function writtenDown(...[environment, leader, what]: Parameters<typeof record>): Outcome<string> {
  try {
    return success(record(environment, leader, what));
  } catch (thrown) {
    return failure("command-not-recorded", `The command was not started: ${thrownText(thrown)}.`);
  }
}

/** Told where what a command was wrapped by no longer held when it was ready; another attempt looks anew. */
const OUTDATED: Problem = {
  code: "sandbox-outdated",
  message: "What the sandbox protects was changed by somebody else while the command was about to start.",
  next: "Run it again.",
};

/** Where nothing stands around a process. */
const NO_WALL: Wall = {
  mounts: {},
  own: "",
  commandsLive: false,
  wrap: () => Promise.resolve(success(null)),
  failed: () => Promise.resolve(),
};

/** Which file stands at a path. */
function stampOf(path: string): string {
  try {
    const { dev, ino } = Deno.lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return "none";
  }
}

const NOTHING_TRACKED: TrackedFiles = new Map();

function folderOf(document: string, cwd: string): string | null {
  const real = realPath(document, cwd);
  return real === null ? null : parentOf(real);
}

function ownFolder(folder: string): Problem {
  return {
    code: "own-folder",
    message: `This program itself runs from ${folder}, so tools can change nothing there.`,
    next: "To let them, run a program that is installed elsewhere.",
  };
}

function bare(inner: readonly string[], waits: boolean, environment: Environment): Prepared {
  let recorded: string | undefined;
  return {
    argv: [...inner],
    wrapped: false,
    start: (options) => {
      const kind = options.stdin === undefined ? "empty" : "piped";
      const mark = newMark();
      return spawn(waits ? inner : withInnerScript([], kind, inner), options, {
        mark,
        open: (leader) => {
          const written = writtenDown(environment, leader, { writable: [], before: "null", mark });
          if (written.ok) recorded = written.value;
          return written.ok ? null : written.problem;
        },
      });
    },
    handOut: () => success(undefined),
    setupFailure: () => Promise.resolve(null),
    dispose: () => {
      if (recorded !== undefined) forget(recorded);
      return Promise.resolve();
    },
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

function wholeFolder(path: string): Problem {
  return {
    code: "too-many-git-folders",
    message:
      `There are too many git folders in ${path} to protect each, so all of it is read-only for commands.`,
    next: "Remove those you do not need, for instance with git worktree prune.",
  };
}

/** Links of one path once. */
function withoutTwins(links: Protection["links"]): Protection["links"] {
  return [...new Map(links.map((link) => [link.path, link])).values()];
}
