// The wall that the companion of a run would have now: that of a command, without its limits and its network.

import { type Outcome, success } from "../../base/problem.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { makeRuntimeFolder } from "../process/runtime_folders.ts";
import { makeAskedFolders, withoutVanished } from "../protect/mountable.ts";
import type { CommandParts, LiveCommands } from "./commands.ts";
import type { WorkerSandbox } from "./worker.ts";

/** What the wall is made from. */
export interface WorkerSandboxParts extends Omit<CommandParts, "around"> {
  readonly commands: LiveCommands;
  /** Ends and puts right what earlier runs left, and tells it. */
  recover(): Promise<void>;
}

/** A look that was made before counts as long as it holds, so that the mounts stay the same while nothing changes near them. */
export async function createWorkerSandbox(
  { context, snapshots, backend, commands, notices, recover }: WorkerSandboxParts,
  resolved: ResolvedPolicy,
  argv: readonly string[],
): Promise<Outcome<WorkerSandbox>> {
  const found = await backend.find();
  if (!found.ok) {
    // Where there is no wall to put up, what the program itself holds back is all there is, whatever the mode.
    if (found.problem.code === "backend-unavailable" || found.problem.code === "unknown-backend") {
      return success(UNSANDBOXED_WORKER);
    }
    notices.add([found.problem]);
    return found;
  }
  await recover();
  await commands.settled();
  const live = commands.snapshot;
  if (live === null) {
    makeRuntimeFolder(context.host.environment);
    notices.add(makeAskedFolders(resolved));
    // What this program writes by itself changes nothing.
    snapshots.last?.before.sealed.accept(context.ownPlaces);
  }
  const snapshot = live ?? snapshots.lastHolding(true) ?? snapshots.take(resolved);
  const policy = live === null ? snapshot.policy : withoutVanished(snapshot.policy);
  const unsteady = policy.unsteady || snapshots.othersReach(policy.rw_paths);
  // Limits are for commands, and it talks to nobody.
  const free = { limits: {}, network: true, network_allow: [] };
  return success({
    mounts: snapshot,
    own: context.ownPlaces.map(stampOf).join(),
    commandsLive: live !== null || unsteady,
    wrap: () => backend.wrap(found.value, { ...resolved, ...free }, { ...policy, ...free, unsteady }, argv),
    failed: async (failure, preparation) => {
      notices.add([failure]);
      await backend.failed(preparation, argv);
    },
  });
}

/** Where nothing stands around a process. */
export const UNSANDBOXED_WORKER: WorkerSandbox = {
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
