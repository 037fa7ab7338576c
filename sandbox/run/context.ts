// The context of a run. At its first use, the policy, the host, flemma's own files and the protected paths are
// determined, and do not change afterwards.

import { configFolder } from "../../base/folders.ts";
import { expandHome, foldersBetween, isInside, parentOf } from "../../base/paths.ts";
import type { Environment } from "../../base/environment.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import type { SandboxSettings } from "../../config/settings.generated.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { TreeScan } from "../paths/tree_scan.ts";
import { landlockVersion } from "../kernel/landlock_version.ts";
import { listeningSockets } from "../policy/listening.ts";
import { type ResolvedPolicy, resolvePolicy } from "../policy/policy.ts";
import { createHost } from "../process/host.ts";
import { runtimeFolders } from "../process/runtime_folders.ts";
import { Turns } from "../process/turns.ts";
import { type OwnCode, ownCode, runningProgram } from "../protect/own_code.ts";
import {
  findProtectedPaths,
  type ProtectedPath,
  type Protection,
  traceProtected,
} from "../protect/protect.ts";
import { isObeyedByGit } from "../git/file_tools.ts";
import { KnownRepositories } from "../git/known.ts";
import { RemovedSettings } from "../git/removed_settings.ts";
import {
  foldersInReach,
  gitConfigsOf,
  partialScanNotice,
  readOnlyFolderNotice,
  RepositoriesOfRun,
} from "../git/repositories.ts";
import { TrackedGuard } from "../protect/tracked.ts";
import { isWatchedName, WatchedFiles } from "../protect/watched.ts";
import type { Host } from "../types.ts";
import type { Notices } from "./notices.ts";
import { type SharedGitFolder, sharedGitFolder } from "../git/worktree.ts";
import type { SandboxOptions } from "./options.ts";
import { SharedNetworkKeeper } from "./shared_network.ts";

/** Values that are determined at the first use of the sandbox and do not change afterwards. */
interface Fixed {
  readonly policy: Outcome<ResolvedPolicy>;
  readonly host: Host;
  /** Document, settings and state paths, as they were named. */
  readonly asked: readonly string[];
  /** Paths that this program, or the person's editor, may create while a command runs. */
  readonly ownPlaces: readonly string[];
  readonly workingFolders: readonly string[];
  /** Git folders of worktrees and submodules that commands may write to, although no setting names them. */
  readonly shared: readonly SharedGitFolder[];
  readonly ownCode: OwnCode;
  readonly turns: Turns;
}

/** Values that are fixed before the first command, and the watchers of what commands change. */
export interface Start {
  readonly repositories: RepositoriesOfRun;
  readonly scan: TreeScan;
  readonly watched: WatchedFiles;
  readonly tracked: TrackedGuard;
  protection: Protection;
  /** Repositories that this and earlier runs found. */
  readonly known: KnownRepositories;
  readonly removed: RemovedSettings;
  /** What is not protected one by one, or not searched completely. */
  readonly limits: readonly Problem[];
}

/** The context of one run. Creating it reads nothing, because a report on a document without calls does not need it. */
export class RunContext {
  readonly enabled: boolean;
  readonly settings: SandboxSettings;
  readonly #options: SandboxOptions;
  readonly #notices: Notices;
  /** The network namespace for commands of the run and its background commands. */
  readonly network: SharedNetworkKeeper = new SharedNetworkKeeper();
  #fixed: Fixed | undefined;
  #start: Start | undefined;

  constructor(options: SandboxOptions, notices: Notices) {
    this.#options = options;
    this.#notices = notices;
    this.settings = structuredClone(options.settings);
    this.enabled = this.settings.enabled;
  }

