// One run of the program mcporter: started as the person, outside of the sandbox, and ended when it takes too long.

import type { Environment } from "../../../base/environment.ts";
import { resolvePath } from "../../../base/paths.ts";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import { findProgram } from "../../../sandbox/process/program.ts";
import { spawn } from "../../../sandbox/process/spawn.ts";
import type { Sandbox } from "../../../sandbox/types.ts";

/** What the program is run with. */
export interface ProgramPlace {
  /** `tools.mcporter.path`. */
  readonly path: string;
  readonly environment: Environment;
  readonly sandbox: Sandbox;
  /** The variables that it may see. */
  env(): Readonly<Record<string, string>>;
}

/** What came of a run. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}

/** Bytes that it may answer with: as many as a server in one message. */
const MOST_OUTPUT = 16 * 1024 * 1024;
/** Characters of what it says beside that are kept. */
const MOST_SAID = 4000;

/**
 * Runs it and reads what it says. Fails with what is in the way of starting it, and with `mcporter-silent` when it took
 * too long, was stopped, or said more than memory may hold.
 *
 * It works in the home folder: a folder that somebody else filled may hold a configuration that names programs.
 */
export async function runMcporter(
  args: readonly string[],
  { path, environment, sandbox, env }: ProgramPlace,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Outcome<Said>> {
  const { home } = environment;
  const policy = sandbox.enabled ? sandbox.policy() : null;
  if (policy?.ok === false) return policy;
  const named = path.includes("/") ? resolvePath(path, { folder: home, home }) : path;
  const program = findProgram(named, environment, policy?.value.rw_paths ?? []);
  if (!program.ok) return program;
  if (signal.aborted) return failure("mcporter-silent", "mcporter was stopped.");
  const milliseconds = String(seconds * 1000);
  const started = spawn([program.value, ...args], {
    cwd: home,
    // Its own limits would be in the way of ours.
    env: { ...env(), MCPORTER_CALL_TIMEOUT: milliseconds, MCPORTER_LIST_TIMEOUT: milliseconds },
  });
  if (!started.ok) return started;
  const running = started.value;
  let why: string | null = null;
  const end = (reason: string) => {
    why ??= reason;
    void running.kill();
  };
  const stop = () => end("mcporter was stopped.");
  const timer = setTimeout(() => end(`mcporter gave no answer within ${seconds} s.`), seconds * 1000);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const [stdout, stderr, { code }] = await Promise.all([
      allOf(running.stdout, () => end(`mcporter answered with more than ${MOST_OUTPUT / 1024 / 1024} MiB.`)),
      endOf(running.stderr),
      running.status,
    ]);
    return why === null ? success({ code, stdout, stderr }) : failure("mcporter-silent", why);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    await running.kill();
  }
}

async function allOf(stream: ReadableStream<Uint8Array>, tooMuch: () => void): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > MOST_OUTPUT) tooMuch();
    else pieces.push(decoder.decode(chunk, { stream: true }));
  }
  return pieces.join("") + decoder.decode();
}

async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-MOST_SAID);
  }
  return text.trim();
}
