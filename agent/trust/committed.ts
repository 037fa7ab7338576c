// Asks git, inside the sandbox, for the committed text of a document.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { concat } from "../../base/bytes.ts";
import { problemLine } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";

/** The texts of a document in the repository: of the last commit, the index, a merge, a fetch and before a reset. */
export type Committed =
  | { readonly is: "untracked" }
  | { readonly is: "tracked"; readonly texts: readonly Uint8Array[] }
  | { readonly is: "unknown"; readonly why: string };

/** Milliseconds within which git must answer. */
const PATIENCE = 10_000;

/** Revisions from which git may have written the document. Stages 2 and 3 of the index are both sides of a conflict. */
const REVISIONS = ["HEAD:", ":", ":2:", ":3:", "MERGE_HEAD:", "FETCH_HEAD:", "ORIG_HEAD:"];

/** The beginnings of texts that a filter of git replaced. */
const FILTERED = ["version https://git-lfs.github.com/spec/", "\0GITCRYPT\0"];

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
  const inputs = REVISIONS.map((revision) => `${revision}./${name}`);
  // The repository may belong to another user, as in containers: git runs nothing outside the sandbox.
  const config = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.directory=*"];
  const options = ["--no-optional-locks", ...config.flatMap((entry) => ["-c", entry])];
  const prepared = await sandbox.prepare([git.value, ...options, "cat-file", "--batch"]);
  if (!prepared.ok) return { is: "unknown", why: problemLine(prepared.problem) };
  try {
    if (sandbox.enabled && !prepared.value.wrapped) return { is: "unknown", why: "no sandbox works here" };
    const input = new Blob([inputs.map((each) => `${each}\n`).join("")]).stream();
    const env = {
      ...(variables.PATH === undefined ? {} : { PATH: variables.PATH }),
      HOME: home,
      LC_ALL: "C",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
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
      if (code === 0) return readBatch(stdout, inputs);
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

/** Reads the answer of `git cat-file --batch` to each input: `ID KIND SIZE`, the bytes and a line end; or one line. */
export function readBatch(answer: Uint8Array, inputs: readonly string[]): Committed {
  const texts = new Map<string, Uint8Array>();
  let at = 0;
  for (const input of inputs) {
    const end = answer.indexOf(0x0a, at);
    if (end < 0) return INCOMPLETE;
    const line = new TextDecoder().decode(answer.subarray(at, end));
    at = end + 1;
    // The line repeats the input, which may look like any answer.
    if (line === `${input} missing`) continue;
    const [, id, kind, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
    const length = Number(size);
    if (id === undefined || !(at + length < answer.length)) return INCOMPLETE;
    if (kind === "blob") texts.set(id, answer.subarray(at, at + length));
    at += length + 1;
  }
  if (texts.size === 0) return { is: "untracked" };
  if ([...texts.values()].some(isFiltered)) {
    return {
      is: "unknown",
      why: "the repository holds another text than the file (a filter such as Git LFS)",
    };
  }
  return { is: "tracked", texts: [...texts.values()] };
}

const INCOMPLETE = { is: "unknown", why: "git's answer is incomplete" } as const;

function isFiltered(text: Uint8Array): boolean {
  const start = new TextDecoder().decode(text.subarray(0, 64));
  return FILTERED.some((beginning) => start.startsWith(beginning));
}
