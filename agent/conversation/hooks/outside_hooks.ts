// Lists the hooks that run outside the sandbox, and what commands could change about them.

import type { SubjectSettings } from "../../settings.ts";
import { type DocumentPaths, sandboxOf } from "../../sandbox.ts";
import { writableRoots } from "../../../sandbox/outside/place.ts";
import { reachedByCommands } from "./run_hook.ts";

/** A hook that runs outside the sandbox. */
export interface OutsideHook {
  readonly name: string;
  readonly event: string;
  readonly command: string;
  /** The file that defines the hook. */
  readonly file: string;
  /** A program, script or file that the hook names and that commands can change; null if there is none. */
  readonly reachable: string | null;
}

/** Returns the hooks that run outside the sandbox. Runs none. */
export function outsideHooks(subject: SubjectSettings, paths: DocumentPaths): readonly OutsideHook[] {
  const { environment, loaded } = subject;
  const outside = loaded.hooks?.hooks.filter((hook) => hook.outside && hook.fault === null) ?? [];
  if (loaded.hooks === null || outside.length === 0) return [];
  const roots = writableRoots(sandboxOf(environment, paths, subject));
  const place = { environment, loaded: loaded.hooks, roots };
  return outside.map((hook) => ({
    name: hook.name,
    event: hook.event,
    command: hook.command,
    file: hook.file,
    reachable: reachedByCommands(hook, place),
  }));
}
