// Runs the long campaigns: `deno task campaign NAME|all [COUNT] [SEED] [--record]`. Prints the seed first, so that a
// failure can be repeated. With --record each step is added to tests/campaign/record.json, so that a stopped campaign
// still counts.

import manifest from "../deno.json" with { type: "json" };
import { CAMPAIGNS } from "../tests/campaign/campaigns.ts";
import { addToRecord, readRecord, totals } from "../tests/campaign/record.ts";
import { print } from "./gate/root.ts";

const record = Deno.args.includes("--record");
const [name = "", count, seed] = Deno.args.filter((word) => word !== "--record");
const names = name === "all" ? Object.keys(CAMPAIGNS) : [name];
const numbers = [count, seed].every((word) => word === undefined || /^\d+$/.test(word));
if (!names.every((each) => Object.hasOwn(CAMPAIGNS, each)) || !numbers) {
  print(`deno task campaign ${Object.keys(CAMPAIGNS).join("|")}|all [COUNT] [SEED] [--record]`);
  Deno.exit(2);
}
for (const each of names) if (!await campaign(each)) Deno.exit(1);

/** Runs one campaign; false if it found a fault. */
async function campaign(name: string): Promise<boolean> {
  const { standard, step, load } = CAMPAIGNS[name]!;
  // A recorded campaign continues with seeds that were not tried yet.
  const tried = record ? totals(await readRecord()).get(name)?.count ?? 0 : Date.now() % 1_000_000;
  const first = seed === undefined ? tried + 1 : Number(seed);
  const times = count === undefined ? standard : Number(count);
  print(`${name}: ${times} times, seed ${first}`);
  const run = await load();
  for (let done = 0; done < times;) {
    const now = Math.min(step, times - done);
    const begun = performance.now();
    let found: string | null = null;
    let reported = "";
    try {
      reported = await run(now, first + done);
    } catch (thrown) {
      found = (thrown as Error).message.split("\n", 1)[0]!;
      print(`FAILED from seed ${first + done} on: ${(thrown as Error).stack}`);
      for (let { cause } = thrown as Error; cause instanceof Error; cause = cause.cause) print(cause.message);
    }
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (record) {
      const day = new Date().toISOString().slice(0, 10);
      await addToRecord({
        campaign: name,
        // The number of seeds before the fault is unknown, so 0 is recorded.
        count: found === null ? now : 0,
        seed: first + done,
        seconds,
        version: manifest.version,
        day,
        found,
      });
    }
    if (found !== null) return false;
    done += now;
    print(`${name}: ${done} of ${times}. ${reported}`);
  }
  return true;
}
