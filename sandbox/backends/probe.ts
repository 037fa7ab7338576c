// The probe: runs a no-op command with the exact arguments of the policy to find out whether a sandbox works.

import { replaceSmallFile } from "../../base/files.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { runBriefly } from "../process/run_helper.ts";
import { makeRuntimeFolder, runtimeFolders } from "../process/runtime_folders.ts";
import type { BackendPreparation, Host } from "../types.ts";

/** The no-op command of a probe. */
export const EMPTY_COMMAND: readonly string[] = ["/bin/sh", "-c", ":"];

/** Time limit of a probe, in milliseconds. A start takes 20, but seconds on a machine that is very busy. */
const LIMIT = 30_000;

/**
 * Maximum number of results stored on disk. It is reached only if so many combinations of document and policy were used
 * since the machine started.
 */
const KEPT_FILES = 64;

/**
 * Arguments that worked in this process. Failures are not stored, because the person may fix their cause at any time.
 */
const worked = new Set<string>();

/**
 * Runs `preparation`, which must contain the no-op command. Skips the run if the same arguments worked before in this
 * process, or if a file records that they worked with the same boot, user and program (inode and time). An unreadable
 * file counts as missing. With `again`, the run is never skipped. Disposes of the preparation.
 */
export async function probe(
  preparation: BackendPreparation,
  host: Host,
  { again = false } = {},
): Promise<Outcome<void>> {
  try {
    const identity = identityOf(preparation.fingerprint);
    if (!again && identity !== null && (worked.has(identity) || await isRecorded(identity, host))) {
      return success(undefined);
    }
    const answer = await run(preparation, host);
    if (answer.ok && identity !== null) {
      worked.add(identity);
      await record(identity, host);
    }
    return answer;
  } finally {
    await preparation.dispose();
  }
}

/**
 * Forgets that these arguments worked, because they failed later. `fingerprint` may contain any command; `inner` is
 * that command.
 */
export async function forgetProbe(
  fingerprint: readonly string[],
  inner: readonly string[],
  host: Host,
): Promise<void> {
  const probed = [...fingerprint.slice(0, fingerprint.length - inner.length), ...EMPTY_COMMAND];
  const identity = identityOf(probed);
  if (identity === null) return;
  worked.delete(identity);
  const name = await fileName(identity);
  for (const folder of runtimeFolders(host.environment)) {
    try {
      await Deno.remove(`${folder}/${name}`);
    } catch {
      // This folder has no record of these arguments.
    }
  }
}

async function run(preparation: BackendPreparation, host: Host): Promise<Outcome<void>> {
  const { cwd, variables } = host.environment;
  const ran = await runBriefly(preparation.argv, { cwd, env: { PATH: variables.PATH ?? "" } }, LIMIT);
  if (!ran.ok) return ran;
  const { code, signal, stderr, timedOut } = ran.value;
  if (timedOut) {
    return failure("sandbox-setup-failed", `The sandbox did not start within ${LIMIT / 1000} seconds.`);
  }
  const problem = await preparation.setupFailure(stderr, signal);
  if (problem !== null) return preparation.mayRunAgain?.() ? run(preparation, host) : { ok: false, problem };
  if (code === 0) return success(undefined);
  const errorLine = stderr.split("\n").find((line) => line.trim() !== "");
  return failure(
    "sandbox-setup-failed",
    `An empty command failed inside the sandbox with exit code ${code}${
      errorLine ? `: ${errorLine.trim()}` : "."
    }`,
  );
}

/**
 * Returns a text that contains everything on which the result of a probe depends. If this is null, a part is unknown,
 * and the result is not stored.
 */
function identityOf(argv: readonly string[]): string | null {
  const program = argv[0];
  if (program === undefined || !program.startsWith("/")) return null;
  try {
    const boot = Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
    const { dev, ino, mtime } = Deno.statSync(program);
    return JSON.stringify({ boot, user: Deno.uid(), dev, ino, mtime: mtime?.getTime(), argv });
  } catch {
    return null;
  }
}

async function fileName(identity: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(identity));
  const hex = [...new Uint8Array(digest).subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `probe-${hex.join("")}`;
}

async function isRecorded(identity: string, host: Host): Promise<boolean> {
  const name = await fileName(identity);
  for (const folder of runtimeFolders(host.environment)) {
    try {
      if (Deno.readTextFileSync(`${folder}/${name}`) === identity) return true;
    } catch {
      // The file is missing or unreadable, so the probe runs again.
    }
  }
  return false;
}

async function record(identity: string, host: Host): Promise<void> {
  const folder = makeRuntimeFolder(host.environment);
  if (folder === null) return;
  const path = `${folder}/${await fileName(identity)}`;
  try {
    await removeOldest(folder);
    await replaceSmallFile(path, new TextEncoder().encode(identity), { durable: false });
  } catch {
    // The file only saves the next run a few milliseconds, so a failure to write it is ignored.
  }
}

async function removeOldest(folder: string): Promise<void> {
  const files: { path: string; time: number }[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.startsWith("probe-")) continue;
    const path = `${folder}/${name}`;
    files.push({ path, time: Deno.statSync(path).mtime?.getTime() ?? 0 });
  }
  files.sort((a, b) => b.time - a.time);
  for (const { path } of files.slice(KEPT_FILES - 1)) await Deno.remove(path);
}
