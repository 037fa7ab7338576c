// `flemma cancel`: cancels what another process runs for a document, or lists what is running.

import { type LiveRun, liveRuns, sendCancelRequest, waitForEnd } from "../../agent/runtime/cancel/ask.ts";
import { nothingRuns } from "../../agent/runtime/cancel/answer.ts";
import { cancelledWords } from "../../agent/runtime/cancel/hear.ts";
import type { CancelAnswer, CancelRequest } from "../../agent/runtime/cancel/request.ts";
import { isThere } from "../../base/files.ts";
import { absolutePath } from "../../base/paths.ts";
import { failed, failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { visible } from "../../base/visible.ts";
import { knownPath } from "../../cycle/storage/read.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import type { Invocation } from "../invocation.ts";
import { numberOption, switchOption } from "../line/options.ts";

/**
 * Milliseconds to wait for a run to end after its last call was cancelled, because killed programs first get time to
 * exit.
 */
const ENDING = 8000;

export async function run(invocation: Invocation): Promise<number> {
  const meant = meantBy(invocation);
  if (!meant.ok) return refuse(invocation, meant.problem);
  const { environment } = invocation;
  const { file, request } = meant.value;
  const found = await runsOf(await liveRuns(environment), environment, file);
  if (request.kind === "list") return await list(invocation, found);
  const [first] = found;
  if (first === undefined) return refuse(invocation, await nothing(environment, file));
  if (file === null && found.some(({ path }) => path !== first.path)) {
    return refuse(invocation, several(found));
  }
  return await cancel(invocation, found, request);
}

/** The document (null if none is named), and what to do with its runs. */
interface Meant {
  readonly file: string | null;
  readonly request: CancelRequest;
}

function meantBy({ arguments: given, environment }: Invocation): Outcome<Meant> {
  const { positionals } = given;
  if (positionals[0] === "-") {
    const next = "Name the file that the run was started with: flemma cancel FILE";
    return failure(
      "usage",
      "cancel finds a run by the path of its document, and a piped document has none.",
      next,
    );
  }
  const [word] = positionals;
  // A single word that cannot be a document names a call. The call then belongs to the only document that is running.
  const alone = positionals.length === 1 && word !== undefined &&
    !looksLikeFile(absolutePath(environment, word), word);
  const file = alone ? null : word ?? null;
  const target = alone ? word : positionals[1];
  const line = numberOption(given, "line");
  const all = switchOption(given, "all") === true;
  const listing = switchOption(given, "list") === true;
  const ways: readonly (CancelRequest | null)[] = [
    listing ? { kind: "list" } : null,
    all ? { kind: "all" } : null,
    line === undefined ? null : { kind: "line", line },
    target === undefined ? null : { kind: "call", text: target },
  ];
  const [request = { kind: "one" as const }, more] = ways.filter((way) => way !== null);
  if (more !== undefined) {
    return failure("usage", "TARGET, --line, --all and --list cannot be combined.", "Use one of them.");
  }
  return success({ file, request });
}

function looksLikeFile(path: string, word: string): boolean {
  return /[./]/.test(word) || isThere(path);
}

/** Returns the runs of a document, under any of its names; all runs if no document is named. */
async function runsOf(
  runs: readonly LiveRun[],
  environment: Invocation["environment"],
  file: string | null,
): Promise<readonly LiveRun[]> {
  if (file === null) return runs;
  const path = await knownPath(environment, file);
  const same = await Promise.all(runs.map((run) => isSame(run.path, path)));
  return runs.filter((_run, at) => same[at]);
}

/** True if two paths lead to the same file. Compares device and inode too, because one file may have several names. */
async function isSame(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  try {
    const [a, b] = await Promise.all([Deno.stat(one), Deno.stat(other)]);
    return a.ino !== null && a.ino === b.ino && a.dev === b.dev;
  } catch (thrown) {
    // The path given to a filter need not be an existing file.
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

/** Next step if there is nothing to cancel. */
const STATUS = "To see what a document waits for: flemma status FILE";

async function nothing(environment: Invocation["environment"], file: string | null): Promise<Problem> {
  if (file === null) return { code: "nothing-runs", message: "No document is running.", next: STATUS };
  if (!isThere(await knownPath(environment, file))) {
    return {
      code: "document-missing",
      message: `There is no file ${file}, and no run has that name.`,
      next: STATUS,
    };
  }
  return { code: "nothing-runs", message: `No run of ${file} is in progress.`, next: STATUS };
}

function several(runs: readonly LiveRun[]): Problem {
  const paths = [...new Set(runs.map(({ path }) => path))];
  return {
    code: "target-needed",
    message: `${paths.length} documents are running. Name one.`,
    details: paths.map((path) => `flemma cancel ${operands(path)}`),
  };
}

interface CancelResult {
  readonly cancelled: CancelAnswer["cancelled"];
  /** Runs in which something was cancelled and nothing else continues. */
  readonly ending: readonly LiveRun[];
  /** Requests and calls that continue in the runs that this command asked to cancel something. */
  readonly left: readonly string[];
}

async function cancel(
  invocation: Invocation,
  runs: readonly LiveRun[],
  request: CancelRequest,
): Promise<number> {
  const { messages, arguments: given } = invocation;
  const results = await askAll(runs, request);
  if (!results.ok) return refuse(invocation, results.problem);
  const { cancelled, ending, left } = results.value;
  const ended = (await Promise.all(ending.map((run) => waitForEnd(run, ENDING)))).every((over) => over);
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson({ cancelled, running: left, ended: ended && left.length === 0 })}\n`);
    return Exit.ok;
  }
  messages.note(`Cancelled ${visible(cancelled.map(cancelledWords).join(", "))}.`);
  if (left.length > 0) messages.note(`Still running: ${visible(left.join(", "))}.`);
  if (!ended) messages.say("flemma: The run has not ended yet. It may still write its document.");
  return Exit.ok;
}

/**
 * Asks the runs in turn. To cancel everything, asks all of them; to cancel one call, stops at the run that has the
 * call.
 */
async function askAll(runs: readonly LiveRun[], request: CancelRequest): Promise<Outcome<CancelResult>> {
  const cancelled: CancelAnswer["cancelled"][number][] = [];
  const ending: LiveRun[] = [];
  const left: string[] = [];
  let problem: Problem | null = null;
  for (const run of runs) {
    const answer = await sendCancelRequest(run, request);
    if (answer === "over") continue;
    if (answer === "silent") {
      problem = silent(run);
      continue;
    }
    problem ??= answer.problem;
    if (answer.cancelled.length === 0) continue;
    cancelled.push(...answer.cancelled);
    const goesOn = [
      ...answer.running.map(({ id, tool }) => `${id} (${tool})`),
      ...answer.requesting ? ["a request"] : [],
    ];
    if (goesOn.length === 0) ending.push(run);
    left.push(...goesOn);
    if (request.kind !== "all") break;
  }
  if (cancelled.length > 0) return success({ cancelled, ending, left });
  return failed(problem ?? nothingRuns());
}

function silent({ pid, host }: LiveRun): Problem {
  return {
    code: "cancel-unanswered",
    message:
      `Nothing was cancelled, because process ${pid} on ${host}, which runs the document, does not answer.`,
    next: `End it there with: kill ${pid}`,
  };
}

/** Lists what is running now, each call with its document. */
async function list({ arguments: given, messages }: Invocation, runs: readonly LiveRun[]): Promise<number> {
  const rows = (await Promise.all(
    runs.map(async (run) => ({ run, answer: await sendCancelRequest(run, { kind: "list" }) })),
  ))
    .filter(({ answer }) => answer !== "over");
  if (switchOption(given, "json") === true) {
    const listed = rows.map(({ run: { path, pid, host, since }, answer }) => ({
      document: path,
      pid,
      host,
      since,
      answers: typeof answer === "object",
      calls: typeof answer === "object" ? answer.running : [],
      request: typeof answer === "object" && answer.requesting,
    }));
    writeOutput(`${safeJson(listed)}\n`);
    return Exit.ok;
  }
  for (const { run: { path, pid, since }, answer } of rows) {
    const what = typeof answer !== "object" ? ["does not answer"] : [
      ...answer.running.map(({ id, tool }) => `${id} (${tool})`),
      ...answer.requesting ? ["a request"] : [],
    ];
    const words = what.length === 0 ? "nothing that can be cancelled" : what.join(", ");
    writeOutput(visible(`${path}  process ${pid}, since ${since.slice(11, 19)} UTC: ${words}`) + "\n");
  }
  if (rows.length === 0) messages.note("No document is running.");
  return Exit.ok;
}
