// All attacks, tried by processes of the superuser and of an ordinary user.

import { isSuperuser, runDeno } from "../ordinary_user.ts";
import { inFolder } from "../../folder.ts";

/** What came of one attack. */
export interface Outcome {
  group: string;
  name: string;
  retained: boolean;
  /** It was not tried: the program says itself that it cannot hold this here. */
  reported?: boolean;
  detail: string;
}

const RUNNER = new URL("./runner.ts", import.meta.url).pathname;

/** What came of all attacks by whoever runs this, and by an ordinary user; of the second only where this is the superuser. */
export async function tryAll(folder: string): Promise<readonly [readonly Outcome[], readonly Outcome[]]> {
  return await Promise.all([
    outcomes(folder, { ordinary: false }),
    // An ordinary user cannot become another one; then its own attacks are all there are.
    isSuperuser ? inFolder((own) => outcomes(own, { ordinary: true })) : Promise.resolve([]),
  ]);
}

/** Runs the attacks in a process of that user's own, with everything it needs in `folder`. */
async function outcomes(folder: string, { ordinary }: { ordinary: boolean }): Promise<Outcome[]> {
  const words = ["run", "-A", "--no-check", "--no-lock", "--quiet", RUNNER];
  return (await runDeno(folder, words, { ordinary })).trim().split("\n").map((line) => JSON.parse(line));
}
