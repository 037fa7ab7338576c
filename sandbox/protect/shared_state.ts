// What runs share whose commands can change the same protected files: one lock for snapshots and repairs, the state to
// restore, and reports about repairs. So their commands run at the same time, and none takes what another one changed
// for the state to restore.

import type { Environment } from "../../base/environment.ts";
import { STATE_REMEDY, stateFolder, StateUnwritable } from "../../base/folders.ts";
import { isInside } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { inGitFolders } from "../git/harmless.ts";
import { waitForPoll } from "../process/command_registry.ts";
import type { CommandRecord, Recorded } from "../process/leftovers.ts";
import { lastingOf } from "./recover.ts";
import type { Before } from "./repair.ts";

/** Milliseconds to wait for the lock. Repairs take a fraction of a second. */
const PATIENCE = 30_000;

/**
 * Takes the lock for snapshots and repairs, which all runs of this user share. Close the file to release it. Fails with
 * `sandbox-busy` and `command-not-recorded`.
 */
export async function lockRepairs(environment: Environment): Promise<Outcome<Deno.FsFile>> {
  const until = performance.now() + PATIENCE;
  let file: Deno.FsFile;
  try {
    const folder = `${stateFolder(environment)}/commands`;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    file = Deno.openSync(`${folder}/.repairs`, {
      create: true,
      write: true,
      mode: 0o600,
    });
  } catch (thrown) {
    const { message } = new StateUnwritable(environment, thrown);
    return failure("command-not-recorded", `The command was not started, because ${message}.`, STATE_REMEDY);
  }
  while (!file.tryLockSync(true)) {
    if (performance.now() > until) {
      file.close();
      return { ok: false, problem: BUSY };
    }
    await waitForPoll();
  }
  return success(file);
}

const BUSY: Problem = {
  code: "sandbox-busy",
  message: "The command did not run: another run has been restoring protected files for 30 seconds.",
  next: "Check that run, end it if it hangs, and run the command again.",
};

/**
 * Returns the state to restore if commands of other runs live that could have changed the present one. For everything
 * that such a run has recorded, its record is older than its commands, and counts instead of the present state.
 *
 * @param exempt paths that this program may create
 */
export function adoptState(
  own: Before,
  others: readonly Pick<CommandRecord, "before" | "writable">[],
  exempt: readonly string[],
  snapshot: FsSnapshot,
): Before {
  let state = own;
  for (const { before, writable } of others) {
    const known = lastingOf(before);
    if (known === null) continue;
    const existed = known.compared.map(({ path }) => path);
    const lacked = known.missing.filter((path) => !exempt.includes(path));
    const isKnown = (path: string) => [...existed, ...lacked].some((other) => isInside(path, other));
    const linked = new Set(known.links.map(({ path }) => path));
    const modes = new Map((known.modes ?? []).map((each) => [each.path, each]));
    const missing = [...new Set([...state.missing.filter((path) => !isKnown(path)), ...lacked])];
    state = {
      ...state,
      // The present state is not the one to restore.
      sealed: { holds: () => false, accept: () => {} },
      missing,
      missingInGit: inGitFolders(missing, snapshot),
      compared: [...state.compared.filter(({ path }) => !isKnown(path)), ...known.compared],
      links: [
        // A link that only the present state has can be one that a command has put in place of a folder.
        ...state.links.filter(({ path }) =>
          !linked.has(path) && !writable.some((root) => isInside(path, root))
        ),
        ...known.links,
      ],
      places: [...new Set([...state.places ?? [], ...known.places ?? []])].sort((a, b) =>
        a.length - b.length
      ),
      modes: [...(state.modes ?? []).filter(({ path }) => !modes.has(path)), ...modes.values()],
    };
  }
  return state;
}

/** Reports repairs to the other runs, whose commands can have caused them. */
export function reportToOthers(
  environment: Environment,
  others: readonly Recorded[],
  repairs: readonly Problem[],
): void {
  const folder = reportFolder(environment);
  // These records belong to runs and not to commands.
  const runs = others.filter(({ owner, leader, mark }) => mark === undefined && leader.pid === owner.pid);
  if (runs.length === 0 || repairs.length === 0) return;
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines = repairs.map((problem) => `${JSON.stringify(problem)}\n`).join("");
  for (const { file } of runs) {
    Deno.writeTextFileSync(`${folder}/${nameOf(file)}`, lines, { append: true, mode: 0o600 });
  }
}

/** The repairs that other runs have reported to the run with this record. Each is returned once. */
export function takeReports(environment: Environment, record: string): Problem[] {
  const path = `${reportFolder(environment)}/${nameOf(record)}`;
  try {
    const text = Deno.readTextFileSync(path);
    Deno.removeSync(path);
    return text.trim().split("\n").map((line) => JSON.parse(line));
  } catch {
    return []; // No run has reported anything.
  }
}

function reportFolder(environment: Environment): string {
  return `${stateFolder(environment)}/repaired`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
