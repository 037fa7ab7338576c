// The tool that runs a shell command inside the sandbox.

import { textOrEmpty } from "../../base/is_object.ts";
import { problemLine } from "../../base/problem.ts";
import { after, afterSilence } from "../../base/system/timer.ts";
import { plural } from "../../base/text/plural.ts";
import { SecretByteStream } from "../../base/text/secrets.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import { LONGEST_ARGUMENT, RUN_INPUT, WAIT_FOR_START } from "../../sandbox/process/inner_script.ts";
import type { ExitStatus, Running } from "../../sandbox/process/spawn.ts";
import {
  BACKGROUND,
  type BuiltinTool,
  CODING_ASSISTANT,
  type CommandOutput,
  type ExecutionContext,
  type ExecutionResult,
  SANDBOX_CAPABILITY,
  type ToolInput,
} from "../definition.ts";
import { overflowPath, ownerOf, type TruncateSettings } from "../overflow/file.ts";
import { STOPPED } from "../definition.ts";
import { sandboxSentence } from "../files/sandbox_sentence.ts";
import { withNotes } from "../run.ts";
import { characterStart, formatSize } from "../truncate.ts";
import { inputValidator } from "../validate.ts";
import { OutputCollector } from "./output_collector.ts";
import { labelComment, strictSchema } from "./schema.ts";
import { validators } from "./validators.generated.ts";
import { removeLeftTemporaries } from "./write_lock.ts";

/** Maximum timeout of a command in seconds, unless `tools.bash.max_timeout` says otherwise. */
const MAX_TIMEOUT = 600;
/** Longest timer in seconds; a longer one would fire immediately. */
const LONGEST_TIMER = 2 ** 31 / 1000 - 1;
/** Milliseconds for which output is still read after the shell ended. */
const DRAIN = 200;
/** Maximum number of bytes that are stored of the messages of the sandbox itself. */
const STDERR_BYTES = 16 * 1024;
/** Number of output bytes shown in full while the command runs; nobody reads more on a terminal. */
const PROGRESS_BYTES = 1024 * 1024;
/** Milliseconds between samples of later output, so that a person sees progress. */
const GLIMPSE_EVERY = 500;
/** Size of a sample in bytes. */
const GLIMPSE_BYTES = 1024;
/** Marks omitted output between two samples. */
const LEFT_OUT = "\n[…]\n";

/** Result text of a command that printed nothing. */
const NO_OUTPUT = "(no output)";

export interface BashOptions {
  readonly truncate: TruncateSettings;
  /** Default timeout of a command, in seconds. */
  readonly defaultTimeout: number;
  /** True if commands may run as background jobs. */
  readonly jobs: boolean;
}

/** Milliseconds for which a background job may end after SIGTERM. */
const JOB_PATIENCE = 3000;

/** Defines bash for the given limits, which its description names. */
export function bashTool({ truncate, defaultTimeout, jobs }: BashOptions): BuiltinTool {
  return {
    name: "bash",
    description:
      "Runs a command in a new shell and returns its standard output and standard error, interleaved as written. " +
      `Output beyond ${truncate.max_lines} lines or ${formatSize(truncate.max_bytes)} is cut to its end; ` +
      "the result then names a file with the complete output. There is no terminal and no standard input: use options " +
      "that disable prompts. Background processes end with the command. A failing command returns its output and " +
      "exit code.",
    input_schema: strictSchema({
      command: { type: "string", description: "Command to run, in bash syntax." },
      timeout: {
        type: ["number", "null"],
        description: `Time limit in seconds (null: ${defaultTimeout}).`,
      },
      ...(jobs
        ? {
          [BACKGROUND]: {
            type: ["boolean", "null"],
            description:
              "true: keep the command running as a background job, for a server or a long build, and return at once " +
              "with the id of the job. A job has no time limit unless timeout is given.",
          },
        }
        : {}),
    }),
    strict: true,
    async: true,
    effects: "writes",
    runs: "inside",
    capabilities: [SANDBOX_CAPABILITY],
    command_input: "command",
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "runs a command in a shell",
        guidelines: [
          "After a change, verify it: run the tests, the type check or the program itself.",
          "Run commands non-interactively: there is no terminal and no standard input.",
        ],
      },
    },
    config_schema: {
      type: "object",
      properties: {
        shell: { type: "string", default: "bash" },
        cwd: { type: ["string", "null"], default: "urn:flemma:buffer:path" },
        env: { type: "object", additionalProperties: { type: "string" }, default: {} },
        max_timeout: { type: "number", default: MAX_TIMEOUT },
      },
    },
    validate: inputValidator(validators.bash),
    format_preview: (input) =>
      `$ ${textOrEmpty(input.command)}${input[BACKGROUND] === true ? "  (background job)" : ""}${
        labelComment(input)
      }`,
    execute: (input, context) => runCommand(input, context, truncate),
  };
}

