// What many calls of one reply cost: run to their ends, ten and five times as many beside the smaller number.

import { callsDocument, sums } from "../ceilings/made.ts";
import { type Bench, type Figure, interleaved } from "../harness.ts";

const ROUNDS = 3;
const COUNTS = [200, 2000, 10_000] as const;
/** How much more than the number before, which is a fifth or a tenth. */
const GOALS: Readonly<Record<number, number>> = { 2000: 12, 10_000: 6 };

const bench: Bench = {
  name: "many-calls",
  about: `whole run of so many approved calls of the calculator in one reply, median of ${ROUNDS} runs`,
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

/** Places, approves and runs so many calls of a fresh document. */
async function advance(folder: string, count: number): Promise<void> {
  await Deno.writeTextFile(`${folder}/a.chat`, callsDocument(sums(count), "placed"));
  await Deno.writeTextFile(`${folder}/config.yaml`, "tools: { auto_approve: [calculator] }\n");
  const cli = new URL("../../cli.ts", import.meta.url).pathname;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", cli, "advance", "a.chat", "--no-autopilot", "--config", "config.yaml"],
    cwd: folder,
    env: { XDG_STATE_HOME: `${folder}/state`, XDG_RUNTIME_DIR: `${folder}/run` },
    stderr: "piped",
  }).output();
  const text = await Deno.readTextFile(`${folder}/a.chat`);
  if (code !== 0 || !text.includes(`\n${count}\n\`\`\``) || text.includes("status=")) {
    throw new Error(`the calls did not all run: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  }
}

export default bench;
