// `flemma batch` killed at random instants: no reply is lost or written twice, and no request is paid twice.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "../cli/harness.ts";
import { type BatchServer, type Shape, withBatchServer } from "./servers.ts";

/** Kills for each API. */
const KILLS = Number(Deno.env.get("FLEMMA_TEST_KILLS") ?? 8);

const DOCUMENTS = 6;

/** Rounds of calls of each document. */
const ROUNDS = Number(Deno.env.get("FLEMMA_TEST_ROUNDS") ?? 3);

/** Fetches after which a batch that was created has appeared in the list. */
const APPEARS = 3;

/** Numbers from 0 to 1 that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes batches whose creation was cut off old enough that a provider which does not know them never will. */
function age(place: Scene): void {
  const folder = `${place.folder}/state/flemma/batches`;
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".jsonl")) continue;
    const text = Deno.readTextFileSync(`${folder}/${name}`);
    const old = new Date(Date.now() - 3_600_000).toISOString();
    Deno.writeTextFileSync(
      `${folder}/${name}`,
      text.replaceAll(/"kind":"posting","time":"[^"]*"/g, `"kind":"posting","time":"${old}"`),
    );
  }
}

async function killed(place: Scene, args: readonly string[], after: number, env: BatchServer["env"]) {
  const started = place.start(args, { env });
  const timer = setTimeout(() => {
    try {
      started.kill("SIGKILL");
    } catch (thrown) {
      // The process has ended already.
      if (!(thrown instanceof TypeError)) throw thrown;
    }
  }, after);
  await started.finished;
  clearTimeout(timer);
}

for (const shape of ["anthropic", "openai", "gemini", "vendor"] as readonly Shape[]) {
  test(`${shape}: after kills at random instants, every document has its reply once and nothing is paid twice`, (place) =>
    withBatchServer(shape, {
      answer: ({ question, results }) =>
        results < ROUNDS
          ? { tool: "calculator", input: { expression: `${results} + 1` } }
          : { text: `The answer to ${question}.` },
    }, async (server) => {
      const { env, paid } = server;
      place.settings(server.settings);
      const files = Array.from({ length: DOCUMENTS }, (_, at) => `q${at}.chat`);
      for (const [at, file] of files.entries()) place.write(file, `@You:\nQuestion ${at}?\n`);
      const begun = performance.now();
      await place.process(["batch", "status"], { env });
      // A start of the program takes a part of this time, however busy the machine is.
      const longest = (performance.now() - begun) * 8;
      const random = randomNumbers(shape.length * 7919);
      const isOpen = (file: string) => !/The answer to/.test(place.read(file));
      for (let kill = 0; kill < KILLS; kill++) {
        if (!files.some(isOpen)) break;
        const args = random() < 0.4
          ? ["batch", "send", "--yes", ...files]
          : ["batch", "fetch", "--rounds", "99"];
        await killed(place, args, random() * longest, env);
      }
      age(place);
      const undecided: string[] = [];
      for (let round = 0; round < 2 * ROUNDS + 4 + APPEARS && files.some(isOpen); round++) {
        await place.process(["batch", "send", "--yes", ...files], { env });
        const { stdout, stderr } = await place.process(["batch", "fetch", "--rounds", "99"], { env });
        // The list of a vendor proves nothing, so a person frees the documents of a batch that never appears there.
        for (const [, id = ""] of (stdout + stderr).matchAll(/flemma batch cancel (\w+)/g)) {
          undecided.push(id);
          if (undecided.filter((each) => each === id).length === APPEARS) {
            await place.process(["batch", "cancel", id], { env });
          }
        }
      }
      for (const [at, file] of files.entries()) {
        const text = place.read(file);
        assert.match(text, new RegExp(`^@You:\nQuestion ${at}\\?\n\n@Assistant:`), file);
        assert.equal(text.split("The answer to").length, 2, text);
        assert.equal(text.split("**Tool Use:**").length, ROUNDS + 1, text);
        assert.equal(text.split("**Tool Result:**").length, ROUNDS + 1, text);
        assert.doesNotMatch(text, /flemma:reply|aborted/, text);
      }
      const counts = Map.groupBy(paid, ({ question, results }) => `${question} ${results}`);
      const twice = [...counts].filter(([, asked]) => asked.length > 1).map(([name]) => name);
      assert.deepEqual(twice, []);
      assert.equal(paid.length, DOCUMENTS * (ROUNDS + 1));
      const kept = await place.process(["recover", "--list"], { env });
      assert.match(kept.stdout, /No texts are saved/);
    }));
}
