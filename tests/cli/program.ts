// The program as tests start it, either inside the test's own process or as a separate process, with one interface.

import { runInside } from "./in_process.ts";

/** The words that start the program from its sources. */
export const SOURCES: readonly string[] = [
  Deno.execPath(),
  ...["run", "-A", "--quiet"],
  new URL("../../cli.ts", import.meta.url).pathname,
];

/** The words that start the program as a process: those in `FLEMMA_TEST_PROGRAM`, a list in JSON, or those of its sources. */
export const PROGRAM: readonly string[] = JSON.parse(
  Deno.env.get("FLEMMA_TEST_PROGRAM") ?? JSON.stringify(SOURCES),
);

/** Whether every run is a process: the complete tests try what people install, not the sources. */
const ONLY_PROCESSES = Deno.env.get("FLEMMA_TEST_PROCESSES") !== undefined;

/** What a run finds around it. */
export interface Surroundings {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Standard input. @default the null device */
  readonly stdin?: string | Uint8Array;
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that was started and not waited for. */
export interface Started {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  kill(signal: Deno.Signal): void;
}

/** Runs the program to its end, without a process where that is left to the tests. */
export async function runProgram(words: readonly string[], around: Surroundings): Promise<Finished> {
  if (ONLY_PROCESSES) return await startProcess([...PROGRAM, ...words], around).finished;
  const { stdin } = around;
  const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin ?? null;
  const { code, output, errors } = await runInside(words, { ...around, input });
  return finishedOf(code, output, errors);
}

/** Starts a process, the program or any other. */
export function startProcess(words: readonly string[], { cwd, variables, stdin }: Surroundings): Started {
  const [program = "", ...args] = words;
  const child = new Deno.Command(program, {
    args,
    cwd,
    clearEnv: true,
    env: { ...variables },
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const fed = stdin === undefined ? Promise.resolve() : feed(child.stdin, stdin);
  const finished = Promise.all([child.output(), fed]).then(([output]) =>
    finishedOf(output.code, output.stdout, output.stderr)
  );
  return { pid: child.pid, finished, kill: (signal) => child.kill(signal) };
}

function finishedOf(code: number, output: Uint8Array, errors: Uint8Array): Finished {
  return {
    code,
    stdout: new TextDecoder("utf-8", { ignoreBOM: true }).decode(output),
    stderr: new TextDecoder().decode(errors),
  };
}

async function feed(stream: WritableStream<Uint8Array>, data: string | Uint8Array): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
    await writer.close();
  } catch {
    // The program may end, or be ended, before it read everything; its own output is what tests look at.
  }
}
