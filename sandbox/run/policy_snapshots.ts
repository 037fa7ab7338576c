// The policy as it can be mounted by a look at what is there, used again while that look holds.

import { isInside } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { othersAlive } from "../process/leftovers.ts";
import { mountablePolicy } from "../protect/mountable.ts";
import { type Protection, realApart, traceProtected } from "../protect/protect.ts";
import { type Before, before } from "../protect/repair.ts";
import type { MountablePolicy } from "../types.ts";
import type { RunContext } from "./context.ts";
import type { Notices } from "./notices.ts";

/** Paths of repositories that are not worked in, up to which each is mounted; a mount costs a millisecond. */
const MOST_APART = 12;

/** The policy as it can be mounted, and what to compare with afterwards. */
export interface PolicySnapshot {
  readonly policy: MountablePolicy;
  /** Existing protected paths of repositories that are not worked in. */
  readonly apart: readonly string[];
  /** Whether those are compared and not mounted. */
  readonly compares: boolean;
  /** Real paths that are protected, existing or not. */
  readonly real: readonly string[];
  readonly before: Before;
}

/** Looks for a run, and keeps the last one. */
export class PolicySnapshots {
  readonly #context: RunContext;
  readonly #notices: Notices;
  #last: PolicySnapshot | undefined;

  constructor(context: RunContext, notices: Notices) {
    this.#context = context;
    this.#notices = notices;
  }

  /** The last one, whether it still holds or not. */
  get last(): PolicySnapshot | undefined {
    return this.#last;
  }

  /** Forgets the last one: it is known not to hold, or was what failed. */
  forget(): void {
    this.#last = undefined;
  }

  /**
   * What was last found, if it can still be: most commands follow one another without a change near anything that matters.
   * Null when it cannot. Whether it is still so is seen now, or has to be later.
   */
  lastHolding(checked: boolean): PolicySnapshot | null {
    const last = this.#last;
    if (last === undefined || last.compares !== this.#compares(last.apart)) return null;
    return !checked || last.before.sealed.holds() ? last : null;
  }

  /** The policy for a command that starts now, and what has to be looked at when it has ended. */
  take(resolved: ResolvedPolicy): PolicySnapshot {
    const snapshot = new FsSnapshot();
    const start = this.#context.atStart(snapshot.stats).protection;
    const { environment } = this.#context.host;
    const paths = this.#context.protectedNow(snapshot);
    const now = traceProtected(paths, environment.cwd, snapshot);
    // A link to something hidden is put back like one to something protected: without it the next run would not hide
    // what it led to.
    const { links } = traceProtected(
      resolved.hiddenAsked.map((path) => ({ path })),
      environment.cwd,
      snapshot,
    );
    const protection = {
      // What is reached through a link by now counts where that leads.
      real: [
        ...new Set([...start.real.filter((path) => realPath(path, "/", snapshot) === path), ...now.real]),
      ],
      links: withoutTwins([...now.links, ...links]),
    };
    const apart = realApart(paths, environment.cwd, snapshot);
    const compares = this.#compares(apart);
    const compared = new Set(compares ? apart : []);
    const mounted = { ...protection, real: protection.real.filter((path) => !compared.has(path)) };
    const { policy, notices } = mountablePolicy(resolved, mounted, environment, snapshot);
    this.#notices.add(
      paths.filter(({ path, whole }) => whole && snapshot.has(path)).map(({ path }) => wholeFolder(path)),
    );
    this.#notices.add(notices);
    const reach = { writable: policy.rw_paths, exempt: this.#context.ownPlaces, apart: [...compared] };
    return this.#last = {
      policy,
      apart,
      compares,
      real: protection.real,
      before: before(protection, reach, snapshot),
    };
  }

  /** Whether a command of another process lives that can write around these paths, or that they can write around. */
  othersReach(paths: readonly string[]): boolean {
    return othersAlive(this.#context.host.environment).some(({ writable }) =>
      paths.some((path) => writable.some((root) => isInside(path, root) || isInside(root, path)))
    );
  }

  /**
   * Whether these paths, of repositories that are not worked in, are compared after a command instead of mounted before
   * it: because each mount costs more than the one before it, or because another run's command can reach them, which
   * could put a link where the mount is about to be made.
   */
  #compares(apart: readonly string[]): boolean {
    return apart.length > MOST_APART || (apart.length > 0 && this.othersReach(apart));
  }
}

/** Links of one path once. */
function withoutTwins(links: Protection["links"]): Protection["links"] {
  return [...new Map(links.map((link) => [link.path, link])).values()];
}

function wholeFolder(path: string): Problem {
  return {
    code: "too-many-git-folders",
    message:
      `There are too many git folders in ${path} to protect each, so all of it is read-only for commands.`,
    next: "Remove those you do not need, for instance with git worktree prune.",
  };
}
