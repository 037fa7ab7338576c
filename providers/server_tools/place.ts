// Decides which blocks of provider tools in a conversation go back unchanged, and which are sent as their rendering.
//
// A block goes back only to its own provider, if its data is there and unchanged, and with both call and result. All
// others are text. Within an open turn, whose answer depends on them, nothing is sent instead.

import { failure, type Problem } from "../../base/problem.ts";
import { isBlank } from "../../prompt/blank.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import type { ServerToolName, ServerToolPart } from "../types.ts";
import { readBlocks, renderBlocks, type ServerBlock } from "./blocks.ts";
import { citedPieces, renderCitations } from "./citations.ts";

/** The data that a tag names. */
export type Payload =
  /** `isOwn` is true if this machine wrote it, or the document is trusted. */
  | { readonly kind: "there"; readonly json: string; readonly isOwn: boolean }
  | { readonly kind: "lost" | "unreadable" };

export interface PlacingFacts {
  /** Name of the provider of the request, as tags have it. */
  readonly provider: string;
  /** Display name of the provider of the request. */
  readonly display: string;
  /** The tools that the request offers. */
  readonly offered: ReadonlySet<ServerToolName>;
  readonly returnsCitations: boolean;
  payload(part: ServerToolPart): Payload;
  /** True if the provider refused this block in an earlier request. */
  isRefused(part: ServerToolPart): boolean;
  /** True if an earlier request reported about this block, for this reason. */
  isReported(part: ServerToolPart, reason: string): boolean;
  /** True if the model's last turn is a reply that the provider paused. */
  readonly resumes: boolean;
}

export interface Placed {
  /** The conversation, with blocks that go back and without all others. */
  readonly prompt: Prompt;
  /** Sentences about blocks and citations that do not go back. */
  readonly notices: readonly string[];
  /** Why nothing can be sent; null if the conversation can be sent. */
  readonly problem: Problem | null;
  /** The blocks that the sentences are about, each with the reason. */
  readonly reported: readonly (readonly [part: ServerToolPart, reason: string])[];
  /** The blocks that go back. */
  readonly sent: readonly ServerToolPart[];
}

/** Why a block does not go back. */
type Reason =
  | "foreign"
  | "lost"
  | "unreadable"
  | "untrusted"
  | "edited"
  | "off"
  | "refused"
  | "cut"
  | "copied";

/** The reason why citations do not go back. */
const CITATIONS = "citations";

interface Entry {
  readonly part: ServerToolPart;
  readonly message: number;
  readonly blocks: readonly ServerBlock[];
  reason: Reason | null;
}

/** Decides about all blocks of a conversation. */
export function placeServerTools(prompt: Prompt, facts: PlacingFacts): Placed {
  const entries = new Map<ServerToolPart, Entry>();
  prompt.history.forEach(({ parts }, message) => {
    for (const part of parts) {
      if (part.kind === "server_tool" && part.what === "blocks") {
        entries.set(part, entryOf(part, message, facts));
      }
    }
  });
  leaveOutUnpaired([...entries.values()], prompt, facts);
  const dropped: ServerToolPart[] = [];
  const sent: ServerToolPart[] = [];
  const all = [...entries.values()];
  const open = openTurn(prompt, facts);
  // Providers accept the thinking of an open turn completely or not at all.
  const isBrokenTurn = all.some(({ message, reason }) => message >= open && isOwn(reason));
  const history = prompt.history.map((message, index) => {
    const isBroken = isBrokenTurn && index >= open;
    if (message.role !== "assistant") return message;
    if (!isBroken && !message.parts.some(({ kind }) => kind === "server_tool")) return message;
    return { ...message, parts: placedParts(message.parts, { entries, facts, dropped, sent, isBroken }) };
  });
  const news = all.filter(({ part, reason }) => reason !== null && !facts.isReported(part, reason));
  const changed = dropped.filter((part) => !facts.isReported(part, CITATIONS));
  return {
    prompt: { ...prompt, history },
    notices: [...notices(news, facts), ...citationNotice(changed)],
    reported: [
      ...news.map(({ part, reason }) => [part, reason!] as const),
      ...changed.map((part) => [part, CITATIONS] as const),
    ],
    problem: openTurnProblem(all, open),
    sent,
  };
}

