// Kills of `flemma batch` at random moments: no reply is lost or written twice, and nothing is paid twice.

import assert from "node:assert/strict";
import { type Shape, withBatchServer } from "../batch/servers.ts";
import { type Scene, withScene } from "../cli/harness.ts";
import { type Chance, isKilled, pause } from "./random.ts";

const FILES = ["q0.chat", "q1.chat"];

/** Kills one command of a batch with calls. Returns true if it had not ended by then. */
export async function oneBatchKill(random: Chance): Promise<boolean> {
  const shape = random.pick<Shape>(["anthropic", "openai", "gemini", "vendor"]);
  const whichIsKilled = random.below(4);
  const share = random.below(1000) / 1000;
  const answer = ({ question, results }: { readonly question: string; readonly results: number }) =>
    results < 1
      ? { tool: "calculator", input: { expression: "1 + 1" } } as const
      : { text: `The answer to ${question}.` } as const;
  let isEarly = false;
  await withScene((place) =>
    withBatchServer(shape, { answer }, async ({ env, paid, settings }) => {
      place.settings(settings);
      for (const [at, file] of FILES.entries()) place.write(file, `@You:\nQuestion ${at}?\n`);
      const isOpen = (file: string) => !/The answer to/.test(place.read(file));
      let longest = 0;
      for (let command = 0; command < 10 && FILES.some(isOpen); command++) {
        const args = command % 2 === 0 ? ["send", "--yes", ...FILES] : ["fetch", "--rounds", "9"];
        const begun = performance.now();
        const run = place.start(["batch", ...args], { env });
        if (command === whichIsKilled) {
          // The first command has no measure yet; a start of the program takes about this time.
          await pause(share * (longest === 0 ? 1500 : longest));
          isEarly = isKilled(run);
        }
        await run.finished;
        if (command !== whichIsKilled) longest = Math.max(longest, performance.now() - begun);
        else age(place);
      }
      for (const [at, file] of FILES.entries()) {
        const text = place.read(file);
        assert.match(text, new RegExp(`^@You:\nQuestion ${at}\\?\n\n@Assistant:`), `${shape}, ${file}`);
        assert.equal(text.split("The answer to").length, 2, `${shape}: ${text}`);
        assert.equal(text.split("**Tool Result:**").length, 2, `${shape}: ${text}`);
        assert.doesNotMatch(text, /flemma:reply|aborted/, `${shape}: ${text}`);
      }
      const counts = Map.groupBy(paid, ({ question, results }) => `${question} ${results}`);
      assert.deepEqual([...counts].filter(([, asked]) => asked.length > 1).map(([name]) => name), [], shape);
      const kept = await place.process(["recover", "--list"], { env });
      assert.match(kept.stdout, /No texts are saved/);
    })
  );
  return isEarly;
}

/** Makes batches whose creation was cut off old enough that a provider which does not know them never will. */
function age(place: Scene): void {
  const folder = `${place.folder}/state/flemma/batches`;
  const names = place.exists("../state/flemma/batches")
    ? [...Deno.readDirSync(folder)].map(({ name }) => name)
    : [];
  for (const name of names.filter((each) => each.endsWith(".jsonl"))) {
    const text = Deno.readTextFileSync(`${folder}/${name}`);
    const old = new Date(Date.now() - 3_600_000).toISOString();
    Deno.writeTextFileSync(
      `${folder}/${name}`,
      text.replaceAll(/"kind":"posting","time":"[^"]*"/g, `"kind":"posting","time":"${old}"`),
    );
  }
}
