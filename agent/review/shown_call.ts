// Shows a call to the person who decides about it: complete, and with control characters made visible.

import { sha256 } from "../../base/hash.ts";
import { visible } from "../../base/visible.ts";
import { callNumbers } from "../../cycle/plan/targets.ts";
import { baseName, helperFolderOf } from "../../base/paths.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import type { Call, Chat, Status } from "../../parser/types.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import { isConfined } from "../../sandbox/process/unsandboxed.ts";
import { isBounded, type RegisteredTool } from "../../tools/definition.ts";
import { folderOfCalls, type RuleSubject } from "../../tools/approval/rules_of.ts";
import { checkInput } from "../../tools/validate.ts";
import type { ExplainedCall, OpenQuestions, ShownCall, ShownPart } from "../types.ts";
import type { FileChangeShown, WrittenFiles } from "./written_files.ts";

export interface ShowSources {
  readonly files: WrittenFiles;
  readonly subject: RuleSubject;
  readonly sandbox: RunSandbox;
  /** Returns what the server of a call asks; null if it asks nothing. */
  questions(call: Call): Promise<OpenQuestions | null>;
}

interface CallSources extends Omit<ShowSources, "sandbox" | "questions"> {
  readonly call: Call;
  readonly number: number;
  readonly explained: ExplainedCall;
  readonly sandbox: SandboxNow;
  /** The status in the call's block; null if it has no block, or the block holds a result. */
  readonly status: Status | null;
  /** The text in the block; empty if there is none. */
  readonly body: string;
  /** Short name of the helper in whose document the call waits; null if there is none. */
  readonly helper: string | null;
  /** What its server asks, with the answers so far, and why these cannot be sent; null if it asks nothing. */
  readonly questions: OpenQuestions | null;
}

interface Known extends CallSources {
  readonly definition: RegisteredTool | undefined;
  readonly change: FileChangeShown | null;
  /** Reasons why the input does not match the tool's schema. */
  readonly problems: readonly string[];
}

/** State of the sandbox: its kind if it works, else the reason why not, as the end of a sentence. */
interface SandboxNow {
  readonly works: boolean;
  readonly text: string;
}

/** Shows calls whose explanations are known, in the same order. */
export async function shownCalls(
  chat: Chat,
  explained: readonly ExplainedCall[],
  { sandbox, questions, ...sources }: ShowSources,
): Promise<readonly ShownCall[]> {
  const numbers = callNumbers(chat);
  // The sandbox is checked once for all calls. A check for each call would examine the folders of the machine each
  // time.
  const now = await sandboxNow(sandbox);
  const shown: ShownCall[] = [];
  for (const each of explained) {
    const call = chat.call(each.id)!;
    const result = chat.result(call.id);
    const { status = null, content: body = "" } = result ?? {};
    const helper = result !== undefined && status === "pending" ? helperOf(result) : null;
    const number = numbers.get(call.id) ?? 0;
    const known = { call, number, explained: each, sandbox: now, status, body, helper };
    shown.push(await shownCall({ ...sources, ...known, questions: await questions(call) }));
  }
  return shown;
}

async function shownCall(sources: CallSources): Promise<ShownCall> {
  const { call, number, explained, sandbox, files, subject, status, body, questions } = sources;
  const definition = subject.tools.get(call.name);
  const known: Known = {
    ...sources,
    definition,
    change: await files.change(call),
    problems: definition === undefined ? [] : await checkInput(definition, call.input),
  };
  const shown = {
    id: call.id,
    tool: visible(call.name),
    parts: partsOf(known),
    warnings: warningsOf(known),
    folder: visible(folderOfCalls(subject, call.name)),
    ...placeOf(call.name, definition, { subject, sandbox }),
    explained,
  };
  // Moving a call to another line does not change its meaning, but the text in its block does.
  const hashed = [shown, call.name, call.inputText, status, questions?.text ?? body];
  const { input, place: { start: line } } = call;
  return { ...shown, input, number, line, digest: await sha256(JSON.stringify(hashed)) };
}

/** Input members that the diff already shows completely. */
const IN_DIFF: ReadonlySet<string> = new Set(["content", "oldText", "newText"]);

/** The order of the parts. What a call does comes before the name that the model gave it. */
const ORDER: readonly ShownPart["kind"][] = ["command", "path", "member", "diff", "label"];

