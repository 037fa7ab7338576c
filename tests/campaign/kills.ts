// Kills at random moments of a run: nothing is lost, happens twice, is left behind or keeps running.

import assert from "node:assert/strict";
import { callsDocument, type Started, withScene } from "../cli/harness.ts";
import { type Reply, textReply, withServer } from "../cli/replies.ts";
import { chance, pause } from "./random.ts";

/** Makes so many kills; answers what it did, and throws at the first thing that is wrong. */
export async function kills(count: number, seed: number): Promise<string> {
  const random = chance(seed);
  const begun = performance.now();
  await oneKill(Infinity);
  // The instants are spread over what a run and the one after it take on this machine.
  const within = Math.round((performance.now() - begun) * 0.6);
  let early = 0;
  for (let kill = 0; kill < count; kill++) if (await oneKill(random.below(within))) early++;
  return `${count} kills, ${early} of them before the end: nothing lost, doubled or left behind, no orphan`;
}

/** Kills a run after so many milliseconds. True when it had not ended by then. */
async function oneKill(after: number): Promise<boolean> {
  let inTime = false;
  const answers: Reply[] = Array.from({ length: 3 }, () => textReply("All is well.\nIndeed."));
  await withScene((place) =>
    withServer(answers, async ({ env }) => {
      const mark = `mark-${crypto.randomUUID()}`;
      const command = `: ${mark}; echo ran >> runs; sleep 0.1; echo over`;
      const before = callsDocument([{ id: "c1", command, status: "approved" }]);
      place.write("a.chat", before);
      const options = { env: { ...env, ANTHROPIC_API_KEY: "k" } };
      const run = place.start(["advance", "a.chat"], options);
      let ended = false;
      const over = run.finished.then(() => ended = true);
      await (after === Infinity ? over : pause(after));
      inTime = !ended && killed(run);
      await run.finished;
      const [head] = before.split("**Tool Result:**");
      const left = place.read("a.chat");
      assert.ok(left.startsWith(head!), left);
      assert.ok(count(place, "runs") <= 1);
      // The next run goes on, or asks: the call does not run a second time by itself.
      const ran = count(place, "runs");
      const next = await place.run(["advance", "a.chat"], options);
      // A run that was killed right after its end left nothing to send.
      const done = next.code === 0 && /Nothing to do/.test(next.stderr) && left.includes("Indeed.");
      assert.ok(done || [0, 3].includes(next.code), `${next.code}: ${next.stderr}`);
      const settled = place.read("a.chat");
      assert.ok(settled.startsWith(head!), settled);
      assert.equal(settled.split("**Tool Result:** `c1`").length, 2, settled);
      const pending = /status=pending/.test(settled);
      assert.ok(count(place, "runs") <= 1, "the call ran twice");
      if (ran === 0) assert.ok(pending || count(place, "runs") === 1, settled);
      if (!pending) assert.ok(settled.split("All is well.\nIndeed.").length <= 2, "the reply appears twice");
      assert.deepEqual(processesWith(mark), [], "the command lives on");
      const files = [...Deno.readDirSync(place.path(""))].map(({ name }) => name).filter((name) =>
        /tmp$|^\./.test(name)
      );
      assert.deepEqual(files, []);
    })
  );
  return inTime;
}

/** False when it has ended in the very moment. */
function killed(run: Started): boolean {
  try {
    run.kill("SIGKILL");
    return true;
  } catch (thrown) {
    if (thrown instanceof TypeError) return false;
    throw thrown;
  }
}

/** Processes whose command line holds a word. */
function processesWith(word: string): string[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name)).filter(
    (pid) => {
      try {
        return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(word);
      } catch {
        // It has ended meanwhile.
        return false;
      }
    },
  );
}

function count(place: { exists(name: string): boolean; read(name: string): string }, name: string): number {
  return place.exists(name) ? place.read(name).trimEnd().split("\n").length : 0;
}
