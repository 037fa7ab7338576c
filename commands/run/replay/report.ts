// Formats replay results for people, as TAP and as JUnit. Pure.

import { visible } from "../../../base/visible.ts";
import type { Problem } from "../../../base/problem.ts";
import type { Played } from "./player.ts";

export interface Replayed {
  readonly file: string;
  readonly played: readonly Played[];
  /** Reason why the replay stopped early; null if it finished. */
  readonly problem: Problem | null;
}

/** True if the replay finished and every result is as recorded. */
export function isAsRecorded({ played, problem }: Replayed): boolean {
  return problem === null && played.every(({ differs }) => differs.length === 0);
}

function nameOf({ recorded: { name, id, line } }: Played): string {
  return visible(`${name} ${id}, line ${line}`);
}

/** Why a call is skipped. */
function whySkipped({ helper }: Played): string {
  return helper?.words ?? "was not run when recorded, and is not run now";
}

/** Returns the lines for people: each difference and the counts. */
export function plainLines({ file, played, problem }: Replayed): readonly string[] {
  const differing = played.filter(({ differs }) => differs.length > 0);
  const same = played.filter(({ differs, found }) => differs.length === 0 && found !== null).length;
  const skipped = played.filter(({ found }) => found === null).length;
  const counts = [
    `${same} as recorded`,
    ...differing.length > 0 ? [`${differing.length} different`] : [],
    ...skipped > 0 ? [`${skipped} skipped`] : [],
  ];
  return [
    ...differing.flatMap((each) => [
      `${file}:${each.recorded.line}: ${each.recorded.name} ${each.recorded.id} differs from the recording`,
      ...each.differs.map((line) => `  ${line}`),
    ]),
    ...played.filter(({ helper }) => helper?.replayed === false).map((each) =>
      `${file}:${each.recorded.line}: ${each.recorded.name} ${each.recorded.id}: ${whySkipped(each)}`
    ),
    ...problem === null ? [] : [`${file}: ${problem.message}`, ...problem.next ? [`  ${problem.next}`] : []],
    ...played.length === 0 && problem !== null ? [] : [`${file}: ${counts.join(", ")}`],
  ].map((line) => visible(line));
}

/** TAP version 14, one test point per result. */
export function formatTap(replayed: readonly Replayed[]): string {
  const points = replayed.flatMap(({ file, played, problem }) => [
    ...played.map((each) => ({ title: `${file}: ${nameOf(each)}`, each, why: null })),
    ...problem === null ? [] : [{ title: `${file}: replayed to the end`, each: null, why: problem.message }],
  ]);
  const lines = points.flatMap(({ title, each, why }, at) => {
    const name = visible(title).replace(/([\\#])/g, "\\$1");
    const fails = each === null || each.differs.length > 0;
    const skip = each?.found === null ? ` # SKIP ${visible(whySkipped(each))}` : "";
    const diff = each === null ? [why ?? ""] : each.differs;
    const block = fails ? ["  ---", "  diff: |", ...diff.map((line) => `    ${visible(line)}`), "  ..."] : [];
    return [`${fails ? "not ok" : "ok"} ${at + 1} - ${name}${skip}`, ...block];
  });
  return ["TAP version 14", `1..${points.length}`, ...lines, ""].join("\n");
}

/** JUnit XML, one suite per document. */
export function formatJunit(replayed: readonly Replayed[]): string {
  const suites = replayed.flatMap(({ file, played, problem }) => {
    const failures = played.filter(({ differs }) => differs.length > 0).length;
    const skipped = played.filter(({ found }) => found === null).length;
    const errors = problem === null ? 0 : 1;
    const counts = `tests="${
      played.length + errors
    }" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
    return [
      `  <testsuite name="${xml(file)}" ${counts}>`,
      ...played.flatMap((each) => {
        const open = `    <testcase classname="${xml(file)}" name="${xml(nameOf(each))}"`;
        if (each.found === null) return [`${open}><skipped message="${xml(whySkipped(each))}"/></testcase>`];
        if (each.differs.length === 0) return [`${open}/>`];
        const text = xml(each.differs.join("\n"));
        return [`${open}><failure message="differs from the recording">${text}</failure></testcase>`];
      }),
      ...problem === null ? [] : [
        `    <testcase classname="${xml(file)}" name="replayed to the end"><error message="${
          xml(problem.message)
        }"/></testcase>`,
      ],
      "  </testsuite>",
    ];
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", ...suites, "</testsuites>", ""].join(
    "\n",
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes text for XML, which cannot hold most control characters. */
function xml(text: string): string {
  return visible(text, { lines: true }).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
