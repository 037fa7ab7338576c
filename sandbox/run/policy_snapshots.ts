// Snapshots of the file system that turn a policy into mounts; the last one is reused while it holds.

import { isInside } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { unmaskedSockets } from "../policy/sockets.ts";
import { type CommandRecord, othersAlive, othersUnsettledThan, type Recorded } from "../process/leftovers.ts";
import { mountablePolicy } from "../protect/mountable.ts";
import { canRemember } from "../protect/compared.ts";
import { findComparedPaths, findSettings, type Protection, traceProtected } from "../protect/protect.ts";
import { type Before, before } from "../protect/repair.ts";
import type { MountablePolicy } from "../types.ts";
import type { RunContext } from "./context.ts";
import type { Notices } from "./notices.ts";

/**
 * Limit on protected paths in repositories outside the working folders that are mounted. Each mount costs a
 * millisecond.
 */
const MOST_APART = 12;

/** Documents and folders of helpers, which flemma writes also while commands live. */
const WRITTEN_HERE = /\.chat(?:\.d)?$/;

/** A mountable policy, and the state to compare with after commands. */
export interface PolicySnapshot {
  readonly policy: MountablePolicy;
  /** Existing git configurations, which are compared after a command so that it may add remotes and branches. */
  readonly settings: readonly string[];
  /** Existing protected paths of repositories outside the working folders. */
  readonly apart: readonly string[];
  /** True if the paths in `apart` are not mounted but compared after a command. */
  readonly compares: boolean;
  /** True if it is for a backend that repairs protected paths instead of keeping them read-only. */
  readonly repairs: boolean;
  /** Real paths that are protected, existing or not. */
  readonly real: readonly string[];
  readonly before: Before;
}

export class PolicySnapshots {
  readonly #context: RunContext;
  readonly #notices: Notices;
  #last: PolicySnapshot | undefined;
  /** True if the backend cannot keep protected paths read-only, so that they are all compared after a command. */
  repairs = false;
  /** The files of this run's records of commands. */
  readonly records = new Set<string>();

  constructor(context: RunContext, notices: Notices) {
    this.#context = context;
    this.#notices = notices;
  }

  /** The last snapshot, whether or not it still holds. */
  get last(): PolicySnapshot | undefined {
    return this.#last;
  }

  /** Discards the last snapshot, because it no longer holds or caused a failure. */
  forget(): void {
    this.#last = undefined;
  }

