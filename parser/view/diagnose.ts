// Warnings about the whole document: text that would otherwise be silently ignored or misread.
//
// After an update only changed messages are examined. Findings are cached with their message (message_index.ts), pages
// record whether they have findings, and ids are counted incrementally (ids.ts).

import type { Conversation, Page, Summary } from "../tree/conversation.ts";
import { Cursor } from "../text/cursor.ts";
import { finding, nearestRole, ROLES } from "./diagnostic.ts";
import { diagnosticOf, messageBlocks, messageFindings } from "./message_index.ts";
import type { Head } from "../tree/head.ts";
import type { Ids } from "./ids.ts";
import { isSpace, legacyMarker, type Span } from "../text/lines.ts";
import { BARE, LEGACY, OPENS } from "../text/line_kinds.ts";
import type { Structure } from "../tree/structure.ts";
import { spanText, type Text } from "../text/text.ts";
import type { Diagnostic } from "../types.ts";

/** Computes findings and blocks of all messages that were not examined yet, so that ids can be counted. */
export function summarize(text: Text, conversation: Conversation): void {
  conversation.pages.forEach((page, index) => {
    page.summary ??= summaryOf(text, page, conversation.pageOffset(index));
  });
}

function summaryOf(text: Text, page: Page, from: number): Summary {
  let findings = false;
  let results = false;
  let systems = 0;
  let unknownRoles = false;
  let offset = from;
  for (const message of page.messages) {
    const own = messageFindings(text, message, offset);
    findings ||= own.length > 0 || message.legacy.length > 0 || message.swallowing !== null;
    results ||= messageBlocks(text, message, offset).results.length > 0;
    if (message.role === "System") systems++;
    else if (message.role !== "You" && message.role !== "Assistant") unknownRoles = true;
    offset += message.length;
  }
  return { findings, results, systems, unknownRoles };
}

/**
 * Returns all diagnostics of a parse, sorted by line. Before the call, the conversation must be summarized and its ids
 * must be counted.
 */
export function diagnoseStructure(text: Text, { head, conversation }: Structure, ids: Ids): Diagnostic[] {
  const found = [
    ...frontmatterUnclosed(head),
    ...legacyInHead(text, head),
    ...findings(text, conversation),
    ...roles(text, conversation),
    ...results(text, conversation, ids),
  ];
  const lost = textBeforeFirstMessage(text, head);
  if (lost !== null && !found.some((other) => other.start === lost.start)) found.push(lost);
  return found.sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
}

function frontmatterUnclosed(head: Head): Diagnostic[] {
  if (!head.frontmatterUnclosed) return [];
  const message =
    "The frontmatter that begins in line 1 is never closed, so flemma ignores it. Write a line of three backticks below it.";
  return [finding("frontmatter_unclosed", message, 1)];
}

function textBeforeFirstMessage(text: Text, head: Head): Diagnostic | null {
  for (let at = head.frontmatter?.end ?? text.origin; at < head.length; at++) {
    if (isSpace(text.byte(at))) continue;
    const line = text.lineOf(at);
    const message =
      `This text comes before the first role marker, such as "@You:", so flemma never sends it.${
        markerHint(text.text(at, text.end(line)))
      }`;
    return finding("text_before_first_message", message, line + 1);
  }
  return null;
}

/**
 * Returns a hint if a line looks like a marker of another program, followed by text: `@user: hi`. Returns an empty text
 * for any other line.
 */
function markerHint(line: string): string {
  const [, role] = /^@([A-Za-z]{1,20}):\s*\S/.exec(line.slice(0, LONGEST_MARKER)) ?? [];
  const meant = role === undefined ? null : nearestRole(role);
  return meant === null ? "" : ` Write "@${meant}:" on its own line and the text below it.`;
}

/** Maximum number of characters of a line that are checked for a marker. */
const LONGEST_MARKER = 100;