async function runCommand(
  input: ToolInput,
  context: ExecutionContext,
  truncate: TruncateSettings,
): Promise<ExecutionResult> {
  const command = textOrEmpty(input.command);
  if (command.trim() === "") return failed("The command is empty.");
  if (command.includes("\0")) {
    return failed("The command contains a NUL character, which a shell cannot accept. Remove it.");
  }
  const config = context.getConfig() ?? {};
  const seconds = context.background === undefined
    ? timeoutOf(input.timeout, context.timeout, config.max_timeout)
    : jobTimeoutOf(input.timeout);
  const { cwd } = context;
  if (!await isFolder(cwd)) return failed(`The working directory ${cwd} is not a folder.`);

  const policy = context.sandbox.policy();
  const writable = context.sandbox.enabled && policy.ok ? policy.value.rw_paths : [];
  const shell = findProgram(textOrEmpty(config.shell) || "bash", context.environment, writable);
  if (!shell.ok) return failed(problemLine(shell.problem));

  // Both streams share one pipe inside the shell, which keeps their order. The error pipe is left to the sandbox around
  // the shell.
  await removeLeftTemporaries(context.environment);
  const bytes = new TextEncoder().encode(command);
  const stdin = bytes.length > LONGEST_ARGUMENT ? bytes : undefined;
  const script = stdin === undefined ? `${WAIT_FOR_START}exec 2>&1\n${command}` : RUN_INPUT;
  const started = { command, argv: [shell.value, "-c", script], stdin, cwd, seconds };
  // The setup of the sandbox may fail because another process changed something at that moment. Then the command did
  // not run, so another attempt is safe.
  let left: Retries = RETRIES;
  while (true) {
    const result = await attempt(started, context, truncate, left);
    if (typeof result !== "string") return result;
    left = { ...left, [result]: left[result] - 1 };
  }
}

/**
 * Number of further attempts after each reason why a command did not run. Commands that start in parallel, next to
 * another program that keeps changing protected files, may outdate the sandbox of one of them several times.
 */
const RETRIES = { failed: 1, outdated: 8 };

type Retries = Readonly<typeof RETRIES>;

interface Command {
  /** As the model wrote it. */
  readonly command: string;
  readonly argv: readonly string[];
  /** The command itself, if it is too long for an argument. */
  readonly stdin: Uint8Array | undefined;
  readonly cwd: string;
  /** Time limit; null if there is none. */
  readonly seconds: number | null;
}

/** Runs the command once. Returns why it did not run if another attempt follows. */
async function attempt(
  { command, argv, stdin, cwd, seconds }: Command,
  context: ExecutionContext,
  truncate: TruncateSettings,
  left: Retries,
): Promise<ExecutionResult | keyof Retries> {
  const { background } = context;
  const prepared = await context.sandbox.prepare(argv, { waits: true, background: background !== undefined });
  if (!prepared.ok) return failed(sandboxSentence(prepared.problem));
  try {
    if (context.signal.aborted) return failed(background?.stopped() ?? STOPPED);
    const running = prepared.value.start({ cwd, env: context.env, stdin });
    if (!running.ok) {
      if (running.problem.code === "sandbox-outdated" && left.outdated > 0) return "outdated";
      return failed(prepared.value.wrapped ? sandboxSentence(running.problem) : problemLine(running.problem));
    }
    const place = { source: "bash", document: context.document, id: context.toolId };
    const collector = background?.createOutput() ?? new OutputCollector({
      maxLines: truncate.max_lines,
      maxBytes: truncate.max_bytes,
      maxFileSize: truncate.max_file_size,
      path: overflowPath(truncate.output_path_format, place, context.environment),
      owner: ownerOf(place),
      strayLink: (path) => context.sandbox.strayLink?.(path) ?? null,
    });
    try {
      const end = await watch(running.value, collector, seconds, context);
      if (end.reason === "cancel") {
        return failed(joined(await collector.finish(), background?.stopped() ?? STOPPED));
      }
      const failure = end.reason === "timeout"
        ? null
        : await prepared.value.setupFailure(end.stderr, end.status.signal);
      if (failure !== null && left.failed > 0) {
        await collector.abandon();
        return "failed";
      }
      const output = await collector.finish();
      if (failure !== null) return failed(`Sandbox: ${failure.forModel}`);
      const result = resultOf(end, output, seconds);
      const note = prepared.value.note?.(output, result.success ? undefined : { command }) ?? null;
      return withNotes(result, note === null ? [] : [note]);
    } finally {
      await running.value.kill();
    }
  } finally {
    await prepared.value.dispose();
  }
}

/** How a command ended. */
interface End {
  readonly reason: "exit" | "timeout" | "cancel";
  readonly status: ExitStatus;
  readonly stderr: string;
}

