// `deno task fuzz [--documents N] [--edits N] [--seed N]`: random documents and edit sequences against the promises
// of the parser, until one fails. Each case follows from the seed and its number, so it can be run alone.

import { hostileDocument, Random } from "../tests/parser/hostile.ts";
import { checkDocument, checkEdits } from "../tests/parser/promises.ts";
import { print } from "./gate/root.ts";

const STEP = 10_000;

const documents = option("documents", 1_000_000);
const sequences = option("edits", 100_000);
const seed = option("seed", 1);

await phase("documents", documents, (random) => checkDocument(hostileDocument(random)));
await phase("edit sequences", sequences, (random) => checkEdits(hostileDocument(random), random));
print(`no difference in ${documents} documents and ${sequences} edit sequences from seed ${seed} on`);

async function phase(name: string, count: number, check: (random: Random) => void): Promise<void> {
  const start = performance.now();
  for (let index = 0; index < count; index++) {
    try {
      check(new Random(seed + index));
    } catch (error) {
      print(`FAILED: ${name}, seed ${seed + index} (run it alone: --seed ${seed + index} and a count of 1)`);
      throw error;
    }
    if ((index + 1) % STEP === 0 || index + 1 === count) {
      const seconds = (performance.now() - start) / 1000;
      print(`${name}: ${index + 1} of ${count} in ${seconds.toFixed(0)} s`);
      await Promise.resolve();
    }
  }
}

function option(name: string, fallback: number): number {
  const at = Deno.args.indexOf(`--${name}`);
  if (at < 0) return fallback;
  const value = Number(Deno.args[at + 1]);
  if (Number.isInteger(value) && value >= 0) return value;
  print(`--${name} needs a whole number`);
  Deno.exit(2);
}
