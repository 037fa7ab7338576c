// Runs one hook: in the sandbox of commands, or outside it if the person's own settings say so.

import type { Environment } from "../../../base/environment.ts";
import { shellWord } from "../../../base/shell_word.ts";
import { failed, type Outcome, success } from "../../../base/problem.ts";
import { after } from "../../../base/system/timer.ts";
import { contentHash } from "../../../config/load_hooks.ts";
import { namedPaths, scriptOf } from "../../../config/hooks/command_words.ts";
import type { Hook } from "../../../config/hooks/definition.ts";
import type { LoadedHooks } from "../../../config/hooks/loaded.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import { type Running, type RunSandbox, toolEnvironment } from "../../../sandbox/mod.ts";
import { namedInShell } from "../../../sandbox/outside/named_code.ts";
import { isInReach, makeOutsidePlace, writableRoots } from "../../../sandbox/outside/place.ts";
import { findProgram } from "../../../sandbox/process/program.ts";
import { prepareUnsandboxed } from "../../../sandbox/process/unsandboxed.ts";
import type { PreparedCommand } from "../../../sandbox/types.ts";
import type { HookEnd, ScriptFault } from "./answer.ts";

/** Why a hook has no answer if the person canceled it. */
export const CANCELED = "was canceled";
/** Maximum bytes of the standard output, and of the standard error, that are kept. */
const MOST_OUTPUT = 1024 * 1024;
/** Milliseconds for which output is read after the hook has ended: what it left running may keep the pipes open. */
const DRAIN = 1000;
/** How often a hook is prepared again after the sandbox changed before it could begin. */
const MOST_ATTEMPTS = 8;

/** Everything that hooks run with. */
export interface HookPlace {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  readonly loaded: LoadedHooks;
}

/** Runs a hook. Fails with what went wrong, as the end of the sentence "The hook NAME …". */
export async function runOneHook(
  hook: Hook,
  input: string,
  place: HookPlace,
  signal: AbortSignal,
): Promise<Outcome<HookEnd, string>> {
  const paths = namedPaths(hook.command, commandPlace(place));
  for (const path of paths) {
    const seal = place.loaded.seals.get(path);
    if (seal !== undefined && seal !== await contentHash(path)) {
      return failed(
        `did not run: ${path} changed after this run began. Advance again to use the new version`,
      );
    }
  }
  const script = scriptOf(hook.command, commandPlace(place));
  const scriptFault = script === null ? null : faultOf(script);
  for (let attempt = 1;; attempt++) {
    const begun = await (hook.outside ? beginOutside(hook, input, place) : beginInside(hook, input, place));
    if (!begun.ok) {
      if (begun.problem === OUTDATED && attempt < MOST_ATTEMPTS && !signal.aborted) continue;
      return failed(begun.problem);
    }
    const { running, prepared } = begun.value;
    try {
      const ended = await outcomeOf(running, hook, signal);
      if (!ended.ok) return ended;
      const failure = await prepared.setupFailure(ended.value.stderr, ended.value.signal);
      if (failure !== null) return failed(`did not run: the sandbox failed: ${failure.forModel}`);
      return success({ ...ended.value, scriptFault });
    } finally {
      // This also ends what the hook left running.
      await running.kill();
      await prepared.dispose();
    }
  }
}

/** Marks a hook that did not begin because the sandbox was outdated. */
const OUTDATED = "did not run: the sandbox kept changing";

interface Begun {
  readonly running: Running;
  readonly prepared: PreparedCommand;
}

async function beginInside(
  { command, owner }: Hook,
  input: string,
  { environment, settings, sandbox, loaded }: HookPlace,
): Promise<Outcome<Begun, string>> {
  // The checks of the sandbox happen while it is set up, and the hook waits for a line before it begins.
  const argv = shellOf(`read -r _ || exit 125; ${command}`, environment, []);
  if (!argv.ok) return argv;
  const prepared = await sandbox.prepare(argv.value, { waits: true });
  if (!prepared.ok) return failed(`did not run: ${prepared.problem.message.replace(/\.$/, "")}`);
  const { value } = prepared;
  // The person can switch the sandbox off. A sandbox that fails to work must not move a hook out of it.
  if (!value.wrapped && (sandbox.enabled || owner === "project")) {
    await value.dispose();
    return failed("did not run: no sandbox works here");
  }
  const variables = toolEnvironment(environment.variables, settings.tools.env, {
    sandboxed: sandbox.enabled,
    kept: sandbox.socketVariables?.(),
    added: sandbox.addedVariables?.(),
  });
  return await started(value, loaded.project, { ...variables, CLAUDE_PROJECT_DIR: loaded.project }, input);
}

