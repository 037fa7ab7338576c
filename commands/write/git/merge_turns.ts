// Merges two versions of a conversation message by message, or keeps both between conflict markers. Pure.

import { difference, type Hunk } from "../../../cycle/storage/lines.ts";
import { parse } from "../../../parser/mod.ts";
import { openFenceAtEnd } from "../../../parser/edits/escape.ts";
import { isLifecycle } from "../../../parser/text/status_words.ts";
import type { Chat, Result } from "../../../parser/types.ts";

export interface Merged {
  readonly text: string;
  /** True if the text contains a conflict. */
  readonly conflict: boolean;
}

/** A version split into pieces: the text before the first message, then each message. */
interface Version {
  readonly chat: Chat;
  readonly pieces: readonly string[];
}

type Stretch =
  | { readonly kind: "clean"; readonly pieces: readonly string[] }
  | { readonly kind: "conflict"; readonly ours: readonly string[]; readonly theirs: readonly string[] };

/**
 * Merges two versions that share `base`. A change on one side only is taken. All other changes are kept between markers
 * of `size` characters. Nothing of either side is lost, and the result approves nothing that nobody approved in this
 * form.
 */
export function mergeTurns(base: string, ours: string, theirs: string, size = 7): Merged {
  const versions = [base, ours, theirs].map(versionOf) as [Version, Version, Version];
  const [before, mine, other] = versions;
  const empty = [mine, other].some(({ pieces }) => isEmptyYou(pieces.at(-1)));
  const [b, o, t] = versions.map(({ pieces }) =>
    isEmptyYou(pieces.at(-1)) ? pieces.slice(0, -1) : pieces
  ) as [
    string[],
    string[],
    string[],
  ];
  const stretches = stretchesOf({ base: b, ours: o, theirs: t }, { before, mine, other });
  const merged = stretches === null ? null : written(stretches, size, empty);
  if (merged !== null && isSound(merged, versions)) return merged;
  return written(apart(o, t), size, empty);
}

