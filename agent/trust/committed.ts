// Asks git, inside the sandbox, for the committed text of a document.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { sha256 } from "../../base/hash.ts";
import { concat } from "../../base/bytes.ts";
import { problemLine } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";

/** The committed texts of a document: that of the last commit, and the staged one. */
export type Committed =
  | { readonly is: "untracked" }
  | { readonly is: "tracked"; readonly id: string; readonly texts: readonly Uint8Array[] }
  | { readonly is: "unknown"; readonly why: string };

/** Milliseconds within which git must answer. */
const PATIENCE = 10_000;

/** Whether a path lies in a folder that git may manage. Reads no repository. */
export function mayBeTracked(path: string): boolean {
  for (let folder = parentOf(path);; folder = parentOf(folder)) {
    if (isThere(`${folder === "/" ? "" : folder}/.git`)) return true;
    if (folder === "/") return false;
  }
}

/**
 * Asks for the text of a document in the last commit and in the index.
 *
 * @param sandbox in which commands can write nothing
 */
export async function committedText(
  path: string,
  sandbox: RunSandbox,
  { home, variables }: Environment,
): Promise<Committed> {
  if (!mayBeTracked(path)) return { is: "untracked" };
  const name = baseName(path);
  if (/[\n\r]/.test(name)) return { is: "unknown", why: "the file name contains a line break" };
  const git = sandbox.host.program("git");
  if (!git.ok) return { is: "unknown", why: problemLine(git.problem) };
  const options = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  const prepared = await sandbox.prepare([git.value, ...options, "cat-file", "--batch"]);
  if (!prepared.ok) return { is: "unknown", why: problemLine(prepared.problem) };
  try {
    if (sandbox.enabled && !prepared.value.wrapped) return { is: "unknown", why: "no sandbox works here" };
    const input = new Blob([`HEAD:./${name}\n:./${name}\n`]).stream();
    const env = {
      ...(variables.PATH === undefined ? {} : { PATH: variables.PATH }),
      HOME: home,
      LC_ALL: "C",
      GIT_NO_LAZY_FETCH: "1",
      GIT_TERMINAL_PROMPT: "0",
    };
    const started = prepared.value.start({ cwd: parentOf(path), env, stdin: input });
    if (!started.ok) return { is: "unknown", why: problemLine(started.problem) };
    const running = started.value;
    const inTime = after(PATIENCE, () => void running.kill());
    try {
      const [stdout, stderr, { code }] = await Promise.all([
        bytesOf(running.stdout),
        bytesOf(running.stderr),
        running.status,
      ]);
      if (code === 0) return await readBatch(stdout);
      const answer = new TextDecoder().decode(stderr).trim().split("\n", 1)[0]!;
      // A folder of that name that git does not accept as a repository brought nothing.
      if (/not a git repository/.test(answer)) return { is: "untracked" };
      return { is: "unknown", why: answer.replace(/\.$/, "") || `git ended with exit code ${code}` };
    } finally {
      inTime();
      await running.kill();
    }
  } finally {
    await prepared.value.dispose();
  }
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return concat(await Array.fromAsync(stream));
}

/** Reads the answer of `git cat-file --batch`: `ID blob SIZE`, the bytes and a line end; or `NAME missing`. */
export async function readBatch(answer: Uint8Array): Promise<Committed> {
  const texts: Uint8Array[] = [];
  const ids: string[] = [];
  for (let at = 0; at < answer.length;) {
    const end = answer.indexOf(0x0a, at);
    if (end < 0) return { is: "unknown", why: "git's answer is incomplete" };
    const [id = "", kind, size] = new TextDecoder().decode(answer.subarray(at, end)).split(" ");
    at = end + 1;
    if (kind !== "blob") continue;
    const length = Number(size);
    if (!(at + length < answer.length)) return { is: "unknown", why: "git's answer is incomplete" };
    texts.push(answer.subarray(at, at + length));
    ids.push(id);
    at += length + 1;
  }
  return texts.length === 0 ? { is: "untracked" } : { is: "tracked", id: await sha256(ids.join()), texts };
}
