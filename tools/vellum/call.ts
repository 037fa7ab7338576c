// Runs one call of a tool file: sends its facts to a host, answers the tool's questions, and builds the result.

import { problemLine } from "../../base/problem.ts";
import { isObject } from "../../base/is_object.ts";
import { workFolderOf } from "../../base/paths.ts";
import { plural } from "../../base/text/plural.ts";
import type { PluginSandbox } from "../context.ts";
import type { ExecutionContext, ExecutionResult, ToolInput } from "../definition.ts";
import { STOPPED } from "../definition.ts";
import { takeFile } from "../overflow/attachments.ts";
import type { FileDefinition } from "./read_definition.ts";
import type { Final, HostProcess } from "./host_process.ts";
import type { Hosts } from "./hosts.ts";
import type { CallFacts, Question } from "./protocol.ts";
import { readVellumResult } from "./result.ts";
import { Texts } from "./texts.ts";

/** Milliseconds for a cancelled tool to end on its own. */
const GRACE = 2000;

/** The tool to call. */
export interface Callee {
  readonly definition: FileDefinition;
  /** URL of its module. */
  readonly module: string;
  /** Seconds that a call may take. */
  readonly timeout: number;
}

/** Runs one call. Every failure becomes the result. */
export async function callFile(
  hosts: Hosts,
  callee: Callee,
  input: ToolInput,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const outcome = await hosts.use(callee.definition.target, (host) => runIn(host, callee, input, context));
  return outcome.ok ? outcome.value : { success: false, error: problemLine(outcome.problem) };
}

async function runIn(
  host: HostProcess,
  { definition, module, timeout }: Callee,
  input: ToolInput,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  if (context.signal.aborted) return { success: false, error: STOPPED };
  const facts = factsOf(definition, context);
  const texts = new Texts(context);
  const answer = (ask: number, value: Promise<unknown>) =>
    void value.then((value) => host.tell({ do: "answer", ask, value }));
  const { id, final } = host.ask({ do: "call", module, input, facts }, async (message) => {
    switch (message.is) {
      case "output":
        return context.onOutput(message.text);
      case "client":
        return context.caller?.tell(message.message);
      case "text":
        await texts.push(message.ask, message.text);
        if (message.last) answer(message.ask!, texts.finish(message.ask));
        return;
      case "asks":
        if (message.question.for === "overflow") texts.begin(message.ask, message.question.options);
        else answer(message.ask, answerTo(message.question, context));
    }
  });
  try {
    return await ended(host, { id, final, timeout }, texts, context);
  } finally {
    await texts.abandon();
  }
}

/** Waits until the tool, the person or the timeout ends a call, and returns its result. */
async function ended(
  host: HostProcess,
  { id, final, timeout }: { readonly id: number; readonly final: Promise<Final>; readonly timeout: number },
  texts: Texts,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const end = await firstOf(final, timeout, context.signal);
  if (typeof end !== "string") return await resultOf(end, texts, context);
  host.tell({ do: "abort", id });
  const late = await Promise.race([final, after(GRACE)]);
  if (late === null) {
    await host.end(
      end === "cancel"
        ? "This call was stopped: another call in the same process was cancelled and did not end."
        : TOO_LONG,
    );
  }
  const stopped = end === "cancel" ? STOPPED : `The tool timed out after ${plural(timeout, "second")}.`;
  const lateResult = late === null ? null : await resultOf(late, texts, context);
  const output = lateResult === null
    ? ""
    : String(lateResult.success ? lateResult.output ?? "" : lateResult.error ?? "");
  return { success: false, error: output === "" ? stopped : `${output}\n\n${stopped}`, status: stopped };
}

const TOO_LONG = "This call was stopped: another call in the same process timed out.";

