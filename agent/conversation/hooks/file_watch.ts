// Notices that a hook changed the file of a call: the model may go on editing it, and undo restores it.

import type { Emit } from "../../../cycle/types.ts";
import { contentHash } from "../../../config/load_hooks.ts";
import { realPathOrNull } from "../../../base/files.ts";
import { catchUp, findUnchanged } from "../../../tools/builtin/seen_files.ts";
import type { ToolsSubject } from "../../tools.ts";
import type { DecidedCall } from "../../../tools/approval/downgrades.ts";
import type { FileWatch } from "./hooks.ts";

const NOTHING: FileWatch = { changed: () => Promise.resolve([]) };

/** Watches a file while hooks run after a call. */
export async function watchFile(
  call: DecidedCall,
  file: string | null,
  { seen, kept }: Pick<ToolsSubject, "seen" | "kept">,
  emit: Emit,
): Promise<FileWatch> {
  const path = file === null ? null : realPathOrNull(file);
  const hash = path === null ? "" : await contentHash(path);
  if (path === null || hash === "") return NOTHING;
  const shownAs = typeof call.input.path === "string" ? call.input.path : path;
  const [after, unchanged] = await Promise.all([
    kept?.keep(call, { path, shownAs }),
    findUnchanged(seen),
  ]);
  return {
    async changed() {
      await after?.();
      if (await contentHash(path) === hash) return [];
      await catchUp(seen, unchanged.filter((each) => each === path));
      emit({ event: "file:changed", path, id: call.id });
      return [`[hook changed ${shownAs}]`];
    },
  };
}
