// Programs that try to get out, as the superuser and as an ordinary user. None of them may succeed.

import assert from "node:assert/strict";
import { inFolder } from "./fixture.ts";

interface Outcome {
  group: string;
  name: string;
  held: boolean;
  /** It was not tried: the program says itself that it cannot hold this here. */
  told?: boolean;
  detail: string;
}

/** The number of a user that owns nothing and has no name on most machines. */
const ORDINARY = "64123";

const RUNNER = new URL("./attacks/runner.ts", import.meta.url).pathname;

/** Runs the attacks in a process of that user's own, with everything it needs in `folder`. */
async function outcomes(folder: string, user: string | null): Promise<Outcome[]> {
  const deno = [Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--quiet", RUNNER];
  const become = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
  if (user !== null) {
    const { success } = new Deno.Command("chown", { args: ["-R", `${user}:${user}`, folder] }).outputSync();
    assert.ok(success);
  }
  const [program = "", ...args] = user === null ? deno : [...become, ...deno];
  const { stdout, stderr, success } = await new Deno.Command(program, {
    args,
    cwd: "/",
    clearEnv: true,
    env: {
      HOME: folder,
      DENO_DIR: `${folder}/deno`,
      PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      NO_COLOR: "1",
    },
    stdin: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
}

const superuser = Deno.uid() === 0;

Deno.test("no attack succeeds, neither of the superuser nor of an ordinary user", () =>
  inFolder(async (folder) => {
    const [first, second] = await Promise.all([
      outcomes(`${folder}`, null),
      // An ordinary user cannot become another one; then its own attacks are all there are.
      superuser ? inOwnFolder((own) => outcomes(own, ORDINARY)) : Promise.resolve([]),
    ]);
    print(table(first, second));
    const tried = first.filter(({ told }) => !told);
    assert.ok(tried.length >= 150, `only ${tried.length} attacks`);
    if (superuser) assert.deepEqual(second.map(({ name }) => name), first.map(({ name }) => name));
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
  const all = [["group", "attack", superuser ? "superuser" : "this user", superuser ? "user" : "-"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()).join(
    "\n",
  );
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}