function factsOf({ target, name }: FileDefinition, context: ExecutionContext): CallFacts {
  const { document, caller, environment, sandbox, truncate } = context;
  const policy = sandbox.policy();
  const bound = sandbox.enabled && target === "sandbox" && policy.ok;
  return {
    conversationId: caller?.conversationId ?? name,
    requestId: caller?.requestId ?? "",
    toolUseId: context.toolId,
    workingDir: context.cwd,
    document,
    base: workFolderOf(environment, document),
    home: environment.home,
    timeout: context.timeout,
    env: context.env,
    config: context.getConfig(),
    allowedToolNames: caller?.offered ?? [],
    isInteractive: caller?.interactive ?? false,
    approvedViaPrompt: caller?.approvedByPerson ?? false,
    asksSecrets: caller?.askSecret !== undefined,
    wraps: target === "host",
    writable: bound ? { roots: policy.value.rw_paths, protect: policy.value.protect } : null,
    limits: { maxLines: truncate.MAX_LINES, maxBytes: truncate.MAX_BYTES },
  };
}

/** Answers a tool's question. If it cannot be answered, the answer says so. */
async function answerTo(
  question: Exclude<Question, { for: "overflow" }>,
  context: ExecutionContext,
): Promise<unknown> {
  switch (question.for) {
    case "secret": {
      const value = await context.caller?.askSecret?.(wordsOf(question.params)) ?? null;
      const cancelled = value === null ? { reason: "cancelled" } : {};
      return { value, delivery: "transient_send", ...cancelled };
    }
    case "wrap": {
      // A sandbox implementation of another program may lack this function.
      const { wrapCommand: wrap } = context.sandbox as Partial<PluginSandbox>;
      if (wrap === undefined) {
        return { ok: false, error: "There is no sandbox to wrap a command in." };
      }
      return await wrap(question.argv);
    }
  }
}

/** Text of a tool's request for a secret, from any of the members that tools use for it. */
function wordsOf(params: unknown): string {
  if (!isObject(params)) return "A tool asks for a secret";
  const { label, description, field, service } = params;
  const named = [label, description, field, service].find((each) => typeof each === "string" && each !== "");
  return named === undefined ? "A tool asks for a secret" : String(named);
}

async function resultOf(end: Final, texts: Texts, context: ExecutionContext): Promise<ExecutionResult> {
  switch (end.is) {
    case "answered":
      return await withFiles(readVellumResult(end.result, await texts.finish(null)), context);
    case "threw":
      return {
        success: false,
        error: await texts.finish(null) || "The tool failed without an error message.",
      };
    case "broken":
      return { success: false, error: `The tool cannot run: ${end.cause}.` };
    case "gone":
      return { success: false, error: end.cause };
    case "described":
      return { success: false, error: "The tool host answered a different request." };
  }
}

/** Adds the result's images and files below the text, usually one line for each. */
async function withFiles(
  { files = [], ...result }: ReturnType<typeof readVellumResult>,
  { truncate, environment }: ExecutionContext,
): Promise<ExecutionResult> {
  const taken = await Promise.all(files.map((file) => takeFile(file, environment)));
  const attachments = taken.flatMap(({ attachment }) => attachment ?? []);
  // All lines are shortened as one text, because a second overflow file of the same call would replace the first.
  const about = await truncate.truncateWithOverflow(taken.map(({ text }) => text).join("\n"), {
    direction: "head",
    source: "file",
  });
  const member = result.success ? "output" : "error";
  const texts = [String(result[member] ?? ""), about];
  return { ...result, [member]: texts.filter((text) => text !== "").join("\n"), attachments };
}

function firstOf(
  final: Promise<Final>,
  seconds: number,
  signal: AbortSignal,
): Promise<Final | "timeout" | "cancel"> {
  return new Promise((resolve) => {
    const settle = (end: Final | "timeout" | "cancel") => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      resolve(end);
    };
    const cancel = () => settle("cancel");
    const timer = setTimeout(() => settle("timeout"), seconds * 1000);
    signal.addEventListener("abort", cancel, { once: true });
    void final.then(settle);
  });
}

function after(milliseconds: number): Promise<null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), milliseconds);
    Deno.unrefTimer(timer);
  });
}
