// `flemma show`: prints a conversation for a terminal, as plain text or as HTML.

import { ASK_TOOL } from "../../../config/layers/presets.ts";
import { buildConversationView } from "../../../render/conversation.ts";
import { loadMarkdown } from "../../../render/markdown.ts";
import { plainText } from "../../../render/plain.ts";
import { screenLines } from "../../../render/terminal/screen.ts";
import type { ConversationView } from "../../../render/types.ts";
import type { Problem } from "../../../base/problem.ts";
import { visible } from "../../../base/visible.ts";
import { readForReport, type ReadText } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeOutput } from "../../io/streams.ts";
import { numberOption, switchOption, textOption } from "../../line/options.ts";
import { Pager, pagerCommand } from "./pager.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment } = invocation;
  const contradiction = contradictionOf(invocation);
  if (contradiction !== null) return refuse(invocation, contradiction);
  const read = await readForReport(invocation, given.positionals[0]);
  if ("exit" in read) return read.exit;
  const conversation = await conversationOf(invocation, read);
  if (read.file === null && read.chat.bytes.length === 0) {
    const message = "show needs a FILE, or a document on standard input, which is empty.";
    return refuse(invocation, { code: "usage", message, next: "Such as: flemma show notes.chat" });
  }
  if (conversation.messages.length === 0) {
    invocation.messages.note(`flemma: ${visible(read.label)} has no messages.`);
  }
  if (switchOption(given, "html") === true) {
    const { writePage } = await import("./page.ts");
    return await writePage(invocation, read, conversation);
  }
  const isTerminal = Deno.stdout.isTerminal();
  const pieces = switchOption(given, "plain") === true
    ? plainText(conversation)
    : await drawn(invocation, conversation, isTerminal);
  const command = isTerminal && switchOption(given, "pager") !== false
    ? pagerCommand(environment.variables)
    : null;
  const pager = command === null ? null : await Pager.start(command, environment.variables);
  if (pager === null) {
    for (const piece of pieces) writeOutput(piece);
  } else {
    const failed = await pager.show(pieces);
    if (failed !== null) return refuse(invocation, failed);
  }
  return Exit.ok;
}

/** Converts a document for display, with the helpers that its calls asked. Plain text has only what the document says. */
async function conversationOf(
  { arguments: given, environment }: Invocation,
  { path, label, chat }: ReadText,
): Promise<ConversationView> {
  const title = titleOf(label);
  // Git compares plain texts of versions in temporary files, which must not differ by what this machine knows.
  const asksHelpers = switchOption(given, "plain") !== true &&
    chat.calls.some(({ name }) => name === ASK_TOOL);
  if (path === null || !asksHelpers) return buildConversationView(chat, title);
  const { findHelpers } = await import("./helpers.ts");
  return buildConversationView(chat, title, await findHelpers(environment, path, chat));
}

/** Returns the usage error if options contradict each other or do not exist; null if all are valid. */
function contradictionOf({ arguments: given }: Invocation): Problem | null {
  const usage = (message: string, next: string): Problem => ({ code: "usage", message, next });
  const html = switchOption(given, "html") === true;
  const plain = switchOption(given, "plain") === true;
  if (html && plain) return usage("--html and --plain cannot be combined.", "Leave one of them out.");
  for (const name of ["output", "files"]) {
    const isGiven = textOption(given, name) !== undefined || switchOption(given, name) === true;
    if (isGiven && !html) return usage(`--${name} needs --html.`, `Add --html, or leave out --${name}.`);
  }
  if (textOption(given, "output") === "") {
    return usage("--output needs the name of a file.", "Name it, or leave out --output.");
  }
  const color = textOption(given, "color");
  if (color !== undefined && !["always", "never", "auto"].includes(color)) {
    return usage(`--color cannot be ${color}.`, "Use always, never or auto.");
  }
  const width = numberOption(given, "width");
  return width !== undefined && width < LEAST_WIDTH
    ? usage(`A width of ${width} is too small.`, `Use ${LEAST_WIDTH} or more.`)
    : null;
}

/** Returns the title of the page, which is the file's name. */
function titleOf(label: string): string {
  return label === "-" ? "conversation" : label.slice(label.lastIndexOf("/") + 1);
}

/** Minimum width in columns; narrower text is unreadable. */
const LEAST_WIDTH = 20;
/** Maximum width in columns; longer lines are hard to read, however wide the terminal is. */
const MOST_WIDTH = 100;
const USUAL_WIDTH = 80;

async function drawn(
  { arguments: given, environment: { variables } }: Invocation,
  conversation: ConversationView,
  isTerminal: boolean,
): Promise<Iterable<string>> {
  const color = textOption(given, "color") ?? "auto";
  const knowsColors = isTerminal && variables.TERM !== "dumb" && (variables.NO_COLOR ?? "") === "";
  const lines = screenLines(conversation, {
    width: numberOption(given, "width") ?? (isTerminal ? terminalWidth() : USUAL_WIDTH),
    colors: color === "always" || (color === "auto" && knowsColors),
    full: switchOption(given, "full") === true,
    markdown: await loadMarkdown(),
  });
  return pieced(lines);
}

function terminalWidth(): number {
  try {
    // A terminal whose size was never set reports 0.
    return Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, Deno.consoleSize().columns || USUAL_WIDTH));
  } catch {
    return USUAL_WIDTH;
  }
}

/** Number of lines in one write. */
const PIECE = 200;

/** Joins lines to larger pieces for streams. */
function* pieced(lines: Iterable<string>): Generator<string> {
  let piece: string[] = [];
  for (const line of lines) {
    piece.push(line);
    if (piece.length < PIECE) continue;
    yield `${piece.join("\n")}\n`;
    piece = [];
  }
  if (piece.length > 0) yield `${piece.join("\n")}\n`;
}
