// The cost of many calls in one reply, run to completion: each count compared with the next smaller one.

import { callsDocument, sums } from "../ceilings/made.ts";
import { type Bench, type Figure, interleaved } from "../harness.ts";
import { advanced } from "./advanced.ts";

const ROUNDS = 3;
const COUNTS = [200, 2000, 10_000] as const;
/** Maximum ratio to the next smaller count, which is a fifth or a tenth. */
const GOALS: Readonly<Record<number, number>> = { 2000: 12, 10_000: 6 };

const bench: Bench = {
  name: "many-calls",
  about: `a whole run of many approved calculator calls in one reply: median of ${ROUNDS} runs`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const cases = COUNTS.map((count) => [`${count} calls`, () => advance(folder, count)] as const);
      const times = await interleaved(Object.fromEntries(cases), ROUNDS);
      return COUNTS.map((count, at) => {
        const name = `${count} calls`;
        const value = times[name]!;
        return at === 0
          ? { case: name, value, unit: "ms" }
          : { case: name, value, unit: "ms", against: `${COUNTS[at - 1]} calls`, goal: GOALS[count]! };
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Places, approves and runs `count` calls of a new document. */
async function advance(folder: string, count: number): Promise<void> {
  await advanced(folder, {
    document: callsDocument(sums(count), "placed"),
    settings: "tools: { auto_approve: [calculator] }\n",
    isDone: (text) => text.includes(`\n${count}\n\`\`\``) && !text.includes("status="),
  });
}

export default bench;