function entryOf(part: ServerToolPart, message: number, facts: PlacingFacts): Entry {
  const refused = (reason: Reason): Entry => ({ part, message, blocks: [], reason });
  if (part.provider !== facts.provider) return refused("foreign");
  const payload = facts.payload(part);
  if (payload.kind !== "there") return refused(payload.kind);
  const blocks = readBlocks(payload.json);
  if (blocks === null) return refused("unreadable");
  if (!payload.isOwn) return refused("untrusted");
  if (withFeeds(part.content) !== renderBlocks(blocks)) return refused("edited");
  if (blocks.some(({ tool }) => !facts.offered.has(tool))) return refused("off");
  return { part, message, blocks, reason: facts.isRefused(part) ? "refused" : null };
}

/** Compares without the line ends of the document. */
function withFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * Leaves out calls without a result and results without a call, since providers refuse both. Only the last reply may
 * end in an open call: if the provider paused it, or if it also calls the person's tools.
 */
function leaveOutUnpaired(entries: readonly Entry[], { history }: Prompt, { resumes }: PlacingFacts): void {
  const last = history.findLastIndex(({ role }) => role === "assistant");
  const mayWait = resumes || history[last]?.parts.some(({ kind }) => kind === "tool_use") === true;
  const called = new Set<string>();
  for (const entry of entries) {
    if (entry.reason !== null) continue;
    const ids = entry.blocks.filter(({ isCall }) => isCall !== false).map(({ id }) => id);
    if (ids.some((id) => called.has(id))) entry.reason = "copied";
    else ids.forEach((id) => called.add(id));
  }
  for (let changed = true; changed;) {
    const sent = entries.filter(({ reason }) => reason === null);
    const idsOf = (isCall: boolean) =>
      new Set(
        sent.flatMap(({ blocks }) => blocks.filter((block) => block.isCall === isCall).map(({ id }) => id)),
      );
    const [calls, results] = [idsOf(true), idsOf(false)];
    const unpaired = sent.filter(({ blocks, message }) =>
      blocks.some(({ isCall, id }) =>
        (isCall === true && !results.has(id) && !(mayWait && message === last)) ||
        (isCall === false && !calls.has(id))
      )
    );
    for (const entry of unpaired) entry.reason = "cut";
    changed = unpaired.length > 0;
  }
}

/** Returns the parts of a reply as they are sent. `dropped` receives citations that the person should know about. */
function placedParts(
  parts: readonly Part[],
  { entries, facts, dropped, sent, isBroken: isWhollyBroken }: {
    readonly entries: ReadonlyMap<ServerToolPart, Entry>;
    readonly facts: PlacingFacts;
    readonly dropped: ServerToolPart[];
    readonly sent: ServerToolPart[];
    /** True to leave out all thinking of this provider. */
    readonly isBroken: boolean;
  },
): readonly Part[] {
  const placed: Part[] = [];
  /** True once a block of this provider was left out: its later thinking depends on that block. */
  let isBroken = isWhollyBroken;
  for (const part of parts) {
    if (part.kind === "server_tool") {
      const entry = entries.get(part);
      if (entry === undefined) {
        const cited = citation(part, placed.at(-1), facts);
        if (cited !== null) {
          placed.push(cited);
          sent.push(part);
        } else if (part.provider === facts.provider && part.value !== "" && facts.returnsCitations) {
          dropped.push(part);
        }
      } else if (entry.reason === null) {
        placed.push({ ...part, json: jsonOf(facts.payload(part)) });
        sent.push(part);
      } else {
        isBroken ||= isOwn(entry.reason);
        // The thinking directly before led to this block.
        while (isOwn(entry.reason) && isSigned(placed.at(-1), facts)) placed.pop();
        if (entry.reason !== "cut" && !isBlank(part.content)) {
          placed.push({ kind: "text", text: lines(part) });
        }
      }
    } else if (!(isBroken && isSigned(part, facts))) placed.push(part);
  }
  return placed;
}

/** True for the reason of a block of this provider that does not go back. */
function isOwn(reason: Reason | null): boolean {
  return reason !== null && reason !== "foreign";
}

/** Returns the index of the first message of the open turn, whose answer is still to come; Infinity if no turn is open. */
function openTurn({ history }: Prompt, { resumes }: PlacingFacts): number {
  if (!resumes && history.at(-1)?.role !== "user") return Infinity;
  return history.findLastIndex(({ role, parts }) => role === "user" && parts.some(says)) + 1;
}

