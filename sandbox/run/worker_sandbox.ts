// Creates the sandbox that the worker of a run would get now. It is the sandbox of a command without its limits and
// network rules.

import { type Outcome, success } from "../../base/problem.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { makeRuntimeFolder } from "../process/runtime_folders.ts";
import { makeAskedFolders, withoutVanished, withoutVanishedSockets } from "../protect/mountable.ts";
import type { CommandParts, LiveCommands } from "./commands.ts";
import type { WorkerSandbox } from "./worker.ts";

export interface WorkerSandboxParts extends Omit<CommandParts, "around"> {
  readonly commands: LiveCommands;
  /** Ends commands that earlier runs left running, repairs what they changed, and reports both. */
  recover(): Promise<void>;
}

/**
 * Creates the sandbox of the worker. Reuses an earlier snapshot while it holds, so that the mounts stay the same if
 * nothing near them changes.
 */
export async function createWorkerSandbox(
  { context, snapshots, backend, commands, notices, recover }: WorkerSandboxParts,
  resolved: ResolvedPolicy,
  argv: readonly string[],
): Promise<Outcome<WorkerSandbox>> {
  const found = await backend.find();
  if (!found.ok) {
    // If this machine has no backend, the worker runs without a sandbox in every mode, and only the checks of this
    // program restrict it.
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
    // Files that this program writes do not outdate the snapshot.
    snapshots.last?.before.sealed.accept(context.ownPlaces);
  }
  const snapshot = live ?? snapshots.lastHolding(true) ?? snapshots.take(resolved);
  // File tools never change a git configuration, so it is mounted read-only for them.
  const settings = snapshot.repairs ? [] : snapshot.settings;
  const mounted = { ...snapshot.policy, protect: [...snapshot.policy.protect, ...settings] };
  const policy = live === null ? withoutVanishedSockets(mounted) : withoutVanished(mounted);
  const unsteady = policy.unsteady || snapshots.othersReach(policy.rw_paths);
  // Limits and network rules are for commands. The worker uses no network.
  const { block_unix_sockets: refuses_sockets } = resolved;
  const free = { limits: {}, network: true, network_allow: [], refuses_sockets };
  return success({
    mounts: snapshot,
    own: context.ownPlaces.map(stampOf).join(),
    commandsLive: live !== null || unsteady,
    wrap: () => backend.wrap(found.value, { ...resolved, ...free }, { ...policy, ...free, unsteady }, argv),
    failed: async (failure, preparation) => {
      // The next request starts the worker again, without the socket that vanished.
      if (preparation.mayRunAgain?.() !== true) notices.add([failure]);
      await backend.failed(preparation, argv);
    },
  });
}

export const UNSANDBOXED_WORKER: WorkerSandbox = {
  mounts: {},
  own: "",
  commandsLive: false,
  wrap: () => Promise.resolve(success(null)),
  failed: () => Promise.resolve(),
};

/** Identity of the file at a path. */
function stampOf(path: string): string {
  try {
    const { dev, ino } = Deno.lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return "none";
  }
}
