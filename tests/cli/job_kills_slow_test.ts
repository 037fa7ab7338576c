// A run with background jobs is killed at any moment: the next run writes the result of every job that the document names
// exactly once, and no process is left.

import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { documentJobs } from "../../parser/view/jobs.ts";
import { type Scene, testWithScene as test } from "./harness.ts";
import { frames } from "../cycle/sending.ts";
import { watching } from "./watching.ts";

/** Number of kills; `FLEMMA_JOB_KILLS` asks for more. */
const KILLS = Number(Deno.env.get("FLEMMA_JOB_KILLS") ?? 8);

/** Seconds that a job sleeps which only a stop ends; no other process has this number. */
const MARK = 100_000 + Deno.pid;

const COMMANDS: readonly [command: string, background: boolean][] = [
  [`setsid sleep ${MARK} & echo up; sleep ${MARK}`, true],
  ["echo fast", true],
  ["sleep 0.3; echo work", false],
];

/** A model that makes the calls one after the other, and then ends. It counts the calls that a request has. */
function answer(body: string): Response {
  const done = COMMANDS.filter((_, at) => body.includes(`"id":"call_${at}"`)).length;
  const [command = "", background = false] = COMMANDS[done] ?? [];
  const events: object[] = command === ""
    ? [{ type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } }]
    : [
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: `call_${done}`, name: "bash", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: {
          type: "input_json_delta",
          partial_json: JSON.stringify({ command, timeout: null, "flemma.background": background }),
        },
      },
    ];
  const text = frames(
    { type: "message_start", message: { usage: { input_tokens: 1 } } },
    ...events,
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: command === "" ? "end_turn" : "tool_use" },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  );
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

type Kill = (place: Scene, name: string, env: Readonly<Record<string, string>>, at: number) => Promise<void>;

const KILLERS: Readonly<Record<string, Kill>> = {
  advance: async (place, name, env, at) => {
    place.write(name, "@You:\nGo.\n");
    const run = place.start(["advance", name], { env });
    await new Promise((done) => setTimeout(done, at));
    try {
      run.kill("SIGKILL");
    } catch (thrown) {
      // The run was faster than usual, and had ended.
      assert.ok(thrown instanceof TypeError);
    }
    await run.finished;
  },
  watch: async (place, name, env, at) => {
    place.write(name, "@You:\n");
    await watching(place, env, [name], async (watch) => {
      place.write(name, "@You:\nGo.\n");
      // Later than the run usually ends: then the first job runs on.
      await new Promise((done) => setTimeout(done, at * 1.5));
      watch.kill("SIGKILL");
      await watch.ends();
    });
  },
};

for (const [program, kill] of Object.entries(KILLERS)) {
  test(`after kill -9 of ${program} at any moment, every job has its result once, and no process is left`, (place) =>
    killed(place, kill));
}

async function killed(place: Scene, killAt: Kill): Promise<void> {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => answer(await request.text()),
  );
  const env = { ANTHROPIC_API_KEY: "k", FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
  place.settings("tools: { auto_approve: [bash] }\n");
  place.write("whole.chat", "@You:\nGo.\n");
  const began = performance.now();
  const whole = await place.start(["advance", "whole.chat"], { env }).finished;
  assert.equal(whole.code, 0, whole.stderr);
  const usual = performance.now() - began;
  const outcomes = new Map<string, number>();
  for (let kill = 0; kill < KILLS; kill++) {
    const name = `killed-${kill}.chat`;
    const at = usual * (0.1 + 0.9 * (kill + 0.5) / KILLS);
    await killAt(place, name, env, at);
    for (let again = 0; again < 2; again++) {
      const next = await place.start(["advance", name], { env }).finished;
      // A call that was running when the program was killed waits for the person.
      assert.ok([0, 3].includes(next.code), `${name} ${at}: ${next.code} ${next.stderr}`);
      const text = place.read(name);
      const jobs = documentJobs(parse(new TextEncoder().encode(text)));
      for (const { id, finished } of jobs) {
        assert.ok(finished, `${name} ${at}: ${id} has no result\n${text}`);
        const blocks = text.split(`**Job Result:** \`${id}\``).length - 1;
        assert.equal(blocks, 1, `${name} ${at}: ${id} has ${blocks} results\n${text}`);
      }
      const lost = text.split("Job lost:").length - 1;
      if (again === 0) {
        const outcome = `${jobs.length} jobs, ${lost} lost, exit ${next.code}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      assert.deepEqual(sleepers(), [], `${name} ${at}`);
    }
  }
  if (KILLS > 20) Deno.stderr.writeSync(new TextEncoder().encode(`${JSON.stringify([...outcomes])}\n`));
  await server.shutdown();
}

/** The living processes of jobs. */
function sleepers(): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0");
      return words[0]?.endsWith("sleep") && words[1] === String(MARK) ? [name] : [];
    } catch {
      return []; // The process has ended.
    }
  });
}
