// The servers that the program mcporter knows, as a source of tools: listed through it and called through it (tools 9).

import { inOneLine } from "../../../base/problem.ts";
import { isObject } from "../../../base/is_object.ts";
import { nameFilter } from "../../../config/rules/name_filter.ts";
import type { McporterSettings } from "../../../config/settings/tools.ts";
import type { ExecutionContext, ExecutionResult, ToolDefinition, ToolInput } from "../../definition.ts";
import type { RegisterTool, ToolSource } from "../../registration/types.ts";
import { resultOf } from "../result.ts";
import { shortened } from "../shown.ts";
import { definitionsOf } from "../tool_list.ts";
import { type ProgramPlace, runMcporter, type Said } from "./program.ts";

/** Seconds that asking for tools may take: servers may have to be fetched. */
const START = 120;

/** What mcporter is asked by. */
export interface McporterPlace extends ProgramPlace {
  readonly settings: Omit<McporterSettings, "path">;
  /** Ends the asking. */
  readonly signal: AbortSignal;
  /** Told what is not as it should be; none of it is a stop. */
  warn(message: string): void;
}

/** The tools that mcporter offers. */
export function mcporterSource(place: McporterPlace): ToolSource {
  return {
    name: "mcporter",
    timeout: START,
    mayHave: (name) => name.includes(":"),
    resolve: async (register, done) => done(await registerAll(place, register) ?? undefined),
  };
}

/** Gives why there are no tools at all; null when it was asked. */
async function registerAll(place: McporterPlace, register: RegisterTool): Promise<string | null> {
  const { settings: { startup }, warn } = place;
  const listed = await asked(["list", "--json"], place);
  if ("why" in listed) return listed.why;
  const wanted = serversIn(listed.answer, place);
  let next = 0;
  const worker = async () => {
    while (next < wanted.length) {
      const server = wanted[next++]!;
      const tools = await asked(["list", server, "--json", "--schema"], place);
      if ("why" in tools) warn(`The server ${server} of mcporter does not tell its tools: ${tools.why}`);
      else for (const tool of toolsIn(tools.answer, server, place)) register(tool);
    }
  };
  await Promise.all(Array.from({ length: startup.concurrency }, worker));
  return null;
}

/** What it answers to a question, or why it does not, as a sentence. */
async function asked(
  args: readonly string[],
  place: McporterPlace,
): Promise<{ readonly answer: Record<string, unknown> } | { readonly why: string }> {
  const ran = await runMcporter(args, place, {
    seconds: START,
    signal: place.signal,
  });
  if (!ran.ok) return { why: inOneLine(ran.problem) };
  const answer = jsonIn(ran.value.stdout);
  return isObject(answer) ? { answer } : { why: failureOf(ran.value) };
}

/** The servers that are to be asked. One that does not answer is told. */
function serversIn(
  { servers }: Record<string, unknown>,
  { settings: { exclude }, warn }: McporterPlace,
): string[] {
  const whole = exclude.flatMap((pattern) => pattern.endsWith(":*") ? [pattern.slice(0, -2)] : []);
  const isLeftOut = nameFilter(whole);
  const wanted: string[] = [];
  for (const server of Array.isArray(servers) ? servers.filter(isObject) : []) {
    const { name, status } = server;
    // A name that begins like an option would be one.
    if (typeof name !== "string" || name === "" || name.startsWith("-") || isLeftOut(flat(name))) continue;
    if (status === "ok") wanted.push(name);
    else warn(`The server ${name} of mcporter is not asked for tools: it is ${String(status)}.`);
  }
  return wanted;
}

/** A dot in the name of a tool would mean a module. */
function flat(server: string): string {
  return server.replaceAll(".", "-");
}

function toolsIn(
  { tools }: Record<string, unknown>,
  server: string,
  place: McporterPlace,
): ToolDefinition[] {
  const { include, exclude } = place.settings;
  const isKept = nameFilter(["*"], exclude);
  const isOffered = nameFilter(include.length === 0 ? ["*"] : include);
  return definitionsOf(Array.isArray(tools) ? tools : [], {
    server: flat(server),
    settings: {},
    call: (tool, input, context) => call({ server, tool, input }, place, context),
  }).filter(({ name }) => isKept(name)).map((tool) =>
    isOffered(tool.name) ? tool : { ...tool, enabled: false }
  );
}

async function call(
  { server, tool, input }: { readonly server: string; readonly tool: string; readonly input: ToolInput },
  place: McporterPlace,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  if (tool.startsWith("-")) return { success: false, error: `mcporter takes ${tool} for an option.` };
  const args = ["call", "--server", server, "--tool", tool, "--args", JSON.stringify(input)];
  const ran = await runMcporter([...args, "--output", "json"], place, {
    seconds: place.settings.timeout,
    signal: context.signal,
  });
  if (!ran.ok) return { success: false, error: inOneLine(ran.problem) };
  return await shortened(await answerOf(ran.value, place), context);
}

/** What it says on standard output counts, whatever its exit status; standard error only when there is nothing else. */
async function answerOf(said: Said, { environment }: McporterPlace): Promise<ExecutionResult> {
  const answer = jsonIn(said.stdout);
  if (isObject(answer) && (Array.isArray(answer.content) || answer.structuredContent !== undefined)) {
    return await resultOf(answer, environment);
  }
  const text = said.stdout.trim();
  if (said.code === 0 && text !== "") return { success: true, output: text };
  return { success: false, error: failureOf(said) };
}

function failureOf({ code, stdout, stderr }: Said): string {
  const answer = jsonIn(stdout);
  if (isObject(answer) && typeof answer.error === "string") return answer.error;
  return stdout.trim() || stderr || `mcporter ended with exit code ${code} and said nothing.`;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is text; the caller says what that means.
    return null;
  }
}