function partsOf({ call, definition, change, questions }: Known): ShownPart[] {
  const { command_input, path_input } = definition ?? {};
  const kinds = new Map<string, ShownPart["kind"]>([["label", "label"]]);
  if (path_input !== undefined) kinds.set(path_input, "path");
  if (command_input !== undefined) kinds.set(command_input, "command");
  const diff = change?.diff ?? null;
  const parts = Object.entries(call.input)
    .filter(([name]) => diff === null || !IN_DIFF.has(name))
    .map(([name, value]): ShownPart => ({
      kind: kinds.get(name) ?? "member",
      name: visible(name),
      text: inLines(value),
    }));
  if (diff !== null) parts.push({ kind: "diff", name: "diff", text: visible(diff, { lines: true }) });
  if (questions !== null) {
    parts.push({ kind: "member", name: "answers", text: visible(questions.text, { lines: true }) });
  }
  // An input that cannot be parsed is shown as it was written.
  if (call.flaw !== null) {
    parts.push({ kind: "member", name: "input", text: visible(call.inputText, { lines: true }) });
  }
  return parts.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function inLines(value: unknown): string {
  return visible(plain(value), { lines: true });
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function warningsOf(
  { call, definition, subject, change, problems, body, helper, questions }: Known,
): string[] {
  const warnings = [
    ...(helper === null ? [] : [waitingHelper(helper, subject)]),
    ...(definition === undefined ? [missingTool(call.name, subject)] : []),
    ...(call.flaw === null ? [] : [`The call cannot run: ${visible(call.flaw)}.`]),
    ...problems.map((problem) => `The call will not run: ${visible(problem)}.`),
  ];
  if (hides(call.input)) {
    warnings.push(
      "It contains control or invisible characters, shown here as escapes like \\x1b.",
    );
  }
  if (change !== null) warnings.push(...fileWarnings(change, call, definition));
  if (hasOpenSearch(call)) {
    warnings.push(
      "A search by the provider waits for this call. It runs after your decision, even if you reject the call.",
    );
  }
  if (questions?.problem) {
    warnings.push(`The answers cannot be sent yet: ${visible(questions.problem)}`);
  }
  if (body !== "") {
    warnings.push("There is text in its block, so approving it does not run it.");
  }
  return warnings;
}

function waitingHelper(helper: string, { document }: Known["subject"]): string {
  const folder = document === null ? "" : `${baseName(helperFolderOf(document))}/`;
  return `A call waits in ${
    visible(folder + helper)
  }.chat. Decide there; approving this call does not approve it.`;
}

/** True if the reply of a call also asked a tool of the provider, which has no result yet. */
function hasOpenSearch({ turn }: Call): boolean {
  return turn.segments.some((segment) =>
    segment.kind === "server_tool" && segment.what === "blocks" &&
    /(?:^|\n)web_(?:search|fetch): [^\n]*$/.test(segment.content.trimEnd())
  );
}

/** Returns why a tool is missing: no source provides it, or a source that may provide it has not answered. */
function missingTool(name: string, { tools }: Known["subject"]): string {
  const source = tools.unaskedSource(name);
  if (source !== null) return `Its tool may come from ${visible(source)}, which is not available.`;
  return tools.mayCome(name)
    ? "Its tool may come from a source that has not listed its tools yet."
    : "This tool does not exist here, so the call cannot run.";
}

function fileWarnings(
  { real, asSeen, obstacle }: FileChangeShown,
  { input }: Call,
  definition: RegisteredTool | undefined,
): string[] {
  const path = String(input[definition?.path_input ?? ""]);
  const written = path.replace(/^(?:\.{1,2}\/|~\/|\/)+/, "");
  return [
    ...(real === path || real.endsWith(`/${written}`) ? [] : [`The path resolves to ${visible(real)}.`]),
    ...(asSeen === false ? ["The file has changed since a call of this document last saw it."] : []),
    ...(asSeen === null ? ["The file already exists, and no call of this document has read it."] : []),
    ...(obstacle === null ? [] : [obstacle]),
  ];
}

/** True if part of an input is shown in another form than written. */
function hides(input: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(input).some(([name, value]) =>
    visible(name) !== name || inLines(value) !== plain(value)
  );
}

function placeOf(
  name: string,
  definition: RegisteredTool | undefined,
  { subject, sandbox }: { readonly subject: Known["subject"]; readonly sandbox: SandboxNow },
): Pick<ShownCall, "sandboxed" | "wall"> {
  if (definition === undefined) return missingPlaceOf(name, subject, sandbox);
  if (isBounded(definition)) return { sandboxed: sandbox.works, wall: sandbox.text };
  const where = definition.runs === "here" ? "in the flemma process" : "in a separate process";
  return { sandboxed: false, wall: `outside the sandbox: this tool runs ${where}` };
}

/** Returns where a call would run if its tool is not known yet, as far as the settings tell. */
function missingPlaceOf(
  name: string,
  { tools, settings }: Known["subject"],
  sandbox: SandboxNow,
): Pick<ShownCall, "sandboxed" | "wall"> {
  if (tools.unaskedSource(name) === null && !tools.mayCome(name)) {
    return { sandboxed: false, wall: "nowhere: its tool does not exist here" };
  }
  const found = Object.entries(settings.mcp.servers).find(([server]) => name.startsWith(`${server}:`));
  if (found === undefined) {
    return { sandboxed: false, wall: "unknown: the source of its tool has not listed its tools yet" };
  }
  const [server, { url = null, sandbox: isInside = true }] = found;
  if (url === null && isInside) return { sandboxed: sandbox.works, wall: sandbox.text };
  return {
    sandboxed: false,
    wall: `outside the sandbox: this tool runs in the MCP server ${visible(server)}`,
  };
}

async function sandboxNow(sandbox: RunSandbox): Promise<SandboxNow> {
  if (!sandbox.enabled) return { works: false, text: "outside the sandbox: it is switched off" };
  const available = await sandbox.available();
  const backend = await sandbox.backend();
  if (!backend.ok || !isConfined(available)) {
    const reason = available.ok ? "no backend works" : available.problem.message.replace(/\.$/, "");
    return { works: false, text: `outside the sandbox: ${reason}` };
  }
  const policy = sandbox.policy();
  const network = policy.ok ? networkOf(policy.value) : "";
  return { works: true, text: `in the sandbox (${backend.value.name})${network}` };
}

function networkOf(
  { network, network_allow = [] }: { readonly network: boolean; readonly network_allow?: readonly string[] },
): string {
  if (network) return ", with the network";
  return network_allow.length > 0 ? ", with listed hosts only" : ", without the network";
}
