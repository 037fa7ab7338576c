// Runs git for flemma itself, inside a sandbox, without the person's hooks and settings.

import { concat } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { problemLine } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type { Host, Sandbox } from "../types.ts";

/** Milliseconds within which git must answer a question, also on a machine that is very busy. */
const PATIENCE = 30_000;

/** Settings of every run of git: it runs no program of the repository, and nothing in the background. */
const CONFIG: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
};

/** A run of git. */
export interface GitRun {
  /** Absolute path of the folder in which git runs. */
  readonly cwd: string;
  readonly args: readonly string[];
  /** Lines of input. @default none */
  readonly input?: readonly string[];
  /** Further settings. @default none */
  readonly config?: Readonly<Record<string, string>>;
  /** Milliseconds within which git must end. @default 30 seconds */
  readonly patience?: number;
  /** Ends git early. */
  readonly signal?: AbortSignal;
}

/** What git wrote, or why it did not answer, as the end of a sentence. */
export type GitAnswer =
  | { readonly ok: true; readonly value: Uint8Array }
  | { readonly ok: false; readonly why: string };

/** Runs git in a sandbox. Fails if the sandbox is on but cannot confine it. */
export async function runGit(
  sandbox: Pick<Sandbox, "enabled" | "prepare"> & { readonly host: Host },
  { home, variables }: Environment,
  { cwd, args, input = [], config = {}, patience = PATIENCE, signal }: GitRun,
): Promise<GitAnswer> {
  const failed = (why: string): GitAnswer => ({ ok: false, why });
  const git = sandbox.host.program("git");
  if (!git.ok) return failed(problemLine(git.problem));
  const prepared = await sandbox.prepare([git.value, "--no-optional-locks", ...args]);
  if (!prepared.ok) return failed(problemLine(prepared.problem));
  try {
    if (sandbox.enabled && !prepared.value.wrapped) return failed("no sandbox works here");
    const stdin = new Blob([input.map((each) => `${each}\n`).join("")]).stream();
    const env = {
      ...(variables.PATH === undefined ? {} : { PATH: variables.PATH }),
      HOME: home,
      LC_ALL: "C",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_NO_LAZY_FETCH: "1",
      GIT_TERMINAL_PROMPT: "0",
      ...configVariables({ ...CONFIG, ...config }),
    };
    const started = prepared.value.start({ cwd, env, stdin });
    if (!started.ok) return failed(problemLine(started.problem));
    const running = started.value;
    let isLate = false;
    const end = () => void running.kill();
    const inTime = after(patience, () => {
      isLate = true;
      end();
    });
    signal?.addEventListener("abort", end);
    try {
      if (signal?.aborted) end();
      const [stdout, stderr, { code }] = await Promise.all([
        bytesOf(running.stdout),
        bytesOf(running.stderr),
        running.status,
      ]);
      if (code === 0) return { ok: true, value: stdout };
      if (isLate) return failed(`it did not answer within ${patience / 1000} seconds`);
      const message = new TextDecoder().decode(stderr).trim().split("\n", 1)[0]!;
      return failed(message.replace(/\.$/, "") || `git ended with exit code ${code}`);
    } finally {
      signal?.removeEventListener("abort", end);
      inTime();
      await running.kill();
    }
  } finally {
    await prepared.value.dispose();
  }
}

/** Returns the variables by which git gets settings whose names may contain any character. */
function configVariables(config: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(config);
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(entries.length)],
    ...entries.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]);
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return concat(await Array.fromAsync(stream));
}
