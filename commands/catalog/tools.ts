// `flemma tools list` and `flemma tools show`: shows the tools of a document, or one of them in full.

import { decidedBy } from "../../agent/review/decided_by.ts";
import { type ToolView, toolViews } from "../../agent/views/tools.ts";
import { nearest } from "../../base/names.ts";
import type { Outcome } from "../../base/problem.ts";
import { readSubject, settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { tellDiagnostics } from "../settings/config.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  const shows = given.command.name === "tools show";
  const [name = "", file] = shows ? given.positionals : ["", ...given.positionals];
  const views = await viewsOf(invocation, file);
  if ("exit" in views) return views.exit;
  if (!views.ok) return refuse(invocation, views.problem);
  const asJson = switchOption(given, "json") === true;
  if (!shows) {
    if (asJson) writeOutput(`${safeJson(views.value.map(rowJson))}\n`);
    else writeLines(listText(views.value));
    return views.complete ? Exit.ok : Exit.failure;
  }
  const view = views.value.find((each) => each.name === name);
  if (view === undefined) {
    const near = nearest(name, views.value.map((each) => each.name));
    return refuse(invocation, {
      code: "usage",
      message: `There is no tool named ${name}.`,
      next: near === null ? "List all tools: flemma tools list" : `Did you mean ${near}?`,
    });
  }
  if (asJson) writeOutput(`${safeJson(wholeJson(view))}\n`);
  else writeLines(wholeText(view));
  return Exit.ok;
}

async function viewsOf(
  invocation: Invocation,
  file: string | undefined,
): Promise<
  Outcome<readonly ToolView[]> & { readonly complete: boolean } | { readonly exit: number }
> {
  const read = await readSubject(invocation, file);
  if ("exit" in read) return read;
  const subject = await settingsFor(invocation, read);
  if (!subject.ok) return { ...subject, complete: false };
  tellDiagnostics(invocation, file ?? null, subject.value);
  const { messages, arguments: given } = invocation;
  const named = "named" in read ? read.named : null;
  let complete = true;
  const views = await toolViews({
    environment: subject.value.environment,
    path: read.path,
    named,
    subject: subject.value,
    refresh: switchOption(given, "refresh") === true,
    tell: (problem) => {
      if (INCOMPLETE.has(problem.code)) complete = false;
      if (problem.code === "tools-waiting") messages.note(`flemma: ${problem.message}`);
      else messages.problem(problem);
    },
  });
  return { ...views, complete };
}

/** Codes of notices that mean that configured tools are missing. */
const INCOMPLETE: ReadonlySet<string> = new Set([
  "mcp-unreachable",
  "mcp-misnamed",
  "tool-source-failed",
  "tool-source-timeout",
]);

const DECISIONS: Readonly<Record<ToolView["decision"], string>> = {
  approve: "runs",
  require_approval: "asks",
  deny: "denied",
};

/** Returns whether a call runs, and who decides that. */
function decisionOf({ decision, decidedBy: source, byInput }: ToolView): string {
  const who = source === "default" ? "no rule matches" : decidedBy(source);
  return `${DECISIONS[decision]} (${who}${byInput ? "; rules check the input" : ""})`;
}

const NOT_STATED = "not stated";

/** Where calls run: the word in JSON, and the text for people. */
const TARGETS: Readonly<
  Record<NonNullable<ToolView["target"]>, { readonly word: string; readonly text: string }>
> = {
  inside: { word: "sandbox", text: "the sandbox" },
  outside: { word: "host", text: "outside the sandbox, in a process of its own" },
  here: { word: "program", text: "flemma itself" },
  provider: { word: "provider", text: "the provider" },
};

/** Returns who registered a tool; for the tool of an MCP server or a provider, also which one and where it runs. */
function sourceOf({ source, server, target }: ToolView): string {
  if (server === null) return source;
  return `${source} ${server.name} (${
    server.host ?? (target === "inside" ? "sandbox" : "outside the sandbox")
  })`;
}

/** Returns where calls of a tool run, for people. */
function targetOf({ target, server }: ToolView): string {
  if (target === null) return NOT_STATED;
  if (server === null || server.host === null) return TARGETS[target].text;
  return `the ${target === "provider" ? "provider" : "server"} at ${server.host}`;
}

function listText(views: readonly ToolView[]): string {
  const widest = Math.max(...views.map(({ name }) => name.length));
  const widestSource = Math.max(...views.map((view) => sourceOf(view).length));
  const lines = views.map((view) => {
    const offered = view.offered ? "offered" : "not offered";
    const last = view.source === "provider" ? view.fault ?? view.preview : view.preview;
    return `${view.name.padEnd(widest)}  ${sourceOf(view).padEnd(widestSource)}  ${offered.padEnd(11)}  ${
      decisionOf(view).padEnd(24)
    }  ${last}`
      .trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

function wholeText(view: ToolView): string {
  const { name, source, server, file, fault, risk, category, description, offered, executable } = view;
  const { capabilities, settings, withheld, preview } = view;
  const isByProvider = source === "provider";
  const facts: (readonly [string, string])[] = [
    ["source", server === null ? source : `${source} ${server.name}`],
    ...(file === null ? [] : [["file", file] as const]),
    ...(fault === null ? [] : [["fault", fault] as const]),
    ["target", targetOf(view)],
    ["risk", risk ?? (source === "file" ? `${NOT_STATED} (treated as medium)` : NOT_STATED)],
    ["category", category ?? NOT_STATED],
    ["offered", offered ? "yes" : isByProvider ? "no" : "no, unless a document or tools.offered names it"],
    ...(executable ? [] : [["runs", "not by this program"] as const]),
    ["approval", decisionOf(view)],
    ["preview", preview],
    ...(capabilities.length === 0 ? [] : [["can", capabilities.join(", ")] as const]),
    ...Object.entries(settings ?? {}).map(([key, value]) =>
      [`tools.${name}.${key}`, JSON.stringify(value)] as const
    ),
    ...(withheld === null ? [] : [
      ["withheld", withheld.length === 0 ? "none of the current variables" : withheld.join(", ")] as const,
    ]),
  ];
  const widest = Math.max(...facts.map(([key]) => key.length));
  const lines = facts.map(([key, value]) => `  ${key.padEnd(widest)}  ${value}`);
  const input = isByProvider ? "" : `\ninput schema\n${JSON.stringify(view.input_schema, null, 2)}\n`;
  return `${name}\n\n${description}\n\n${lines.join("\n")}\n${input}`;
}

function rowJson(
  { name, source, server, offered, executable, decision, decidedBy: by, byInput, preview }: ToolView,
) {
  return { name, source, server, offered, executable, decision, decided_by: by, by_input: byInput, preview };
}

function wholeJson(view: ToolView) {
  const { description, input_schema, output_schema, strict, capabilities, settings, withheld } = view;
  const { file, fault, target, risk, category } = view;
  return {
    ...rowJson(view),
    file,
    fault,
    target: target === null ? null : TARGETS[target].word,
    risk,
    category,
    description,
    input_schema,
    output_schema,
    strict,
    capabilities,
    settings,
    withheld,
  };
}