/** Reads until the shell exits, times out or is stopped. Afterwards none of its processes run. */
async function watch(
  running: Running,
  collector: CommandOutput,
  seconds: number | null,
  context: ExecutionContext,
): Promise<End> {
  const progress = new Progress(context);
  const secrets = new SecretByteStream();
  const take = async (chunk: Uint8Array) => {
    if (chunk.length === 0) return;
    progress.push(chunk);
    await collector.push(chunk);
  };
  const output = new PipeReader(running.stdout, (chunk) => take(secrets.write(chunk)));
  const stderr: Uint8Array[] = [];
  let stderrBytes = 0;
  const errors = new PipeReader(running.stderr, (chunk) => {
    if (stderrBytes < STDERR_BYTES) stderr.push(chunk.slice(0, STDERR_BYTES - stderrBytes));
    stderrBytes += chunk.length;
  });
  const reason = await firstOf(running, seconds, context.signal);
  if (reason === "exit") await drained(output, errors);
  else if (context.background !== undefined) await running.endGently(JOB_PATIENCE);
  // After a normal exit, this ends the background processes of the command.
  await running.kill();
  if (reason !== "exit") await drained(output, errors);
  await Promise.all([output.stop(), errors.stop()]);
  await take(secrets.end());
  return { reason, status: await running.status, stderr: await new Blob(stderr as BlobPart[]).text() };
}

function firstOf(running: Running, seconds: number | null, signal: AbortSignal): Promise<End["reason"]> {
  return new Promise((resolve) => {
    const settle = (reason: End["reason"]): void => {
      inTime();
      signal.removeEventListener("abort", onAbort);
      resolve(reason);
    };
    const onAbort = (): void => settle("cancel");
    const inTime = seconds === null ? () => {} : afterSilence(seconds * 1000, () => settle("timeout"));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    running.status.then(() => settle("exit"));
  });
}

/** Waits for the end of both pipes, but not for a child process that keeps one open. */
async function drained(...pipes: readonly PipeReader[]): Promise<void> {
  let inTime = (): void => {};
  const limit = new Promise<void>((resolve) => inTime = after(DRAIN, resolve));
  await Promise.race([Promise.all(pipes.map((pipe) => pipe.ended)), limit]);
  inTime();
}

/** Reads one pipe until it ends or is stopped. */
class PipeReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Resolves when the pipe has ended or was stopped and the last chunk was processed. */
  readonly ended: Promise<void>;

  constructor(pipe: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => void | Promise<void>) {
    this.#reader = pipe.getReader();
    this.ended = this.#read(take);
  }

  async #read(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      await take(value);
    }
  }

  /** Stops reading the pipe, and resolves after the last chunk was processed. */
  async stop(): Promise<void> {
    await this.#reader.cancel();
    await this.ended;
  }
}

/** Shows the beginning of the output while the command runs, and samples of the later output. */
class Progress {
  readonly #context: ExecutionContext;
  readonly #decoder = new TextDecoder();
  #passed = 0;
  #glimpsed = -Infinity;

  constructor(context: ExecutionContext) {
    this.#context = context;
  }

  push(chunk: Uint8Array): void {
    if (this.#passed < PROGRESS_BYTES) {
      this.#passed += chunk.length;
      this.#context.onOutput(this.#decoder.decode(chunk, { stream: true }));
      return;
    }
    const now = performance.now();
    if (now - this.#glimpsed < GLIMPSE_EVERY) return;
    this.#glimpsed = now;
    const from = Math.max(0, chunk.length - GLIMPSE_BYTES);
    const end = chunk.subarray(characterStart(chunk, from));
    this.#context.onOutput(`${LEFT_OUT}${new TextDecoder().decode(end)}`);
  }
}

function resultOf(end: End, output: string, seconds: number | null): ExecutionResult {
  if (end.reason === "timeout" && seconds !== null) {
    return ended(output, `The command timed out after ${plural(seconds, "second")} and was stopped.`);
  }
  const { code, signal } = end.status;
  // If the shell fails before it runs the first line, it reports this on the error pipe.
  const shown = output || (code === 0 ? "" : end.stderr.trim()) || NO_OUTPUT;
  if (signal !== null) return ended(shown, `The command was killed by ${signal}.`);
  if (code === 0) return { success: true, output: shown };
  const name = SIGNALS[code - 128];
  const note = name === undefined ? "" : ` (${name})`;
  return ended(shown, `The command failed with exit code ${code}${note}.`);
}

/** Signals that a shell reports as 128 + number, with the numbers common to all systems. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  6: "SIGABRT",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

function timeoutOf(asked: unknown, standard: number, maximum: unknown): number {
  const seconds = typeof asked === "number" && asked > 0 ? asked : standard;
  const most = typeof maximum === "number" && maximum > 0 ? maximum : MAX_TIMEOUT;
  return Math.min(seconds, most, LONGEST_TIMER);
}

function jobTimeoutOf(asked: unknown): number | null {
  return typeof asked === "number" && asked > 0 ? Math.min(asked, LONGEST_TIMER) : null;
}

function joined(output: string, sentence: string): string {
  return output === "" ? sentence : `${output}\n\n${sentence}`;
}

/**
 * Result of a failed command: its output, and a sentence that says why it ended. A terminal shows only the sentence.
 */
function ended(output: string, sentence: string): ExecutionResult {
  return { ...failed(joined(output, sentence)), status: sentence };
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
}
