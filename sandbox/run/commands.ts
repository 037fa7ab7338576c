// The commands of a run that live: wrapped by one look for all, begun while it holds, and cleaned up after when all are over.

import { stateFolder } from "../../base/folders.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import type { BackendEntry } from "../backends/registry.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import type { Found } from "../paths/tree_scan.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { withInnerScript } from "../process/inner_script.ts";
import { forget } from "../process/leftovers.ts";
import { makeRuntimeFolder } from "../process/runtime_folders.ts";
import { spawn } from "../process/spawn.ts";
import { makeAskedFolders, withoutVanished } from "../protect/mountable.ts";
import { lasting } from "../protect/recover.ts";
import { type Before, settle } from "../protect/repair.ts";
import { notChanged, notChangedSentence, type TrackedFiles } from "../protect/tracked.ts";
import type { FileChange } from "../protect/watched.ts";
import type { BackendPreparation, MountablePolicy, Prepared } from "../types.ts";
import type { BackendInUse } from "./backend_in_use.ts";
import { writtenDown } from "../process/unsandboxed.ts";
import type { RunContext } from "./context.ts";
import type { PolicySnapshot, PolicySnapshots } from "./policy_snapshots.ts";
import type { Notices } from "./notices.ts";
import type { CommandsWatch } from "./options.ts";

/**
 * The commands that live at the same time. They are wrapped by one look, which is seen to hold before the first of them
 * begins; a command that waits for its start gets ready meanwhile.
 */
interface Batch {
  readonly snapshot: PolicySnapshot;
  /** Once outdated none of them may begin, and those that are prepared later are a batch of their own. */
  state: "fresh" | "unchecked" | "begun" | "outdated";
}

/** What the commands of a run share. */
export interface CommandParts {
  readonly context: RunContext;
  readonly snapshots: PolicySnapshots;
  readonly backend: BackendInUse;
  readonly notices: Notices;
  readonly around: CommandsWatch | undefined;
}

/** Makes commands ready, and sees to what they leave. */
export class LiveCommands {
  readonly #parts: CommandParts;
  readonly #fileChanges: FileChange[] = [];
  /** Of the commands that live now, or lived last. */
  #batch: Batch | undefined;
  #settling: Promise<void> | undefined;
  /** Whether the last command's set-up failed: a second time in a row is told. */
  #failedBefore = false;
  #active = 0;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  /** Those that were prepared and not yet disposed of. */
  get count(): number {
    return this.#active;
  }

  /** The look by which those that live are wrapped; null when none lives. */
  get snapshot(): PolicySnapshot | null {
    return this.#active > 0 ? this.#batch!.snapshot : null;
  }

  /** Watched files that commands have changed so far, in the order it was found out. */
  fileChanges(): readonly FileChange[] {
    return [...this.#fileChanges];
  }

  /** Makes a command ready, once it is its turn and what earlier ones left is put right. */
  async prepare(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    inner: readonly string[],
    waits: boolean,
  ): Promise<Outcome<Prepared>> {
    const { turns } = this.#parts.context;
    const turn = await turns.commandBegins(resolved.rw_paths);
    if (!turn.ok) return turn;
    const unwatched = await this.#whenWatched();
    if (unwatched !== null) {
      await turns.commandEnded();
      return { ok: false, problem: unwatched };
    }
    const { policy, batch } = this.#begin(resolved, waits);
    const wrapped = await this.#parts.backend.wrap(entry, resolved, policy, inner);
    if (wrapped.ok) return success(this.#track(wrapped.value, batch, inner, waits));
    await this.#end();
    return wrapped;
  }

  /** Waits until what earlier commands left is put right. */
  async settled(): Promise<void> {
    while (this.#settling !== undefined) await this.#settling;
  }

  /** Waits until it is, and somebody watches; why nobody does, or null. */
  async #whenWatched(): Promise<Problem | null> {
    while (true) {
      await this.settled();
      const problem = await this.#parts.around?.begin() ?? null;
      // Meanwhile the last of the others may have ended, and the watch with it.
      if (problem !== null || this.#settling === undefined) return problem;
    }
  }

  /**
   * The policy for one more command. What stands in the file system while another command lives may be that one's bait,
   * such as a folder that turns into a link before it is mounted. So the look that was made while none lived holds for
   * all of them: what it found cannot be moved by any, and what appeared since is judged when all are over. Whether a
   * look that is not new holds is seen at once, or, for a command that waits, when it is ready to begin.
   */
  #begin(resolved: ResolvedPolicy, waits: boolean): { policy: MountablePolicy; batch: Batch } {
    const { context, snapshots, notices } = this.#parts;
    if (this.#active === 0 || this.#batch?.state === "outdated") {
      // Made before the protected paths are looked at, so that they are among those that exist; and only for a command
      // that runs, never for a report.
      makeRuntimeFolder(context.host.environment);
      notices.add(makeAskedFolders(resolved));
      // One that was made for the probe stems from before these folders were made.
      const used = this.#batch?.snapshot === snapshots.last;
      const last = snapshots.lastHolding(!used);
      // The document is written after each call, and mounted as it stands by now.
      if (used) last?.before.sealed.accept(context.ownPlaces);
      this.#batch = {
        snapshot: last ?? snapshots.take(resolved),
        state: last === null || !used ? "fresh" : "unchecked",
      };
    }
    if (!waits && !this.#mayBegin(this.#batch!)) {
      this.#batch = { snapshot: snapshots.take(resolved), state: "fresh" };
      this.#mayBegin(this.#batch);
    }
    const batch = this.#batch!;
    const now = this.#active++ === 0 ? batch.snapshot.policy : withoutVanished(batch.snapshot.policy);
    const unsteady = now.unsteady || snapshots.othersReach(now.rw_paths);
    return { policy: unsteady === now.unsteady ? now : { ...now, unsteady }, batch };
  }

  /** Whether a command of this batch may begin. Before the first one it is noted what they could change. */
  #mayBegin(batch: Batch, stats = new StatCache()): boolean {
    if (batch.state === "unchecked" && !batch.snapshot.before.sealed.holds(stats)) {
      batch.state = "outdated";
      this.#parts.snapshots.forget();
    }
    if (batch.state === "begun" || batch.state === "outdated") return batch.state === "begun";
    const { repositories, scan, watched } = this.#parts.context.atStart();
    const found = scan.scan(stats);
    repositories.remember(found, new FsSnapshot(stats));
    watched.remember(found.wanted, stats);
    batch.state = "begun";
    return true;
  }