  /** On the first call, fixes policy and paths as they are now. Probes no backend. */
  fix(): Fixed {
    if (this.#fixed !== undefined) return this.#fixed;
    const { environment, document, protect } = this.#options;
    const snapshot = new FsSnapshot();
    const resolved = resolvePolicy(this.settings, { environment, document });
    const workingFolders = [
      realPath(environment.cwd, "/", snapshot),
      environment.workFolder ?? (document === null ? null : folderOf(document, environment.cwd, snapshot)),
    ].filter((place) => place !== null);
    const shared = resolved.ok ? sharedFolders(workingFolders, resolved.value, environment, snapshot) : [];
    const policy = resolved.ok ? success(withShared(resolved.value, shared)) : resolved;
    const code = ownCode(environment, this.#options.running ?? runningProgram());
    const writable = policy.ok ? policy.value.rw_paths : [];
    const note = (problem: Problem) => this.#notices.add([problem]);
    const fixed = this.#fixed = {
      policy,
      host: createHost(environment, writable, note, () => this.network.current),
      // Settings, tool files and cached answers about the sandbox must stay out of reach too.
      asked: [...protect, configFolder(environment), ...runtimeFolders(environment)],
      ownPlaces: [...runtimeFolders(environment), ...code.mayAppear, ...(document === null ? [] : [document])]
        .map((path) => realPath(path, environment.cwd, snapshot))
        .filter((path) => path !== null),
      workingFolders,
      shared,
      ownCode: code,
      turns: new Turns(environment, note),
    };
    if (policy.ok && this.enabled) this.#notices.add(policy.value.notices);
    const { folder } = code;
    if (folder !== null && fixed.workingFolders.some((place) => isInside(place, folder))) {
      this.#notices.add([ownFolder(folder)]);
    }
    return fixed;
  }

  get host(): Host {
    return this.fix().host;
  }

  get policy(): Outcome<ResolvedPolicy> {
    return this.fix().policy;
  }

  /** Real path of the document now; null if there is none. */
  get document(): string | null {
    const { environment, document } = this.#options;
    return document === null ? null : realPath(document, environment.cwd);
  }

  get ownPlaces(): readonly string[] {
    return this.fix().ownPlaces;
  }

  get ownCode(): OwnCode {
    return this.fix().ownCode;
  }

  /** The paths of sockets that programs listen on now. */
  listening(): readonly string[] {
    return (this.#options.listening ?? listeningSockets)();
  }

  get turns(): Turns {
    return this.fix().turns;
  }

  /**
   * Returns the values that are fixed for the run. They are determined on first use, which is before any command.
   *
   * @param protectedIn snapshot of this moment, in which the caller looks up the protected paths too
   */
  atStart(protectedIn = new FsSnapshot()): Start {
    if (this.#start !== undefined) return this.#start;
    const { stats } = protectedIn;
    const snapshot = new FsSnapshot(stats);
    const writable = this.policy.ok ? this.policy.value.rw_paths : [];
    const folders = foldersInReach(this.fix().workingFolders, writable);
    const levels = folders.flatMap((place) =>
      writable.filter((root) => isInside(place, root)).flatMap((
        root,
      ) => [root, ...foldersBetween(root, place)])
    );
    const { shared } = this.fix();
    const elsewhere = writable.filter((root) => !shared.some(({ path }) => path === root));
    const scan = new TreeScan({ near: folders, elsewhere, levels }, isWatchedName);
    const known = new KnownRepositories(this.host.environment);
    const removed = new RemovedSettings(this.host.environment);
    const mountsNothing = this.#mountsNothing;
    const places = { folders, writable, known: known.below(writable), mountsNothing };
    const found = scan.scan(stats);
    const repositories = new RepositoriesOfRun(places, found, new FsSnapshot(stats));
    const { held, fitsUnmounted } = repositories.atStart;
    scan.skip(held);
    const home = realPath(this.host.environment.home, this.host.environment.cwd, snapshot) ?? "/";
    const watched = new WatchedFiles(
      folders,
      home,
      (path) => writable.some((root) => isInside(path, root)),
    );
    const protection = { real: [], links: [] };
    const partial = found.partial.filter((folder) => !held.includes(folder));
    // What was not searched can have more of them.
    const fits = held.length > 0 && fitsUnmounted && found.partial.length === 0;
    const other = fits && landlockVersion().ok ? "landlock" : null;
    const limits = [
      ...held.map((folder) => readOnlyFolderNotice(folder, other)),
      ...partial.map(partialScanNotice),
    ];
    const tracked = new TrackedGuard(folders, snapshot);
    this.#start = { repositories, known, removed, limits, scan, watched, tracked, protection };
    // Paths protected only by their present kind, such as `.git`, are excluded: a repository may be created during the
    // run.
    const lasting = this.protectedNow(protectedIn).filter(({ unlessFolder }) => !unlessFolder);
    this.#start.protection = traceProtected(lasting, this.host.environment.cwd, protectedIn);
    return this.#start;
  }

  /** True if the backend cannot mount protected files read-only. */
  get #mountsNothing(): boolean {
    return this.settings.backend === "landlock";
  }

  /** The paths that are protected now, as they were named. */
  protectedNow(snapshot: FsSnapshot): ProtectedPath[] {
    const policy = this.policy.ok ? this.policy.value : null;
    const { asked, workingFolders, shared } = this.fix();
    return findProtectedPaths({
      asked: [...asked, ...(policy?.protectAsked ?? [])],
      listed: [
        ...(policy?.protectHome ?? []),
        ...this.ownCode.protect,
        // Where files are restored after a command instead, a commit of the person would be undone.
        ...shared.flatMap(({ held, branches }) => this.#mountsNothing ? held : [...held, ...branches]),
      ],
      words: policy?.protectWords ?? [],
      writable: policy?.rw_paths ?? [],
      workingFolders,
      ...this.atStart().repositories.atStart,
      home: this.host.environment.home,
      gitConfigs: gitConfigsOf(this.host.environment),
    }, snapshot);
  }

  /** True if a real path is protected now, or was at the start. */
  isProtected(real: string, snapshot: FsSnapshot): boolean {
    const now = traceProtected(this.protectedNow(snapshot), this.host.environment.cwd, snapshot).real;
    const policy = this.policy.ok ? this.policy.value : null;
    const protectedPaths = [...this.atStart().protection.real, ...now];
    return protectedPaths.some((path) => isInside(real, path)) ||
      isOtherNameOf(real, protectedPaths, snapshot) ||
      (policy?.protectWords.includes("$git") === true && isObeyedByGit(real, policy.rw_paths, snapshot));
  }

  /** The real path of a path that someone named; null if it cannot be determined. */
  realPath(path: string, snapshot: FsSnapshot): string | null {
    const { cwd, home } = this.host.environment;
    return realPath(expandHome(path, home), cwd, snapshot);
  }
}

/** True if a path is a hard link to one of these files. A command can make one where the sandbox mounts nothing. */
function isOtherNameOf(real: string, paths: readonly string[], snapshot: FsSnapshot): boolean {
  const info = snapshot.lstat(real);
  if (info === null || !info.isFile || (info.nlink ?? 1) < 2) return false;
  return paths.some((path) => {
    const other = snapshot.lstat(path);
    return other?.isFile === true && other.dev === info.dev && other.ino === info.ino;
  });
}

/** The git folders that the working folders need for commits, if a policy protects git and grants these folders. */
function sharedFolders(
  workingFolders: readonly string[],
  { rw_paths, protectWords }: ResolvedPolicy,
  environment: Environment,
  snapshot: FsSnapshot,
): SharedGitFolder[] {
  if (!protectWords.includes("$git")) return [];
  const user = { uid: Deno.uid(), home: realPath(environment.home, environment.cwd, snapshot) ?? "/" };
  const found = workingFolders.filter((place) => rw_paths.some((root) => isInside(place, root)))
    .map((place) => sharedGitFolder(place, user, snapshot))
    .filter((shared) => shared !== null && !rw_paths.some((root) => isInside(shared.path, root)));
  return [...new Map(found.map((shared) => [shared!.path, shared!])).values()];
}

function withShared(policy: ResolvedPolicy, shared: readonly SharedGitFolder[]): ResolvedPolicy {
  if (shared.length === 0) return policy;
  const added = shared.map(({ path }) => ({
    path,
    entry: "the repository of this worktree",
    byDefault: true,
  }));
  return {
    ...policy,
    writable: [...policy.writable, ...added],
    rw_paths: [...policy.rw_paths, ...shared.map(({ path }) => path)],
  };
}

function folderOf(document: string, cwd: string, snapshot: FsSnapshot): string | null {
  const real = realPath(document, cwd, snapshot);
  return real === null ? null : parentOf(real);
}

function ownFolder(folder: string): Problem {
  return {
    code: "own-folder",
    message: `The program itself runs from ${folder}, so tools cannot change anything there.`,
    next: "To allow it, run a copy of flemma that is installed elsewhere.",
  };
}
