// The cost of parallel calls: ten compared with one, without a limit on parallel calls.

import { callsDocument } from "../ceilings/made.ts";
import { type Bench, type Figure, interleaved } from "../harness.ts";
import { advanced } from "./advanced.ts";

const ROUNDS = 5;
const ONE = "1 call";
const COUNT = 10;

const bench: Bench = {
  name: "calls",
  about:
    `a whole run of approved, sandboxed \`sleep 1\` calls without a limit on parallel calls: median of ${ROUNDS} runs`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const many = `${COUNT} calls`;
      const times = await interleaved({
        [ONE]: () => advance(folder, 1),
        [many]: () => advance(folder, COUNT),
      }, ROUNDS);
      return [
        { case: ONE, value: times[ONE]!, unit: "ms" },
        { case: many, value: times[many]!, unit: "ms", against: ONE, goal: 1.5 },
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Runs `count` calls of a new document to completion. */
async function advance(folder: string, count: number): Promise<void> {
  const calls = Array.from({ length: count }, () => ({ name: "bash", input: { command: "sleep 1" } }));
  await advanced(folder, {
    document: callsDocument(calls, "approved"),
    settings: "tools: { max_concurrent: 0 }\n",
    isDone: (text) => text.split("(no output)").length === count + 1,
  });
}

export default bench;