  /** Puts right what commands left behind, once none lives that could interfere. Others wait for it. */
  async #end(): Promise<void> {
    try {
      await this.#settle();
    } finally {
      await this.#parts.context.turns.commandEnded();
    }
  }

  async #settle(): Promise<void> {
    if (--this.#active > 0) return;
    const { snapshot: { before }, state } = this.#batch!;
    // Where none began, what is other than before is nothing that a command did.
    const settled = state === "begun" ? this.#putRight(before) : Promise.resolve();
    this.#settling = settled.then(() => this.#parts.around?.end()).finally(() => this.#settling = undefined);
    await this.#settling;
  }

  async #putRight(before: Before): Promise<void> {
    const { context, snapshots, notices } = this.#parts;
    const { repositories, scan, watched } = context.atStart();
    const keep = () => `${stateFolder(context.host.environment)}/moved`;
    const watchesGit = context.policy.ok && context.policy.value.protectWords.includes("$git");
    let stats = new StatCache();
    let found: Found | undefined;
    const reported = await settle(before, keep, (now) => {
      found = scan.scan(stats = now);
      return watchesGit ? repositories.changed(found, new FsSnapshot(stats)) : [];
    });
    // The next command need not get ready by a look that is known not to hold.
    if (reported !== null) snapshots.forget();
    // Where something was moved away the look before that no longer holds.
    if (found === undefined || (reported?.length ?? 0) > 0) found = scan.scan(stats = new StatCache());
    this.#fileChanges.push(...watched.changed(found.wanted, stats));
    notices.add([...reported ?? [], ...(watchesGit ? repositories.todos(new FsSnapshot(stats)) : [])]);
  }

  #track(
    preparation: BackendPreparation,
    batch: Batch,
    inner: readonly string[],
    waits: boolean,
  ): Prepared {
    const { context, backend, notices } = this.#parts;
    let disposed = false;
    let recorded: string | undefined;
    let neverBegan: Promise<unknown> | undefined;
    const { policy: { rw_paths: writable, protect: protectedPaths }, before } = batch.snapshot;
    const { tracked } = context.atStart();
    let trackedBefore = waits ? NOTHING_TRACKED : tracked.now(protectedPaths);
    const recordedAs = (leader: number): Problem | null => {
      const written = writtenDown(context.host.environment, leader, {
        writable,
        before: lasting(before),
        mark: preparation.mark,
      });
      if (written.ok) recorded = written.value;
      return written.ok ? null : written.problem;
    };
    return {
      argv: preparation.argv,
      wrapped: true,
      note: (output) => {
        const paths = notChanged(trackedBefore, tracked.now(protectedPaths), output);
        return paths.length === 0 ? null : notChangedSentence(paths);
      },
      start: (options) => {
        const kind = options.stdin === undefined ? "empty" : "piped";
        const gated = waits
          ? preparation.argv
          : preparation.gated?.(kind) ?? withInnerScript([], kind, preparation.argv);
        return spawn(gated, options, {
          open: (leader, ended) => {
            const stats = new StatCache();
            const problem = this.#mayBegin(batch, stats) ? recordedAs(leader) : OUTDATED;
            if (problem !== null) neverBegan = ended;
            else trackedBefore = tracked.now(protectedPaths, new FsSnapshot(stats));
            return problem;
          },
          isTied: preparation.isTied,
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
          if (this.#failedBefore) notices.add([problem]);
          await backend.failed(preparation, inner);
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
}

/** Told where what a command was wrapped by no longer held when it was ready; another attempt looks anew. */
const OUTDATED: Problem = {
  code: "sandbox-outdated",
  message: "What the sandbox protects was changed by somebody else while the command was about to start.",
  next: "Run it again.",
};

const NOTHING_TRACKED: TrackedFiles = new Map();
