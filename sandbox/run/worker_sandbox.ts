// The wall that the companion of a run would have now: that of a command, without its limits and its network.

import { type Outcome, success } from "../../base/problem.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { makeRuntimeFolder } from "../process/runtime_folders.ts";
import { makeAskedFolders, withoutVanished } from "../protect/mountable.ts";
import type { CommandParts, LiveCommands } from "./commands.ts";
import type { Wall } from "./worker.ts";

/** What the wall is made from. */
export interface WallParts extends Omit<CommandParts, "around"> {
  readonly commands: LiveCommands;
  /** Ends and puts right what earlier runs left, and tells it. */
  recover(): Promise<void>;
}

/** A look that was made before counts as long as it holds, so that the mounts stay the same while nothing changes near them. */
export async function wallNow(
  { ground, looks, backend, commands, notices, recover }: WallParts,
  resolved: ResolvedPolicy,
  argv: readonly string[],
): Promise<Outcome<Wall>> {
  const found = await backend.find();
  if (!found.ok) {
    // Where there is no wall to put up, what the program itself holds back is all there is, whatever the mode.
    if (found.problem.code === "backend-unavailable" || found.problem.code === "unknown-backend") {
      return success(NO_WALL);
    }
    notices.add([found.problem]);
    return found;
  }
  await recover();
  await commands.settled();
  const live = commands.look;
  if (live === null) {
    makeRuntimeFolder(ground.host.environment);
    notices.add(makeAskedFolders(resolved));
    // What this program writes by itself changes nothing.
    looks.last?.before.look.accept(ground.ownPlaces);
  }
  const snapshot = live ?? looks.lastHolding(true) ?? looks.look(resolved);
  const policy = live === null ? snapshot.policy : withoutVanished(snapshot.policy);
  const unsteady = policy.unsteady || looks.othersReach(policy.rw_paths);
  // Limits are for commands, and it talks to nobody.
  const free = { limits: {}, network: true, network_allow: [] };
  return success({
    mounts: snapshot,
    own: ground.ownPlaces.map(stampOf).join(),
    commandsLive: live !== null || unsteady,
    wrap: () => backend.wrap(found.value, { ...resolved, ...free }, { ...policy, ...free, unsteady }, argv),
    failed: async (failure, preparation) => {
      notices.add([failure]);
      await backend.failed(preparation, argv);
    },
  });
}

/** Where nothing stands around a process. */
export const NO_WALL: Wall = {
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
