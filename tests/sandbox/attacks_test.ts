// Programs that try to get out, as the superuser and as an ordinary user. None of them may succeed.

import assert from "node:assert/strict";
import { inFolder } from "./fixture.ts";
import { isSuperuser, runDeno } from "./ordinary_user.ts";

interface Outcome {
  group: string;
  name: string;
  held: boolean;
  /** It was not tried: the program says itself that it cannot hold this here. */
  told?: boolean;
  detail: string;
}

const RUNNER = new URL("./attacks/runner.ts", import.meta.url).pathname;

/** Runs the attacks in a process of that user's own, with everything it needs in `folder`. */
async function outcomes(folder: string, { ordinary }: { ordinary: boolean }): Promise<Outcome[]> {
  const words = ["run", "-A", "--no-check", "--no-lock", "--quiet", RUNNER];
  return (await runDeno(folder, words, { ordinary })).trim().split("\n").map((line) => JSON.parse(line));
}

Deno.test("no attack succeeds, neither of the superuser nor of an ordinary user", () =>
  inFolder(async (folder) => {
    const [first, second] = await Promise.all([
      outcomes(folder, { ordinary: false }),
      // An ordinary user cannot become another one; then its own attacks are all there are.
      isSuperuser ? inOwnFolder((own) => outcomes(own, { ordinary: true })) : Promise.resolve([]),
    ]);
    print(table(first, second));
    const tried = first.filter(({ told }) => !told);
    assert.ok(tried.length >= 150, `only ${tried.length} attacks`);
    if (isSuperuser) assert.deepEqual(second.map(({ name }) => name), first.map(({ name }) => name));
    const lost = [...first, ...second].filter(({ held }) => !held);
    assert.deepEqual(lost, []);
  }));

/** A folder that is handed over to somebody else, and so has to be removed by whoever may. */
async function inOwnFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = Deno.makeTempDirSync({ dir: Deno.realPathSync("/var/tmp"), prefix: "flemma-test-" });
  try {
    return await body(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function table(first: readonly Outcome[], second: readonly Outcome[]): string {
  const verdict = (outcome: Outcome | undefined) =>
    outcome === undefined ? "-" : outcome.told ? "told" : outcome.held ? "held" : "LOST";
  const rows = first.map((outcome, index) => [
    outcome.group,
    outcome.name,
    verdict(outcome),
    verdict(second[index]),
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
