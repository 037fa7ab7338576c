// All attacks, tried by a process of the current user or of an ordinary user.

import assert from "node:assert/strict";
import { inFolder } from "../../folder.ts";
import { isSuperuser, runDeno } from "../ordinary_user.ts";

/** What came of one attack. */
export interface Outcome {
  group: string;
  name: string;
  retained: boolean;
  /** It was not tried: the program says itself that it cannot hold this here. */
  reported?: boolean;
  /** It was not tried: the backend refuses the policy with a reason. */
  refused?: boolean;
  /** Something was restored after it. */
  repaired?: boolean;
  detail: string;
}

const RUNNER = new URL("./runner.ts", import.meta.url).pathname;

/** What came of all attacks, tried in a process of that user's own. */
export function tryAttacks(
  { ordinary, backend = "bwrap" }: { readonly ordinary: boolean; readonly backend?: string },
): Promise<Outcome[]> {
  const words = ["run", "-A", "--no-check", "--no-lock", "--quiet", RUNNER, backend];
  return inFolder(async (folder) =>
    (await runDeno(folder, words, { ordinary })).trim().split("\n").map((line) => JSON.parse(line))
  );
}

/**
 * Throws if an attack succeeded. The message has one short line for each, so that the end of a long log shows it.
 */
export function assertNoneLost(lost: readonly Pick<Outcome, "group" | "name" | "detail">[]): void {
  const lines = lost.map(({ group, name, detail }) =>
    `LOST ${group}: ${name}: ${detail.trim().replaceAll(/\s+/g, " ").slice(-200)}`
  );
  if (lines.length > 0) throw new Error(lines.join("\n"));
}

/** Prints what came of the attacks as a table; throws where one succeeded, or where hardly any was tried. */
export function checkOutcomes(
  outcomes: readonly Outcome[],
  { ordinary }: { readonly ordinary: boolean },
): void {
  const outcome = ({ reported, retained }: Outcome) => reported ? "told" : retained ? "held" : "LOST";
  const user = ordinary ? "user" : isSuperuser ? "superuser" : "this user";
  const rows = [["group", "attack", user], ...outcomes.map((one) => [one.group, one.name, outcome(one)])];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
  const tried = outcomes.filter(({ reported }) => !reported);
  assert.ok(tried.length >= 150, `only ${tried.length} attacks`);
  assertNoneLost(outcomes.filter(({ retained }) => !retained));
}
