// Manages the live commands of a run. One shared snapshot wraps them; they start only while it is valid; and leftovers
// are repaired after the last one ends.

import { stateFolder, stateNotice } from "../../base/folders.ts";
import { type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { BackendEntry } from "../backends/registry.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import type { TreeScanResult } from "../paths/tree_scan.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { withInnerScript } from "../process/inner_script.ts";
import { removeRecord } from "../process/leftovers.ts";
import { makeRuntimeFolder } from "../process/runtime_folders.ts";
import { spawn } from "../process/spawn.ts";
import { makeAskedFolders, withoutVanished, withoutVanishedSockets } from "../protect/mountable.ts";
import { partialScanNotice } from "../git/repositories.ts";
import { serializeBefore } from "../protect/recover.ts";
import { endedProblem, SettingsWatch } from "../protect/settings_watch.ts";
import { type Before, repairChanges } from "../protect/repair.ts";
import { adoptState, lockRepairs, reportToOthers, takeReports } from "../protect/shared_state.ts";
import { notChanged, notChangedSentence, type TrackedFiles } from "../protect/tracked.ts";
import type { FileChange } from "../protect/watched.ts";
import type { BackendPreparation, MountablePolicy, PreparedCommand, PrepareOptions } from "../types.ts";
import type { BackendInUse } from "./backend_in_use.ts";
import { tryRecord } from "../process/unsandboxed.ts";
import { linksIntoCaches } from "./cache_links.ts";
import type { RunContext } from "./context.ts";
import type { PolicySnapshot, PolicySnapshots } from "./policy_snapshots.ts";
import type { Notices } from "./notices.ts";
import { policyForJob } from "./job_policy.ts";
import { refusalNote } from "./refusals.ts";
import type { CommandsWatch } from "./options.ts";

/**
 * Commands that live at the same time and share one snapshot, which is verified before the first of them begins. A
 * command that is prepared and waits for its start belongs to the batch.
 */
interface Batch {
  readonly snapshot: PolicySnapshot;
  /**
   * State of the batch. If the batch is `outdated`, none of its commands may begin, and commands that are prepared
   * later belong to a new batch.
   */
  state: "fresh" | "unchecked" | "begun" | "outdated";
  /** What is compared and restored after its commands. */
  before: Before;
  /**
   * The record that lets other runs adopt this state, if the backend repairs. It exists before the first command begins,
   * and until the changes of the last one are repaired.
   */
  shared: string | null;
}

function batchOf(snapshot: PolicySnapshot, state: Batch["state"]): Batch {
  return { snapshot, state, before: snapshot.before, shared: null };
}

/** The policy of a command, and its batch. */
interface Begun {
  readonly policy: MountablePolicy;
  readonly batch: Batch;
}

export interface CommandParts {
  readonly context: RunContext;
  readonly snapshots: PolicySnapshots;
  readonly backend: BackendInUse;
  readonly notices: Notices;
  readonly around: CommandsWatch | undefined;
}

export class LiveCommands {
  readonly #parts: CommandParts;
  readonly #fileChanges: FileChange[] = [];
  /** Repairs that no tool result has reported yet. */
  #repaired: string[] = [];
  /** The batch of the commands that live now, or lived last. */
  #batch: Batch | undefined;
  #settling: Promise<void> | undefined;
  /** True if the set-up of the last command failed. A second failure in a row is reported. */
  #failedBefore = false;
  #active = 0;
  /** Number of background commands among them. */
  #background = 0;
  /** Number of batches that have ended. */
  #batches = 0;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  /** Number of commands that are prepared and not yet disposed of. */
  get count(): number {
    return this.#active;
  }

  /** Number of background commands that are prepared and not yet disposed of. */
  get background(): number {
    return this.#background;
  }

  /** The snapshot that wraps the live commands; null if none lives. */
  get snapshot(): PolicySnapshot | null {
    return this.#active > 0 ? this.#batch!.snapshot : null;
  }

  /** Watched files that commands have changed so far, in the order of discovery. */
  fileChanges(): readonly FileChange[] {
    return [...this.#fileChanges];
  }

  /** What was repaired since the last call of this function, as sentences. */
  takeRepaired(): readonly string[] {
    const repaired = this.#repaired;
    this.#repaired = [];
    return repaired;
  }

  /** Reports repairs to the person, and with the next result to the model. */
  report(problems: readonly Problem[]): void {
    this.#parts.notices.add(problems);
    const repairs = problems.filter(({ code }) => code.startsWith("protected-"));
    this.#repaired.push(...repairs.map(({ message }) => message));
  }

  /** Prepares a command, after waiting for its turn and for repairs after earlier commands. */
  async prepare(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    inner: readonly string[],
    { waits = false, background = false }: PrepareOptions,
  ): Promise<Outcome<PreparedCommand>> {
    const { turns, host, document } = this.#parts.context;
    const turn = await turns.commandBegins(resolved.rw_paths, background);
    if (!turn.ok) return turn;
    const begun = entry.repairs === true
      ? await this.#beginShared(resolved, waits)
      : await this.#beginWatched(resolved, waits);
    if (!begun.ok) {
      await turns.commandEnded(background);
      return begun;
    }
    if (background) this.#background++;
    const { policy, batch } = begun.value;
    // A backend that repairs compares only what it has recorded before.
    const own = background && entry.repairs !== true
      ? policyForJob(policy, { environment: host.environment, document })
      : policy;
    const wrapped = await this.#parts.backend.wrap(entry, resolved, own, inner);
    if (wrapped.ok) {
      return success(
        this.#track(wrapped.value, batch, {
          inner,
          waits,
          background,
          socketGroups: resolved.socketGroups,
        }),
      );
    }
    await this.#end(background);
    return wrapped;
  }

  async #beginWatched(resolved: ResolvedPolicy, waits: boolean): Promise<Outcome<Begun>> {
    const unwatched = await this.#whenWatched(false);
    return unwatched === null ? success(this.#begin(resolved, waits)) : { ok: false, problem: unwatched };
  }

  /**
   * Begins a command whose changes are repaired. Under a lock, the first command of a batch adopts what other runs
   * restore, and records what this run restores, so that it does not matter which of them ends first.
   */
  async #beginShared(resolved: ResolvedPolicy, waits: boolean): Promise<Outcome<Begun>> {
    for (;;) {
      const unwatched = await this.#whenWatched(true);
      if (unwatched !== null) return { ok: false, problem: unwatched };
      const batches = this.#batches;
      const lock = await lockRepairs(this.#parts.context.host.environment);
      if (!lock.ok) return lock;
      using _ = lock.value;
      // If the last command of this run ended during the wait, its repairs come first.
      if (this.#batches !== batches) continue;
      const isFirst = this.#active === 0;
      const begun = this.#begin(resolved, waits);
      const problem = isFirst ? this.#share(begun.batch) : null;
      if (problem === null) return success(begun);
      this.#active--;
      return { ok: false, problem };
    }
  }

  /** Lets other runs know what this batch restores. Returns the reason why that is not possible, or null. */
  #share(batch: Batch): Problem | null {
    const { context, snapshots } = this.#parts;
    const { policy: { rw_paths: writable } } = batch.snapshot;
    const others = snapshots.othersUnsettled(writable);
    batch.before = adoptState(batch.before, others, context.ownPlaces, new FsSnapshot());
    const written = tryRecord(context.host.environment, Deno.pid, {
      writable,
      before: serializeBefore(batch.before),
    });
    if (!written.ok) return written.problem;
    snapshots.records.add(written.value);
    batch.shared = written.value;
    return null;
  }

  /** Waits until repairs after earlier commands are done. */
  async settled(): Promise<void> {
    while (this.#settling !== undefined) await this.#settling;
  }

  /** Waits for repairs and for the watch to begin. Returns the reason why the watch did not begin, or null. */
  async #whenWatched(reaches: boolean): Promise<Problem | null> {
    while (true) {
      await this.settled();
      const problem = await this.#parts.around?.begin(reaches) ?? null;
      // If the last of the other commands ended during the wait, the watch ended with it and has to begin again.
      if (problem !== null || this.#settling === undefined) return problem;
    }
  }

  /**
   * The policy for one more command. While another command lives, it could set a trap with files, such as a folder
   * that it turns into a link before the folder is mounted. So all live commands use the snapshot taken while no
   * command lived. No command can move what that snapshot found, and files that appeared since are checked when all
   * commands have ended. A reused snapshot is verified immediately, or, for a command that waits, when the command is
   * ready to begin.
   */
  #begin(resolved: ResolvedPolicy, waits: boolean): Begun {
    const { context, snapshots, notices } = this.#parts;
    if (this.#active === 0 || this.#batch?.state === "outdated") {
      // These folders are created before protected paths are inspected, which then finds them. They are created only if
      // a command runs, not for a report.
      makeRuntimeFolder(context.host.environment);
      notices.add(makeAskedFolders(resolved));
      // A snapshot taken for the probe is older than these folders.
      const used = this.#batch?.snapshot === snapshots.last;
      // flemma writes the document after each call. This does not outdate the snapshot, because each command mounts the
      // current version.
      if (used) snapshots.last?.before.sealed.accept(context.ownPlaces);
      const isChecked = !used || snapshots.repairs;
      const last = snapshots.lastHolding(isChecked);
      this.#batch = batchOf(
        last ?? snapshots.take(resolved),
        last === null || isChecked ? "fresh" : "unchecked",
      );
    }
    if (!waits && !this.#mayBegin(this.#batch!)) {
      this.#batch = batchOf(snapshots.take(resolved), "fresh");
      this.#mayBegin(this.#batch);
    }
    const batch = this.#batch!;
    const { policy } = batch.snapshot;
    const now = this.#active++ === 0 ? withoutVanishedSockets(policy) : withoutVanished(policy);
    const unsteady = now.unsteady || snapshots.othersReach(now.rw_paths);
    return { policy: unsteady === now.unsteady ? now : { ...now, unsteady }, batch };
  }

  /**
   * True if a command of this batch may begin. Before the first command begins, records the state of everything that
   * commands could change.
   */
  #mayBegin(batch: Batch, stats = new StatCache()): boolean {
    if (batch.state === "unchecked" && !batch.snapshot.before.sealed.holds(stats)) {
      batch.state = "outdated";
      this.#parts.snapshots.forget();
    }
    if (batch.state === "begun" || batch.state === "outdated") return batch.state === "begun";
    const { repositories, known, limits, scan, watched } = this.#parts.context.atStart();
    const found = scan.scan(stats);
    repositories.remember(found, scan.gitNames(), new FsSnapshot(stats));
    known.add(repositories.all(found, new FsSnapshot(stats)));
    if (this.#watchesGit) {
      this.#parts.notices.add(limits.filter(({ code }) => code === "too-many-repositories"));
    }
    watched.remember(found.wanted, stats);
    batch.state = "begun";
    return true;
  }

  /** Repairs leftovers once no command lives that could interfere. New commands wait for it. */
  async #end(background: boolean): Promise<void> {
    try {
      await this.#settle();
    } finally {
      await this.#parts.context.turns.commandEnded(background);
      if (background && --this.#background === 0) await this.#parts.context.network.close();
    }
  }

  async #settle(): Promise<void> {
    const batch = this.#batch!;
    const isLast = --this.#active === 0;
    if (isLast) this.#batches++;
    else if (batch.shared === null) return;
    const earlier = this.#settling ?? Promise.resolve();
    const settling = earlier.catch(() => undefined).then(() => this.#repair(batch, isLast)).finally(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    this.#settling = settling;
    await settling;
  }

  /** Repairs what commands of a batch changed, also while some of them live, if the backend repairs. */
  async #repair(batch: Batch, isLast: boolean): Promise<void> {
    const { context: { host: { environment } }, around } = this.#parts;
    // If no command of the batch began, there is nothing to repair.
    const repair = async () => batch.state === "begun" ? await this.#putRight(batch.before) : [];
    if (batch.shared === null) await repair();
    else {
      // Without the lock, a repair can still be done twice.
      const lock = await lockRepairs(environment);
      try {
        const others = this.#parts.snapshots.othersUnsettled(batch.snapshot.policy.rw_paths);
        this.report(takeReports(environment, batch.shared));
        reportToOthers(environment, others, await repair());
        if (isLast) this.#forget(batch.shared);
      } finally {
        if (lock.ok) lock.value.close();
      }
    }
    if (isLast) await around?.end();
  }

  get #watchesGit(): boolean {
    const { policy } = this.#parts.context;
    return policy.ok && policy.value.protectWords.includes("$git");
  }

  /** @returns what was repaired */
  async #putRight(before: Before): Promise<readonly Problem[]> {
    const { context, snapshots, notices } = this.#parts;
    const { repositories, known, removed, limits, scan, watched } = context.atStart();
    const keep = () => `${stateFolder(context.host.environment)}/moved`;
    const watchesGit = this.#watchesGit;
    let stats = new StatCache();
    let found: TreeScanResult | undefined;
    const reported = await repairChanges(
      before,
      keep,
      (now) => {
        found = scan.scan(stats = now);
        return watchesGit ? repositories.changed(found, new FsSnapshot(stats)) : [];
      },
      (path) => repositories.textBefore(path),
      removed,
    );
    // The next command must not use a snapshot that is known to be outdated. With a backend that repairs, everything is
    // compared, and the next command checks the snapshot itself.
    if (reported !== null && (reported.length > 0 || !snapshots.repairs)) snapshots.forget();
    // If files were moved away, the earlier scan is outdated, and the folders are scanned again.
    if (found === undefined || (reported?.length ?? 0) > 0) found = scan.scan(stats = new StatCache());
    this.#fileChanges.push(...watched.changed(found.wanted, stats));
    this.report(reported ?? []);
    if (!watchesGit) return reported ?? [];
    const snapshot = new FsSnapshot(stats);
    notices.add(repositories.todos(found, snapshot));
    known.add(repositories.all(found, snapshot));
    notices.add([known.problem, removed.problem].filter((problem) => problem !== null));
    // A command made more folders than are searched.
    const partial = found.partial.filter((folder) =>
      !limits.some(({ message }) => message.startsWith(`${folder} `))
    );
    notices.add(partial.map(partialScanNotice));
    const caches = context.policy.ok ? context.policy.value.caches : null;
    if (caches !== null) notices.add(linksIntoCaches(context.fix().workingFolders, caches));
    return reported ?? [];
  }

  /** Removes the record of a command that has ended. If this fails, the command still returns its result. */
  #forget(record: string): void {
    try {
      removeRecord(record);
    } catch (thrown) {
      const effect =
        "The record of a command that has ended stays, so the next run repairs its effects again.";
      this.#parts.notices.add([stateNotice(this.#parts.context.host.environment, thrown, effect)]);
    }
  }

  /** Ends a command that wrote something which git outside would run. Its effects are repaired as always. */
  #endWith(end: () => void, path: string): void {
    try {
      end();
    } catch {
      return; // It has ended.
    }
    this.report([endedProblem(path)]);
  }

  #track(
    preparation: BackendPreparation,
    batch: Batch,
    { inner, waits, background, socketGroups }: {
      readonly inner: readonly string[];
      readonly waits: boolean;
      readonly background: boolean;
      readonly socketGroups: readonly string[];
    },
  ): PreparedCommand {
    const { context, backend, notices } = this.#parts;
    let disposed = false;
    let cwd = context.host.environment.cwd;
    let recorded: string | undefined;
    let neverBegan: Promise<unknown> | undefined;
    let watch: SettingsWatch | undefined;
    const { policy: { rw_paths: writable, protect: protectedPaths } } = batch.snapshot;
    const { before } = batch;
    const { tracked } = context.atStart();
    let trackedBefore = waits ? NOTHING_TRACKED : tracked.now(protectedPaths);
    const recordedAs = (leader: number): Problem | null => {
      const written = tryRecord(context.host.environment, leader, {
        writable,
        before: serializeBefore(before),
        mark: preparation.mark,
      });
      if (!written.ok) return written.problem;
      this.#parts.snapshots.records.add(written.value);
      recorded = written.value;
      return null;
    };
    return {
      argv: preparation.argv,
      wrapped: true,
      note: (output, failed) => {
        const trackedAfter = tracked.now(protectedPaths);
        const paths = notChanged(trackedBefore, trackedAfter, output, (path) => tracked.isAsIndexed(path));
        // If git has changed its index, the working tree is incomplete, which matters more than the cause.
        const isPartial = paths.some((path) => trackedBefore.get(path) !== trackedAfter.get(path));
        const refused = failed === undefined || isPartial ? null : refusalNote({
          output,
          ...failed,
          cwd,
          environment: context.host.environment,
          policy: { ...batch.snapshot.policy, socketGroups },
          document: context.document,
          refusedHosts: preparation.refusedHosts?.() ?? [],
          root: context.host.root,
        });
        return refused ?? (paths.length === 0 ? null : notChangedSentence(paths));
      },
      start: (options) => {
        cwd = options.cwd;
        const kind = options.stdin === undefined ? "empty" : "piped";
        const gated = waits
          ? preparation.argv
          : preparation.gated?.(kind) ?? withInnerScript([], kind, preparation.argv);
        return spawn(gated, options, {
          open: (leader, ended) => {
            // The process replaces an earlier one whose set-up failed.
            watch?.close();
            if (recorded !== undefined) this.#forget(recorded);
            const stats = new StatCache();
            const problem = this.#mayBegin(batch, stats) ? recordedAs(leader) : OUTDATED;
            if (problem !== null) neverBegan = ended;
            else {
              const end = () => Deno.kill(-leader, "SIGKILL");
              watch = new SettingsWatch(before, (path) => this.#endWith(end, path));
            }
            if (problem === null) trackedBefore = tracked.now(protectedPaths, new FsSnapshot(stats));
            return problem;
          },
          isTied: preparation.isTied,
          mayRunAgain: preparation.mayRunAgain,
          takeStarted: () => preparation.takeStarted?.(waits ? null : kind, options) ?? null,
          wrapped: true,
        });
      },
      handOut: (end) => {
        const problem = recordedAs(Deno.pid);
        if (problem !== null) return { ok: false, problem };
        if (end !== undefined) watch = new SettingsWatch(before, (path) => this.#endWith(end, path));
        return success(undefined);
      },
      setupFailure: async (stderr, signal) => {
        const problem = await preparation.setupFailure(stderr, signal);
        if (problem !== null) {
          // The tool result has one short sentence about the failure. If the set-up fails twice in a row, the person
          // also gets cause and remedy.
          if (this.#failedBefore) notices.add([problem]);
          await backend.failed(preparation, inner);
        }
        this.#failedBefore = problem !== null;
        return problem;
      },
      mayRunAgain: preparation.mayRunAgain,
      dispose: async () => {
        if (disposed) return;
        disposed = true;
        try {
          watch?.close();
          // The process may be creating its files at this moment, so wait until it is gone.
          await neverBegan;
          await preparation.dispose();
        } catch (thrown) {
          // The command has ended, and its result must not get lost.
          const message = `The sandbox backend did not clean up after a command (dispose): ${
            thrownText(thrown)
          }.`;
          notices.add([{ code: "backend-failed", message }]);
        } finally {
          await this.#end(background);
          // The record is removed last: until the effects of the command are repaired, a later run may need it.
          if (recorded !== undefined) this.#forget(recorded);
        }
      },
    };
  }
}

/**
 * The failure of a command whose snapshot had become outdated before the command could start. Another attempt takes a
 * new snapshot.
 */
const OUTDATED: Problem = {
  code: "sandbox-outdated",
  message: "Another process changed a protected path while the command was starting, so it did not run.",
  next: "Run it again.",
};

const NOTHING_TRACKED: TrackedFiles = new Map();
