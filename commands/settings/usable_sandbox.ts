// Checks that the sandbox works before a session turns it on, or before settings name its backend.

import { ownProtectedPaths } from "../../agent/sandbox.ts";
import type { Problem } from "../../base/problem.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { Loaded } from "../../config/sources/find.ts";
import type { Invocation } from "../invocation.ts";

/**
 * Returns why no sandbox works for the document; null if one works. If `document` is null, the answer is for all
 * documents.
 */
export async function sandboxProblem(
  invocation: Invocation,
  document: string | null,
  loaded: Loaded,
): Promise<Problem | null> {
  return (await testedSandbox(invocation, document, loaded)).problem;
}

/** The sandbox of a document, and why it does not work; the problem is null if it works. */
export async function testedSandbox(
  { environment }: Invocation,
  document: string | null,
  loaded: Loaded,
): Promise<{ readonly sandbox: RunSandbox; readonly problem: Problem | null }> {
  const { createSandbox } = await import("../../sandbox/mod.ts");
  // The check assumes an enabled sandbox, because it must also be possible while the sandbox is off.
  const sandbox = createSandbox({
    settings: { ...loaded.settings.sandbox, enabled: true },
    environment,
    document,
    protect: ownProtectedPaths({
      environment,
      documents: document === null ? [] : [document],
      configFiles: [...loaded.files, ...loaded.code],
    }),
    ignoreCache: true,
  });
  const backend = await sandbox.available();
  return { sandbox, problem: backend.ok ? null : backend.problem };
}