interface Pieces {
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

interface Versions {
  readonly before: Version;
  readonly mine: Version;
  readonly other: Version;
}

function versionOf(text: string): Version {
  const chat = parse(new TextEncoder().encode(text));
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const first = chat.turns[0]?.place.from ?? chat.byteLength;
  const head = decoder.decode(chat.bytes.subarray(0, first));
  const turns = chat.turns.map(({ place }, at) => {
    const end = chat.turns[at + 1]?.place.from ?? chat.byteLength;
    return decoder.decode(chat.bytes.subarray(place.from, end));
  });
  return { chat, pieces: [head, ...turns] };
}

function isEmptyYou(piece: string | undefined): boolean {
  return piece !== undefined && /^@You:\s*$/.test(piece);
}

/** Returns the parts of the result; null if the versions differ too much to compare. */
function stretchesOf(pieces: Pieces, versions: Versions): readonly Stretch[] | null {
  const mine = difference(pieces.base, pieces.ours);
  const other = difference(pieces.base, pieces.theirs);
  if (mine === null || other === null) return null;
  const out: Stretch[] = [];
  let at = 0;
  let [i, j] = [0, 0];
  while (i < mine.length || j < other.length) {
    const from = Math.min(mine[i]?.from ?? Infinity, other[j]?.from ?? Infinity);
    let to = from;
    const [firstMine, firstOther] = [i, j];
    // Adjacent changes, such as a call and its result, are merged as one.
    for (let grown = true; grown;) {
      grown = false;
      while (mine[i] !== undefined && mine[i]!.from <= to) {
        to = Math.max(to, mine[i++]!.to);
        grown = true;
      }
      while (other[j] !== undefined && other[j]!.from <= to) {
        to = Math.max(to, other[j++]!.to);
        grown = true;
      }
    }
    out.push({ kind: "clean", pieces: pieces.base.slice(at, from) });
    const side = (hunks: readonly Hunk[]) => replaced(pieces.base, { from, to }, hunks);
    out.push(settled(
      {
        base: pieces.base.slice(from, to),
        ours: side(mine.slice(firstMine, i)),
        theirs: side(other.slice(firstOther, j)),
      },
      { from, to, end: pieces.base.length },
      versions,
    ));
    at = to;
  }
  out.push({ kind: "clean", pieces: pieces.base.slice(at) });
  return out;
}

/** Returns a range of the base as one side has it. */
function replaced(
  base: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  hunks: readonly Hunk[],
): readonly string[] {
  const out: string[] = [];
  let at = from;
  for (const hunk of hunks) {
    out.push(...base.slice(at, hunk.from), ...hunk.lines);
    at = hunk.to;
  }
  return [...out, ...base.slice(at, to)];
}

/** Decides about a part that at least one side changed. */
function settled(
  { base, ours, theirs }: Pieces,
  range: { readonly from: number; readonly to: number; readonly end: number },
  versions: Versions,
): Stretch {
  const clean = (pieces: readonly string[]): Stretch => ({ kind: "clean", pieces });
  const conflict: Stretch = { kind: "conflict", ours, theirs };
  if (same(ours, theirs)) return clean(ours);
  const head = range.from === 0;
  if (same(ours, base)) {
    return head && approvesMore(versions.before, versions.mine) ? conflict : clean(theirs);
  }
  if (same(theirs, base)) {
    return head && approvesMore(versions.before, versions.other) ? conflict : clean(ours);
  }
  if (base.length > 0 || range.from !== range.end) return conflict;
  if (sharesIds(ours, theirs)) return conflict;
  if (endsAnswered(ours) && beginsAsking(theirs)) return clean([...ours, ...theirs]);
  if (endsAnswered(theirs) && beginsAsking(ours)) return clean([...theirs, ...ours]);
  return conflict;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((piece, at) => piece.trimEnd() === b[at]!.trimEnd());
}

/** True if a version approves more than the base. Such approvals were not given under the other side's frontmatter. */
function approvesMore(before: Version, after: Version): boolean {
  const approved = (result: Result | undefined) => result?.status === "approved";
  return after.chat.results.some((result) => approved(result) && !approved(before.chat.result(result.id)));
}

/** True if added messages end with an answer that leaves no call open. */
function endsAnswered(pieces: readonly string[]): boolean {
  const { turns, calls, result } = chatOf(pieces);
  const final = calls.every(({ id }) => {
    const found = result(id);
    return found !== undefined && !isLifecycle(found.status);
  });
  const last = turns.at(-1);
  return final && last?.role === "Assistant" && last.calls.length === 0;
}

/** True if added messages begin with text by the person, not with results. */
function beginsAsking(pieces: readonly string[]): boolean {
  const [first] = chatOf(pieces).turns;
  return first?.role === "You" && first.results.length === 0;
}

function sharesIds(ours: readonly string[], theirs: readonly string[]): boolean {
  const known = new Set(chatOf(ours).calls.map(({ id }) => id));
  return chatOf(theirs).calls.some(({ id }) => known.has(id));
}

function chatOf(pieces: readonly string[]) {
  const chat = parse(new TextEncoder().encode(pieces.join("")));
  return { turns: chat.turns, calls: chat.calls, result: (id: string) => chat.result(id) };
}

/** Returns everything after the first difference as one conflict. */
function apart(ours: readonly string[], theirs: readonly string[]): readonly Stretch[] {
  let head = 0;
  while (head < ours.length && head < theirs.length && same([ours[head]!], [theirs[head]!])) head++;
  return [
    { kind: "clean", pieces: ours.slice(0, head) },
    { kind: "conflict", ours: ours.slice(head), theirs: theirs.slice(head) },
  ];
}

/** Returns the result as text, with the final empty `@You:` if a version had one. */
function written(stretches: readonly Stretch[], size: number, empty: boolean): Merged {
  const mark = (character: string, name = "") =>
    `${character.repeat(size)}${name === "" ? "" : ` ${name}`}\n`;
  const out: string[] = [];
  const add = (piece: string) => {
    if (piece === "") return;
    // Messages are separated by an empty line.
    if (piece.startsWith("@") && out.length > 0 && !/^$|\n\r?\n$|^[<=>]{7,}[^\n]*\n$/.test(out.at(-1)!)) {
      out.push("\n");
    }
    out.push(ended(piece));
  };
  let conflict = false;
  for (const stretch of stretches) {
    if (stretch.kind === "clean") {
      stretch.pieces.forEach(add);
      continue;
    }
    conflict = true;
    out.push(mark("<", "ours"));
    stretch.ours.forEach(add);
    out.push(mark("="));
    stretch.theirs.forEach(add);
    out.push(mark(">", "theirs"));
  }
  // If the last message is a question, the next one is the model's.
  const waits = /^@You:/.test(out.findLast((piece) => piece.startsWith("@")) ?? "");
  if (empty && !conflict && !waits) add("@You:\n");
  return { text: out.join(""), conflict };
}

/** Ends the last line, and closes an open fence that would swallow the following messages. */
function ended(piece: string): string {
  const whole = piece === "" || piece.endsWith("\n") ? piece : `${piece}\n`;
  if (!whole.includes("```")) return whole;
  const chat = parse(new TextEncoder().encode(whole));
  const last = chat.turns.at(-1);
  const ticks = last === undefined ? 0 : openFenceAtEnd(chat, last);
  return ticks === 0 ? whole : `${whole}${"`".repeat(ticks)}\n`;
}

/** True if a result without conflicts is sound: no call id occurs more often in it than in one of the versions. */
function isSound({ text, conflict }: Merged, versions: readonly Version[]): boolean {
  if (conflict) return true;
  const { chat } = versionOf(text);
  const count = (each: Chat, id: string) => each.calls.filter((call) => call.id === id).length;
  return chat.calls.every(({ id }) =>
    count(chat, id) <= Math.max(...versions.map((version) => count(version.chat, id)))
  );
}