/** Returns a rendering as text of its own between other texts. */
function lines({ content }: ServerToolPart): string {
  return `\n${withFeeds(content).trim()}\n`;
}

function isSigned(part: Part | undefined, { provider }: PlacingFacts): boolean {
  return part?.kind === "thinking" && (part.redacted || part.signature?.provider === provider);
}

function citation(part: ServerToolPart, before: Part | undefined, facts: PlacingFacts): Part | null {
  if (part.provider !== facts.provider || !facts.returnsCitations || part.value === "") return null;
  const payload = facts.payload(part);
  if (payload.kind !== "there" || !payload.isOwn || facts.isRefused(part) || before?.kind !== "text") {
    return null;
  }
  if (withFeeds(part.content) !== renderCitations(payload.json)) return null;
  return citedPieces(before.text, payload.json) === null ? null : { ...part, json: payload.json };
}

function jsonOf(payload: Payload): string {
  return payload.kind === "there" ? payload.json : "";
}

/** Sentences about the blocks that do not go back, one for each reason. */
function notices(entries: readonly Entry[], { display }: PlacingFacts): readonly string[] {
  const words: Readonly<Record<Reason, (one: boolean) => string>> = {
    foreign: (one) =>
      `${one ? "is" : "are"} from another provider; ${display} gets the visible lines as text.`,
    lost: (one) => `${one ? "has" : "have"} no stored data; the model gets the visible lines as text.`,
    unreadable: (one) => `${one ? "has" : "have"} unreadable data; the model gets the visible lines as text.`,
    untrusted: (one) =>
      `${
        one ? "is" : "are"
      } from another machine; the model gets the visible lines as text, until you trust the ` +
      "document (flemma trust FILE).",
    edited: (one) => `${one ? "has" : "have"} edited lines; the model gets these lines as text.`,
    off: (one) =>
      `${
        one ? "is of a tool that is" : "are of tools that are"
      } not offered; the model gets the visible lines as ` +
      "text.",
    refused: (one) =>
      `${one ? "was" : "were"} refused by ${display}; the model gets the visible lines as text.`,
    copied: (one) => `${one ? "is" : "are"} in the document twice; the model gets the visible lines as text.`,
    cut: (one) => `${one ? "has no result; it is" : "have no result; they are"} not sent.`,
  };
  return (Object.keys(words) as Reason[]).flatMap((reason) => {
    const lines = entries.filter((entry) => entry.reason === reason).map(({ part }) => part.line);
    if (lines.length === 0) return [];
    const one = lines.length === 1;
    const them = one
      ? `The server_tool block at line ${lines[0]}`
      : `${lines.length} server_tool blocks (first at line ${lines[0]})`;
    return [`${them} ${words[reason](one)}`];
  });
}

function citationNotice(dropped: readonly ServerToolPart[]): readonly string[] {
  const [first] = dropped;
  return first === undefined ? [] : [
    `The citations at line ${first.line}${
      dropped.length === 1 ? "" : ` and ${dropped.length - 1} others`
    } are not ` +
    "sent: they or their text have changed, or they are from another machine.",
  ];
}

/** Reasons for which an open turn cannot go on. */
const STOPS: Readonly<Partial<Record<Reason, (entry: Entry) => readonly [message: string, next: string]>>> = {
  foreign: ({ part }) => [`belongs to ${part.provider}`, "Switch back, or delete the block to go on."],
  lost: () => ["cannot be continued: its stored data is missing", "Delete the block to go on."],
  unreadable: () => ["cannot be continued: its data is unreadable", "Delete the block to go on."],
  untrusted: () => [
    "is from another machine",
    "Trust the document (flemma trust FILE), or delete the block to go on.",
  ],
};

/** Returns why the open turn cannot go on: a block in it, on which its answer depends, cannot go back. */
function openTurnProblem(entries: readonly Entry[], open: number): Problem | null {
  for (const entry of entries) {
    const stop = entry.message >= open && entry.reason !== null ? STOPS[entry.reason] : undefined;
    if (stop === undefined) continue;
    const [message, next] = stop(entry);
    return failure(
      entry.reason === "foreign" ? "server-tool-foreign" : "server-tool-lost",
      `The provider's tool at line ${entry.part.line} ${message}.`,
      next,
    ).problem;
  }
  return null;
}

function says(part: Part): boolean {
  return part.kind !== "tool_result" && (part.kind !== "text" || !isBlank(part.text));
}
