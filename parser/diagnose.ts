// Warnings about the document as a whole: what would otherwise be left out or misread in silence (S4).

import { finding, nearestRole, ROLES } from "./diagnostic.ts";
import { isBlank, legacyMarker } from "./lines.ts";
import { fenceTicks, isBare, opensFence } from "./scan.ts";
import type { Source } from "./source.ts";
import type { ChatTurn } from "./turn.ts";
import type { Diagnostic } from "./types.ts";

/** All diagnostics of a parse, sorted by line. */
export function diagnose(source: Source, turns: readonly ChatTurn[]): Diagnostic[] {
  const found = [
    ...frontmatterUnclosed(source),
    ...legacyMarkers(source),
    ...roles(turns),
    ...swallowedMarkers(source),
    ...turns.flatMap((turn) => turn.findings),
    ...results(turns),
  ];
  const lost = textBeforeFirstMessage(source);
  if (lost !== null && !found.some((other) => other.start === lost.start)) found.push(lost);
  return found.sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
}

function frontmatterUnclosed(source: Source): Diagnostic[] {
  if (!source.split.frontmatterUnclosed) return [];
  const message =
    "The frontmatter opened on line 1 has no closing line of three backticks, so it is not read.";
  return [finding("frontmatter_unclosed", message, 1)];
}

function textBeforeFirstMessage(source: Source): Diagnostic | null {
  const end = source.split.turns[0] ?? source.lineCount;
  for (let line = (source.split.frontmatter?.close ?? -1) + 1; line < end; line++) {
    if (isBlank(source.bytes, source.start(line), source.end(line))) continue;
    const message =
      'Text before the first role marker, such as "@You:", belongs to no message and is never sent.';
    return finding("text_before_first_message", message, line + 1);
  }
  return null;
}

function legacyMarkers(source: Source): Diagnostic[] {
  const found: Diagnostic[] = [];
  const { marks, codes } = source.scan;
  const firstTurn = source.split.turns[0] ?? source.lineCount;
  const first = (source.split.frontmatter?.close ?? -1) + 1;
  // Fences hide no markers before the first message, but what they quote there is no marker of old either.
  let ticks = 0;
  for (let mark = source.markFrom(first); mark < marks.length; mark++) {
    const line = marks[mark]!;
    const code = codes[mark]!;
    if (line < firstTurn) {
      if (ticks === 0 && opensFence(code)) ticks = fenceTicks(code);
      else if (isBare(code) && fenceTicks(code) >= ticks) ticks = 0;
    }
    if (code !== 0) continue;
    const from = source.start(line);
    const marker = legacyMarker(source.bytes, from, source.end(line));
    if (marker === null || (line < firstTurn ? ticks : source.stateBefore(line)) > 0) continue;
    const role = source.spanText(marker.role);
    const message =
      `"@${role}:" with text on the same line begins no message; the marker needs a line of its own.`;
    found.push(finding("legacy_form", message, line + 1));
  }
  return found;
}

function roles(turns: readonly ChatTurn[]): Diagnostic[] {
  const lastSystem = turns.findLastIndex((turn) => turn.role === "System");
  return turns.flatMap((turn) => {
    const line = turn.place.start;
    if (!ROLES.includes(turn.role)) {
      const nearest = nearestRole(turn.role);
      const hint = nearest === null ? "" : ` Did you mean "@${nearest}:"?`;
      const message = `The role "${turn.role}" is none of ${
        ROLES.join(", ")
      }, so its message is never sent.${hint}`;
      return [finding("role_unknown", message, line)];
    }
    if (turn.role === "System" && turn.index < lastSystem) {
      return [finding("system_repeated", "A later System message takes the place of this one.", line)];
    }
    return [];
  });
}

function swallowedMarkers(source: Source): Diagnostic[] {
  return source.split.fences
    .filter((fence) => fence.hidesMarker && fence.close === source.lineCount)
    .map((fence) =>
      finding(
        "fence_unclosed",
        `This fence of ${fence.ticks} backticks is never closed and swallows every role marker below it.`,
        fence.open + 1,
      )
    );
}

function results(turns: readonly ChatTurn[]): Diagnostic[] {
  const called = new Set(turns.flatMap((turn) => turn.calls.map((call) => call.id)));
  const seen = new Set<string>();
  return turns.flatMap((turn) => turn.results).flatMap((result) => {
    const { id } = result;
    const line = result.header.start;
    const found: Diagnostic[] = [];
    if (!called.has(id)) {
      found.push(
        finding("result_orphan", `No readable call has the id "${id}", so its result is never sent.`, line, {
          id,
        }),
      );
    }
    if (seen.has(id)) {
      const message = `The call "${id}" has a result further up already; the last one counts.`;
      found.push(finding("result_duplicate", message, line, { id }));
    }
    seen.add(id);
    return found;
  });
}
