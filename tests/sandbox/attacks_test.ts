// Programs that try to get out, as the superuser and as an ordinary user. None of them may succeed.

import assert from "node:assert/strict";
import { inFolder } from "../folder.ts";
import { type Outcome, tryAll } from "./attacks/both_users.ts";
import { isSuperuser } from "./ordinary_user.ts";

Deno.test("no attack succeeds, neither of the superuser nor of an ordinary user", () =>
  inFolder(async (folder) => {
    const [first, second] = await tryAll(folder);
    print(table(first, second));
    const tried = first.filter(({ reported }) => !reported);
    assert.ok(tried.length >= 150, `only ${tried.length} attacks`);
    if (isSuperuser) assert.deepEqual(second.map(({ name }) => name), first.map(({ name }) => name));
    const lost = [...first, ...second].filter(({ retained }) => !retained);
    assert.deepEqual(lost, []);
  }));

function table(first: readonly Outcome[], second: readonly Outcome[]): string {
  const decided = (outcome: Outcome | undefined) =>
    outcome === undefined ? "-" : outcome.reported ? "told" : outcome.retained ? "held" : "LOST";
  const rows = first.map((outcome, index) => [
    outcome.group,
    outcome.name,
    decided(outcome),
    decided(second[index]),
  ]);
  const all = [
    ["group", "attack", isSuperuser ? "superuser" : "this user", isSuperuser ? "user" : "-"],
    ...rows,
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()).join(
    "\n",
  );
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}
