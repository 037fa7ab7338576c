// Random edits of a document in an editor from a seed: typing, deleting, pasting, undoing, several changes in one
// message. The same seed gives the same edits.

import { callsDocument } from "../../cli/harness.ts";
import { hostileDocument, PIECES, type Random } from "../../parser/hostile.ts";
import { applied, positionOf, type TextEdit, type Unit } from "./counting.ts";

const WORDS = [
  "@You:\n",
  "@You:\r\n",
  "```\n",
  "`",
  "{{ x }}",
  "{{",
  "**Tool Result:** `a`\n",
  "pending",
  "approved",
  "é🙂",
  "𝒳\u0301👩‍👩‍👧",
  "\ufeff",
  "\r",
  "\n",
  "\r\n",
  "@./no.md ",
  "<thinking>\n",
  '{"command": "🙂", "timeout": null}',
  '"',
  "\\",
  "\u2028",
];

/** Documents that a person has at hand; the same with other line ends. */
const TEXTS = [
  "",
  callsDocument([{ id: "a", command: "true", status: "pending" }]),
  callsDocument([
    { id: "a", command: "echo größe 🙂", status: "pending" },
    { id: "b", command: "sleep 1", status: "approved" },
    { id: "c", command: "cat x" },
  ]),
  '```json\n{"flemma": {"tools": {"max_concurrent": 1}}}\n```\n\n@You:\nHi {{ 1 + 1 }} 🙂\n',
];

/** A whole text for the editor to open. */
export function freshText(random: Random): string {
  const text = random.chance(2)
    ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(hostileDocument(random)).replaceAll("\0", "")
    : random.pick(TEXTS);
  return random.chance(3) ? text.replaceAll(/\r?\n/g, "\r\n") : text;
}

/** The changes that are told in one message, each of the text after the one before. */
export function changes(random: Random, text: string, unit: Unit): TextEdit[] {
  const made: TextEdit[] = [];
  for (let count = random.chance(4) ? 1 + random.below(4) : 1; count > 0; count--) {
    const [from, to] = span(random, text);
    const newText = typed(random, text);
    const range = { start: positionOf(text, from, unit), end: positionOf(text, to, unit) };
    made.push({ range, newText });
    text = applied(text, [{ range, newText }], unit);
  }
  return made;
}

/** What is selected: nothing mostly, some characters, lines, the inside of a call or result, all of it. */
function span(random: Random, text: string): [number, number] {
  if (random.chance(40)) return [0, text.length];
  let from = random.below(text.length + 1);
  if (random.chance(3)) {
    // Where structure is: behind the beginning of a call, a result, or their fences.
    const marks = [...text.matchAll(/\*\*Tool|```|status=|"command"|\r|\ufeff/g)];
    if (marks.length > 0) from = Math.min(text.length, random.pick(marks).index + random.below(12));
  }
  const length = random.chance(2)
    ? 0
    : random.chance(20)
    ? random.below(4000)
    : random.below(random.chance(2) ? 3 : 40);
  return [whole(text, from), whole(text, Math.min(text.length, from + length))];
}

function typed(random: Random, text: string): string {
  if (random.chance(5)) return "";
  if (random.chance(6)) {
    return `${random.pick(PIECES).replaceAll("\0", "")}${random.pick(["\n", "\r\n", ""])}`;
  }
  if (random.chance(30)) return `${random.pick(["x", "🙂", "`", "line\n"]).repeat(1 + random.below(3000))}`;
  if (random.chance(20)) {
    const from = whole(text, random.below(text.length + 1));
    return text.slice(from, whole(text, Math.min(text.length, from + random.below(300))));
  }
  return random.pick(WORDS);
}

/** The place, or the one before where it would part a character. */
function whole(text: string, at: number): number {
  return at > 0 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1)) ? at - 1 : at;
}