function legacyInHead(text: Text, head: Head): Diagnostic[] {
  const found: Diagnostic[] = [];
  // Before the first message, a fence hides no marker of the current form. A marker of the old form inside a fence is a
  // quotation.
  let ticks = 0;
  const cursor = new Cursor(text);
  cursor.seek(head.frontmatter?.end ?? text.origin);
  for (; cursor.at < head.length; cursor.step()) {
    if (ticks === 0 && (cursor.bits & OPENS) !== 0) ticks = cursor.number;
    else if ((cursor.bits & BARE) !== 0 && cursor.number >= ticks) ticks = 0;
    else if (ticks === 0 && (cursor.bits & LEGACY) !== 0) found.push(legacy(text, cursor.at));
  }
  return found;
}

function legacy(text: Text, at: number): Diagnostic {
  const line = text.lineOf(at);
  const bytes = text.slice(at, text.end(line));
  const role: Span = legacyMarker(bytes, 0, bytes.length)?.role ?? { from: 0, to: 0 };
  const message = `"@${
    spanText(bytes, role)
  }:" with text on the same line does not start a message. Move the text to the next line, or run flemma migrate.`;
  return finding("legacy_form", message, line + 1);
}

/** Returns problems inside messages. */
function findings(text: Text, conversation: Conversation): Diagnostic[] {
  const found: Diagnostic[] = [];
  eachWhere(conversation, (summary) => summary.findings, (message, offset) => {
    for (const at of message.legacy) found.push(legacy(text, offset + at));
    if (message.swallowing !== null) {
      const { at, ticks } = message.swallowing;
      const sentence =
        `This fence of ${ticks} backticks is never closed, so flemma reads every role marker below it as text.`;
      found.push(finding("fence_unclosed", sentence, text.lineOf(offset + at) + 1));
    }
    for (const own of messageFindings(text, message, offset)) {
      found.push(diagnosticOf(text, own, offset));
    }
  });
  return found;
}

function roles(text: Text, conversation: Conversation): Diagnostic[] {
  const found: Diagnostic[] = [];
  let systems = conversation.pages.reduce((sum, page) => sum + (page.summary?.systems ?? 0), 0);
  const concerned = (summary: Summary) => summary.unknownRoles || (systems > 1 && summary.systems > 0);
  eachWhere(conversation, concerned, (message, offset) => {
    if (!ROLES.includes(message.role)) {
      const nearest = nearestRole(message.role);
      const hint = nearest === null ? "" : ` Did you mean "@${nearest}:"?`;
      const sentence =
        `Unknown role "${message.role}", so flemma never sends this message. The roles are System, You and Assistant.${hint}`;
      found.push(finding("role_unknown", sentence, text.lineOf(offset) + 1));
    } else if (message.role === "System" && systems-- > 1) {
      const sentence = "A later System message replaces this one.";
      found.push(finding("system_repeated", sentence, text.lineOf(offset) + 1));
    }
  });
  return found;
}

/** Returns results without a call, and duplicate results. */
function results(text: Text, conversation: Conversation, ids: Ids): Diagnostic[] {
  const found: Diagnostic[] = [];
  if (ids.faulty.size === 0) return found;
  const seen = new Set<string>();
  eachWhere(conversation, (summary) => summary.results, (message, offset) => {
    for (const { id, at } of messageBlocks(text, message, offset).results) {
      if (!ids.faulty.has(id)) continue;
      const line = text.lineOf(offset + at) + 1;
      if (!ids.isCalled(id)) {
        const sentence = `No readable call has the id "${id}", so flemma never sends this result.`;
        found.push(finding("result_orphan", sentence, line, { id }));
      }
      if (seen.has(id)) {
        const sentence = `The call "${id}" already has a result further up. flemma uses the last one.`;
        found.push(finding("result_duplicate", sentence, line, { id }));
      }
      seen.add(id);
    }
  });
  return found;
}

type Visit = Parameters<Conversation["each"]>[2];

/** Visits the messages of the pages that `concerned` selects. */
function eachWhere(conversation: Conversation, concerned: (summary: Summary) => boolean, visit: Visit): void {
  conversation.pages.forEach((page, index) => {
    if (page.summary !== null && !concerned(page.summary)) return;
    conversation.each(conversation.pageCount(index), conversation.pageCount(index + 1), visit);
  });
}
