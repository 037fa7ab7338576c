// The meaning of one line by regular expressions over Latin-1 text: a second implementation of the format that shares
// nothing with the parser's classifiers of bytes.

/** ASCII whitespace; a carriage return that is no part of a line end is some. */
const S = "[\\t-\\r ]*";

const MARKER = new RegExp(`^@([A-Za-z0-9]+):${S}$`);
const LEGACY = new RegExp(`^@(?:System|You|Assistant):(?!${S}$)`);
const FENCE = /^(`{3,})[^`]*$/;
const BARE = new RegExp(`^(\`+)${S}$`);
const BLOCK = /^(`+)([A-Za-z0-9:._%-]*)([^]*)$/;
const USE = new RegExp(`^\\*\\*Tool Use:\\*\\*${S}\`([^\`]+)\`${S}\\(\`([^\`)]+)\`\\)`);
const RESULT = new RegExp(`^\\*\\*Tool Result:\\*\\*${S}\`([^\`]+)\`([^]*)$`);
const JOB = new RegExp(`^\\*\\*Job Result:\\*\\*${S}\`[^\`]+\``);
const SUFFIX = new RegExp(`^${S}\\(([^]*)\\)${S}$`);
const SIGNED = new RegExp(`^<thinking[\\t-\\r ]+([A-Za-z0-9]+):signature="([^"]*)"${S}(/?)>$`);
const REDACTED = /^<thinking[\t-\r ]+redacted>$/;
const SERVER_TOOL = new RegExp(`^<server_tool[\\t-\\r ]+([A-Za-z0-9]+):(blocks|citations)="([^"]*)"${S}>$`);
const ABORTED = new RegExp(`^<!--${S}flemma:aborted:${S}([^]*?)${S}-->$`);
const FRONT = new RegExp(`^\`\`\`[A-Za-z0-9]+${S}$`);
const BLANK = new RegExp(`^${S}$`);

/** The role of a marker line. */
export function marker(line: string): string | null {
  return MARKER.exec(line)?.[1] ?? null;
}

/** A marker of old: a known role with text on the same line. */
export function isLegacyMarker(line: string): boolean {
  return LEGACY.test(line);
}

export function isBlank(line: string): boolean {
  return BLANK.test(line);
}

/** Backticks of a line that opens a fence of the fence rule, else 0. */
export function fenceTicks(line: string): number {
  return (FENCE.exec(line)?.[1] ?? "").length;
}

/** Backticks of a line that can close a fence, else 0. */
export function closingTicks(line: string): number {
  return (BARE.exec(line)?.[1] ?? "").length;
}

/** The opening line of a tool block's body. */
export function blockFence(line: string): { ticks: number; language: string; info: string } | null {
  const found = BLOCK.exec(line);
  return found && { ticks: found[1]!.length, language: found[2]!, info: found[3]! };
}

export function useHeader(line: string): { name: string; id: string } | null {
  const found = USE.exec(line);
  return found && { name: found[1]!, id: found[2]! };
}

export function resultHeader(line: string): { id: string; suffix: string | null } | null {
  const found = RESULT.exec(line);
  return found && { id: found[1]!, suffix: SUFFIX.exec(found[2]!)?.[1] ?? null };
}

/** Whether a line is the header of a job's result. */
export function isJobHeader(line: string): boolean {
  return JOB.test(line);
}

/** An opening thinking tag, or one that is whole by itself. */
export interface Thinking {
  readonly whole: boolean;
  readonly redacted: boolean;
  readonly signature: { readonly provider: string; readonly value: string } | null;
}

export function thinking(line: string): Thinking | null {
  if (line === "<thinking>") return { whole: false, redacted: false, signature: null };
  if (REDACTED.test(line)) return { whole: false, redacted: true, signature: null };
  const signed = SIGNED.exec(line);
  return signed && {
    whole: signed[3] === "/",
    redacted: false,
    signature: { provider: signed[1]!, value: signed[2]! },
  };
}

export function closesThinking(line: string): boolean {
  return line === "</thinking>";
}

/** The opening tag of a tool that the provider ran. */
export function serverTool(line: string): { provider: string; what: string; value: string } | null {
  const found = SERVER_TOOL.exec(line);
  return found && { provider: found[1]!, what: found[2]!, value: found[3]! };
}

export function closesServerTool(line: string): boolean {
  return line === "</server_tool>";
}

/** The message of an abort marker. */
export function aborted(line: string): string | null {
  return ABORTED.exec(line)?.[1] ?? null;
}

export function opensFrontmatter(line: string): boolean {
  return FRONT.test(line);
}

export function closesFrontmatter(line: string): boolean {
  return closingTicks(line) === 3;
}

/** The text of the only thing in a body, a fence of questions; null for another body. */
export function questionsIn(body: string): string | null {
  const found = /^(?:[ \t\r]*\n)*(`{3,})yaml flemma:questions[ \t\r]*\n([^]*?)(`{3,})[ \t\r]*(?:\n[ \t\r]*)*$/
    .exec(body);
  if (found === null || found[3]!.length < found[1]!.length) return null;
  const lines = found[2]!.split("\n");
  const isClosed = lines.some((line) => closingTicks(line.replace(/\r$/, "")) >= found[1]!.length);
  return isClosed || lines.pop() !== "" ? null : lines.join("\n");
}
