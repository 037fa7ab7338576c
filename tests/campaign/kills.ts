// Kills at random moments of a run: nothing is lost, happens twice, is left behind or keeps running.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { watching } from "../cli/watching.ts";
import { oneBatchKill } from "./batch_kills.ts";
import { chooseParticipants, Company, type Participants, QUESTION } from "./participants.ts";
import { chance, isKilled, pause } from "./random.ts";

type Host = "advance" | "watch";

/** Number of runs for each batch. */
const RUNS = 4;

/** Makes so many kills; answers what it did, and throws at the first thing that is wrong. */
export async function kills(count: number, seed: number): Promise<string> {
  const usual = new Map<string, number>();
  let early = 0;
  let batches = 0;
  for (let kill = seed; kill < seed + count; kill++) {
    const random = chance(kill);
    try {
      if (kill % (RUNS + 1) === 0) {
        batches++;
        if (await oneBatchKill(random)) early++;
        continue;
      }
      const host = random.pick<Host>(["advance", "watch"]);
      const who = chooseParticipants(random);
      const key = `${host} ${who.backend}`;
      // The moments are spread over what a run takes on this machine.
      const within = usual.get(key) ?? await undisturbed(host, who);
      usual.set(key, within);
      if (await oneKill(host, who, within * (random.below(1000) / 1000))) early++;
    } catch (cause) {
      throw new Error(`kill ${kill}: ${(cause as Error).message}`, { cause });
    }
  }
  return `${count} kills, ${batches} of them of batches, ${early} before the end: nothing lost, doubled or left behind`;
}

async function undisturbed(host: Host, who: Participants): Promise<number> {
  const all = { ...who, job: true, hook: true, helper: who.backend !== "landlock" };
  const begun = performance.now();
  await oneKill(host, all, Infinity);
  return performance.now() - begun;
}

/** Kills a run after so many milliseconds. Returns true if it had not ended by then. */
async function oneKill(host: Host, who: Participants, after: number): Promise<boolean> {
  let isEarly = false;
  await withScene(async (place) => {
    await using company = new Company(place, who);
    isEarly = await (host === "advance" ? killAdvance : killWatch)(place, company, after);
    const left = place.read("a.chat");
    assert.ok(left.startsWith(`@You:\n${QUESTION}`), left);
    await company.settle(place);
  });
  return isEarly;
}

async function killAdvance(place: Scene, { env }: Company, after: number): Promise<boolean> {
  place.write("a.chat", `@You:\n${QUESTION}`);
  const run = place.start(["advance", "a.chat"], { env });
  let ended = false;
  const over = run.finished.then(() => ended = true);
  await (after === Infinity ? over : pause(after));
  const isEarly = !ended && isKilled(run);
  const { stderr } = await run.finished;
  if (after === Infinity) assert.match(place.read("a.chat"), /\nIndeed\.\n/, stderr);
  return isEarly;
}

async function killWatch(place: Scene, { env }: Company, after: number): Promise<boolean> {
  place.write("a.chat", "@You:\n");
  let isEarly = false;
  await watching(place, env, ["a.chat"], async (watch) => {
    place.write("a.chat", `@You:\n${QUESTION}`);
    const stopped = watch.next("stopped").then(() => true, () => false);
    isEarly = !await (after === Infinity ? stopped : Promise.race([stopped, pause(after).then(() => false)]));
    watch.kill("SIGKILL");
    await watch.ends();
    await stopped;
  });
  return isEarly;
}