async function beginOutside(
  hook: Hook,
  input: string,
  { environment, settings, sandbox, loaded }: HookPlace,
): Promise<Outcome<Begun, string>> {
  const roots = writableRoots(sandbox);
  const variables = toolEnvironment(environment.variables, settings.tools.env, { sandboxed: false });
  const made = makeOutsidePlace("hooks", variables, environment, roots);
  if (!made.ok) return failed(`did not run: ${made.problem.message.replace(/\.$/, "")}`);
  const own = made.value;
  const reached = reachedByCommands(hook, { environment, loaded, roots, folder: own.cwd });
  if (reached !== null) {
    return failed(`did not run outside the sandbox: commands in the sandbox can change ${reached}`);
  }
  const argv = shellOf(hook.command, { ...environment, variables: own.variables }, roots);
  if (!argv.ok) return argv;
  const prepared = prepareUnsandboxed(argv.value, false, environment);
  return await started(prepared, own.cwd, { ...own.variables, CLAUDE_PROJECT_DIR: loaded.project }, input);
}

/**
 * Returns a program, script or file that a hook names and that commands can change; null if there is none.
 *
 * @param folder the folder in which the hook runs, if there is one already
 */
export function reachedByCommands(
  { command }: Pick<Hook, "command">,
  { environment, loaded, roots, folder }: Pick<HookPlace, "environment" | "loaded"> & {
    readonly roots: readonly string[];
    readonly folder?: string;
  },
): string | null {
  const named = namedPaths(command, commandPlace({ environment, loaded }))
    .find((path) => isThere(path) && isInReach(path, roots));
  const folders = [...(folder === undefined ? [] : [folder]), loaded.project];
  return named ?? namedInShell(command, { home: environment.home, folders, roots });
}

async function started(
  prepared: PreparedCommand,
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: string,
): Promise<Outcome<Begun, string>> {
  const running = prepared.start({ cwd, env, stdin: new TextEncoder().encode(input) });
  if (running.ok) return success({ running: running.value, prepared });
  await prepared.dispose();
  return failed(
    running.problem.code === "sandbox-outdated"
      ? OUTDATED
      : `did not run: ${running.problem.message.replace(/\.$/, "")}`,
  );
}

/** Runs a command line by bash, else by sh. */
function shellOf(
  command: string,
  environment: Environment,
  roots: readonly string[],
): Outcome<readonly string[], string> {
  for (const name of ["bash", "sh"]) {
    const shell = findProgram(name, environment, roots);
    if (shell.ok) return success([shell.value, "-c", command]);
  }
  return failed("did not run: neither bash nor sh is in PATH");
}

/** Waits for the end of a hook, at most for its time limit. */
async function outcomeOf(
  running: Running,
  { timeout }: Hook,
  signal: AbortSignal,
): Promise<Outcome<Omit<HookEnd, "scriptFault">, string>> {
  const [stdout, stderr] = [new Kept(running.stdout), new Kept(running.stderr)];
  const early = Promise.withResolvers<string>();
  const stopTimer = after(timeout * 1000, () => early.resolve(`was ended after ${timeout} seconds`));
  const onAbort = () => early.resolve(CANCELED);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const end = await Promise.race([running.status, early.promise]);
  stopTimer();
  signal.removeEventListener("abort", onAbort);
  if (typeof end === "string") {
    await running.kill();
    await Promise.all([stdout.stop(), stderr.stop()]);
    return failed(end);
  }
  const drained = Promise.withResolvers<void>();
  const stopDrain = after(DRAIN, () => drained.resolve());
  await Promise.race([Promise.all([stdout.ended, stderr.ended]), drained.promise]);
  stopDrain();
  await Promise.all([stdout.stop(), stderr.stop()]);
  return success({
    code: end.signal === null ? end.code : null,
    signal: end.signal,
    stdout: stdout.text,
    isCut: stdout.isCut,
    stderr: stderr.text,
  });
}

/** Reads a pipe to its end, and keeps the beginning. */
class Kept {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  readonly ended: Promise<void>;

  constructor(pipe: ReadableStream<Uint8Array>) {
    this.#reader = pipe.getReader();
    this.ended = this.#read();
  }

  get isCut(): boolean {
    return this.#bytes > MOST_OUTPUT;
  }

  get text(): string {
    const decoder = new TextDecoder();
    return this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  }

  async stop(): Promise<void> {
    await this.#reader.cancel();
    await this.ended;
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      if (this.#bytes < MOST_OUTPUT) this.#pieces.push(value.slice(0, MOST_OUTPUT - this.#bytes));
      this.#bytes += value.length;
    }
  }
}

function commandPlace(
  { environment: { home }, loaded: { project } }: Pick<HookPlace, "environment" | "loaded">,
) {
  return { home, project };
}

function faultOf(script: string): ScriptFault | null {
  let mode: number | null;
  try {
    ({ mode } = Deno.statSync(script));
  } catch {
    return { kind: "missing" };
  }
  return mode === null || (mode & 0o111) !== 0
    ? null
    : { kind: "not-executable", remedy: `chmod +x ${shellWord(script)}` };
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
