// Documents in batches: time, memory, tokens and money compared with live runs of the same documents.

import { bundleProgram } from "../../scripts/build/bundle.ts";
import { spent } from "../ceilings/run.ts";
import type { Bench, Figure } from "../harness.ts";
import { REQUESTS_WITH_CALLS, startAnswering, WITH_CALLS } from "./answering.ts";

const DOCUMENTS = 300;
const FEW = 30;
const JOBS = 8;
/** Words of each document, about 3,000 tokens of its own. */
const WORDS = 1200;

const ONE_EACH = `${DOCUMENTS} runs of one document`;
const FEW_BATCHED = `${FEW} documents in a batch`;
const BATCHED = `${DOCUMENTS} documents in a batch`;

/** Documents, and how they are run. */
interface Way {
  readonly count: number;
  /** True if the model calls a tool twice. */
  readonly calls: boolean;
  readonly retention?: "short" | "none";
  readonly commands: (files: readonly string[]) => readonly (readonly string[])[];
}

/** What a way of running documents took. */
interface Taken {
  /** Processor time, so that other work of the machine does not count. */
  readonly milliseconds: number;
  /** Peak memory of the largest process, in MB. */
  readonly memory: number;
  /** Tokens that were sent, cached or not. */
  readonly input: number;
  readonly dollars: number;
}

const oneEach = (files: readonly string[]) => files.map((file) => ["advance", file]);
const live = (files: readonly string[]) => [["advance", "--jobs", `${JOBS}`, ...files]];
const batched = (files: readonly string[]) => [["batch", "send", "--yes", ...files], ["batch", "fetch"]];
const rounds = (files: readonly string[]) => [...batched(files), ["batch", "fetch"], ["batch", "fetch"]];

const bench: Bench = {
  name: "batch",
  about:
    `processor time, memory and price of documents of ${WORDS} words, live and in batches of a local server. It counts a cache for live runs, as Anthropic ` +
    `documents it, and none for batches, whose rounds are too far apart`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ prefix: "flemma-bench-" });
    const program = `${folder}/flemma.js`;
    try {
      await bundleProgram(program);
      const take = (way: Way) => taken(folder, program, way);
      // An unmeasured run, because the runtime caches compiled code from it.
      await take({ count: 1, calls: true, commands: rounds });
      const one = await take({ count: DOCUMENTS, calls: false, commands: oneEach });
      const question = await take({ count: DOCUMENTS, calls: false, commands: batched });
      const few = await take({ count: FEW, calls: false, commands: batched });
      const called = await take({ count: DOCUMENTS, calls: true, commands: live });
      const loop = await take({ count: DOCUMENTS, calls: true, commands: rounds });
      const bare = await take({ count: DOCUMENTS, calls: true, retention: "none", commands: rounds });
      const plain = await take({ count: DOCUMENTS, calls: false, retention: "none", commands: batched });
      const [time, memory, tokens, money] = [
        { unit: "ms" },
        { unit: "MB", goal: 400 },
        { unit: "tokens" },
        { unit: "dollars" },
      ];
      const question$ = "price of one question each, live";
      const loop$ = "price with two calls, live";
      return [
        { case: ONE_EACH, value: one.milliseconds, ...time },
        { case: BATCHED, value: question.milliseconds, ...time, against: ONE_EACH, goal: 0.35 },
        { case: FEW_BATCHED, value: few.milliseconds, ...time },
        { case: `${BATCHED}, growth`, value: question.milliseconds, ...time, against: FEW_BATCHED, goal: 12 },
        { case: `with two calls, --jobs ${JOBS}`, value: called.milliseconds, ...time },
        {
          case: "with two calls, three batches",
          value: loop.milliseconds,
          ...time,
          against: `with two calls, --jobs ${JOBS}`,
        },
        { case: `with two calls, --jobs ${JOBS}: peak memory`, value: called.memory, ...memory },
        { case: "with two calls, three batches: peak memory", value: loop.memory, ...memory },
        { case: "input with two calls, live", value: called.input, ...tokens },
        {
          case: "input with two calls, batches",
          value: loop.input,
          ...tokens,
          against: "input with two calls, live",
          goal: 1.01,
        },
        { case: question$, value: one.dollars, ...money },
        { case: "… in a batch", value: question.dollars, ...money, against: question$ },
        {
          case: "… in a batch, cache_retention: none",
          value: plain.dollars,
          ...money,
          against: question$,
          goal: 0.65,
        },
        { case: loop$, value: called.dollars, ...money },
        { case: "… in three batches", value: loop.dollars, ...money, against: loop$ },
        { case: "… in three batches, cache_retention: none", value: bare.dollars, ...money, against: loop$ },
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Runs commands on new documents, with a server and a state folder of their own. */
async function taken(
  folder: string,
  program: string,
  { count, calls, retention = "short", commands }: Way,
): Promise<Taken> {
  await using server = startAnswering();
  const env = { ANTHROPIC_API_KEY: "none", FLEMMA_ANTHROPIC_BASE_URL: server.url };
  const place = await Deno.makeTempDir({ dir: folder });
  const files = Array.from({ length: count }, (_, at) => `q${at}.chat`);
  for (const file of files) {
    const words = `${file} `.repeat(WORDS);
    await Deno.writeTextFile(`${place}/${file}`, `@You:\n${words}\n${calls ? WITH_CALLS : "Why?"}\n`);
  }
  await Deno.writeTextFile(
    `${place}/config.yaml`,
    `tools: { auto_approve: [calculator] }\nparameters: { cache_retention: ${retention} }\n`,
  );
  let milliseconds = 0;
  let memory = 0;
  for (const command of commands(files)) {
    const run = await spent(place, [...command, "--config", "config.yaml"], env, [0, 3], program);
    milliseconds += run.milliseconds;
    memory = Math.max(memory, run.memory);
  }
  const isOpen = (file: string) => !Deno.readTextFileSync(`${place}/${file}`).includes("An answer.");
  const requests = count * (calls ? REQUESTS_WITH_CALLS : 1);
  if (server.count !== requests || files.some(isOpen)) {
    throw new Error(
      `${server.count} of ${requests} requests, not answered: ${files.filter(isOpen).join(" ")}`,
    );
  }
  const { stdout } = await spent(place, ["usage", "--json"], env, [0], program);
  const { input, cache_read, cache_write, cost } = JSON.parse(stdout).usage;
  return { milliseconds, memory, input: input + cache_read + cache_write, dollars: cost };
}

export default bench;