  /**
   * Returns the last snapshot if it may still be valid; otherwise null. Usually it is valid, because nothing relevant
   * changes between commands.
   *
   * @param checked whether to verify now that the snapshot is valid; if false, the caller verifies it later
   */
  lastHolding(checked: boolean): PolicySnapshot | null {
    const last = this.#last;
    if (last === undefined || last.repairs !== this.repairs) return null;
    if (last.compares !== this.#compares(last.apart)) return null;
    // Looked up even if the rest is verified later: a command must not wait for programs that often open sockets. A
    // socket that vanished does not matter.
    if (unmaskedSockets(this.#context.listening(), last.policy).length > 0) return null;
    return !checked || last.before.sealed.holds() ? last : null;
  }

  /** The policy for a command that starts now, and the state to compare with when it has ended. */
  take(resolved: ResolvedPolicy): PolicySnapshot {
    const snapshot = new FsSnapshot();
    const start = this.#context.atStart(snapshot).protection;
    const { environment } = this.#context.host;
    const paths = this.#context.protectedNow(snapshot);
    const now = traceProtected(paths, environment.cwd, snapshot);
    // A link to a hidden path is restored like a link to a protected one. Without the link, the next run would not
    // hide the target.
    const { links } = traceProtected(
      resolved.hiddenAsked.map((path) => ({ path })),
      environment.cwd,
      snapshot,
    );
    const protection = {
      // Includes the current targets of links.
      real: [
        ...new Set([...start.real.filter((path) => realPath(path, "/", snapshot) === path), ...now.real]),
      ],
      links: withoutTwins([...now.links, ...links]),
    };
    const settings = findSettings(paths, environment.cwd, snapshot);
    const apart = findComparedPaths(paths, environment.cwd, snapshot).filter((path) => !settings.has(path));
    const compares = this.#compares(apart);
    const compared = new Set(
      [...settings, ...(compares ? apart : [])].filter((path) => canRemember(path, snapshot)),
    );
    const needed = [
      ...paths.filter(({ asked }) => asked),
      ...this.#context.ownCode.protect.map((path) => ({ path })),
    ];
    const asked = this.repairs ? traceProtected(needed, environment.cwd, snapshot).real : [];
    const held = this.repairs ? this.#held(resolved, protection.real, { compared, asked }, snapshot) : [];
    const left = new Set([...compared, ...held]);
    const mounted = { ...protection, real: protection.real.filter((path) => !left.has(path)) };
    const listening = this.#context.listening();
    const { policy: base, notices } = mountablePolicy(resolved, mounted, environment, snapshot, listening);
    const { document } = this.#context;
    const partly = held.filter((path) =>
      path !== document && !WRITTEN_HERE.test(path) && !canRemember(path, snapshot)
    );
    const policy = this.repairs ? { ...base, held, partly } : base;
    this.#notices.add(
      paths.filter(({ path, whole }) => whole && snapshot.has(path)).map(({ path }) => wholeFolder(path)),
    );
    this.#notices.add(notices);
    const reach = {
      writable: policy.rw_paths,
      exempt: this.#context.ownPlaces,
      apart: [...compared],
      ...(this.repairs
        ? {
          // flemma itself writes the documents of callers and helpers meanwhile.
          kept: held.filter((path) => path !== document && !WRITTEN_HERE.test(path)),
          present: held.filter((path) => path === document),
          places: [...policy.inner, ...held],
          modes: this.#modes(resolved, protection.real, snapshot),
        }
        : {}),
    };
    return this.#last = {
      policy,
      settings: [...settings],
      apart,
      compares,
      repairs: this.repairs,
      real: protection.real,
      before: before(protection, reach, snapshot),
    };
  }

  /**
   * Existing protected paths in writable folders whose whole state can be recorded, and the document. This program
   * writes the document itself, so the document is not restored: approvals in it are checked instead. Outside the
   * working folders, a path that the program itself does not need may be recorded in part, because such folders often
   * hold what others put there.
   */
  #held(
    { rw_paths }: ResolvedPolicy,
    real: readonly string[],
    { compared, asked }: { readonly compared: ReadonlySet<string>; readonly asked: readonly string[] },
    snapshot: FsSnapshot,
  ): string[] {
    const { workingFolders } = this.#context.fix();
    const isElsewhere = (path: string) =>
      !asked.includes(path) && !workingFolders.some((folder) => isInside(path, folder));
    const own = this.#context.ownPlaces;
    const { document } = this.#context;
    return real.filter((path) =>
      !compared.has(path) && snapshot.has(path) && rw_paths.some((root) => isInside(path, root)) &&
      (path === document || WRITTEN_HERE.test(path) ||
        (!own.includes(path) && (isElsewhere(path) || canRemember(path, snapshot))))
    );
  }

  /** Paths outside the writable folders whose modes decide who can read or change the person's files. */
  #modes({ rw_paths, deny_read }: ResolvedPolicy, real: readonly string[], snapshot: FsSnapshot): string[] {
    const home = realPath(this.#context.host.environment.home, "/", snapshot);
    const dotted = home === null
      ? []
      : [home, ...snapshot.names(home, ".").map((name) => `${home === "/" ? "" : home}/${name}`)];
    return [...new Set([...dotted, ...deny_read, ...real])].filter((path) =>
      !rw_paths.some((root) => isInside(path, root)) && snapshot.has(path) && !snapshot.lstat(path)!.isSymlink
    );
  }

  /** True if a command of another process lives whose writable paths overlap with these. */
  othersReach(paths: readonly string[]): boolean {
    return overlap(paths, othersAlive(this.#context.host.environment));
  }

  /** The commands of other runs that can write to these paths, and whose changes are not repaired yet. */
  othersUnsettled(paths: readonly string[]): Recorded[] {
    return othersUnsettledThan(this.records, this.#context.host.environment)
      .filter((command) => overlap(paths, [command]));
  }

  /**
   * True if these paths, in repositories outside the working folders, are compared after a command instead of being
   * mounted before it. There are two reasons for that: each mount costs more than the one before it; and another run's
   * command could put a link where the mount is about to be made.
   */
  #compares(apart: readonly string[]): boolean {
    return apart.length > MOST_APART || (apart.length > 0 && this.othersReach(apart));
  }
}

/** True if one of these commands can write to one of the paths, or to what is inside or around it. */
function overlap(paths: readonly string[], commands: readonly CommandRecord[]): boolean {
  return commands.some(({ writable }) =>
    paths.some((path) => writable.some((root) => isInside(path, root) || isInside(root, path)))
  );
}

function withoutTwins(links: Protection["links"]): Protection["links"] {
  return [...new Map(links.map((link) => [link.path, link])).values()];
}

function wholeFolder(path: string): Problem {
  return {
    code: "too-many-git-folders",
    message: `${path} has too many git folders to protect each one, so it is read-only for commands.`,
    next: "Remove unneeded ones, for example with git worktree prune.",
  };
}
