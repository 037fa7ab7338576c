// What background jobs may not write, in addition to the policy.

import { isInside, parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { Environment } from "../../base/environment.ts";
import type { MountablePolicy } from "../types.ts";

/**
 * Returns the policy for a background job. If tools work in another folder than the document's, and that folder is not
 * around the document, the job has the document's folder read-only: it lives while an editor saves the document by a
 * rename, which takes the file out of the job's read-only mount.
 */
export function policyForJob(
  policy: MountablePolicy,
  { environment, document }: { readonly environment: Environment; readonly document: string | null },
): MountablePolicy {
  const { workFolder, cwd } = environment;
  if (workFolder === undefined || document === null) return policy;
  const snapshot = new FsSnapshot();
  const work = realPath(workFolder, cwd, snapshot);
  const folder = realPath(parentOf(document), cwd, snapshot);
  if (work === null || folder === null || isInside(folder, work)) return policy;
  const rest = policy.rw_paths.filter((root) => root !== folder);
  const isAround = isInside(work, folder);
  const rw_paths = isAround && rest.length < policy.rw_paths.length ? [...rest, work] : rest;
  // A root around both folders cannot be narrowed to the folder of the tools.
  const isCovered = rest.some((root) => isInside(folder, root)) && !isAround;
  return { ...policy, rw_paths, protect: isCovered ? [...policy.protect, folder] : policy.protect };
}
