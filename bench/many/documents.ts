// Many documents: all of them in one process compared with one process each.

import { bundleProgram } from "../../scripts/build/bundle.ts";
import type { Bench, Figure } from "../harness.ts";

const DOCUMENTS = 100;
const JOBS = 8;
const GOAL = 0.35;

const ONE_EACH = `${DOCUMENTS} runs of one document`;

const bench: Bench = {
  name: "many",
  about: `${DOCUMENTS} documents with one question each, and a local server that answers immediately`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ prefix: "flemma-bench-" });
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
      await request.body?.cancel();
      return new Response(STREAM, { headers: { "content-type": "text/event-stream" } });
    });
    const env = {
      HOME: folder,
      NO_COLOR: "1",
      ANTHROPIC_API_KEY: "none",
      FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
    };
    try {
      await bundleProgram(`${folder}/flemma.js`);
      const files = Array.from({ length: DOCUMENTS }, (_, at) => `q${at}.chat`);
      const afresh = () => {
        for (const file of files) Deno.writeTextFileSync(`${folder}/${file}`, `@You:\nQuestion ${file}?\n`);
      };
      const advance = (...args: string[]) => run(folder, env, ["advance", ...args]);
      const cases: Record<string, () => Promise<void>> = {
        [ONE_EACH]: async () => {
          for (const file of files) await advance(file);
        },
        [`--jobs ${JOBS}`]: () => advance("--jobs", String(JOBS), ...files),
        "--jobs 1": () => advance("--jobs", "1", ...files),
      };
      // An unmeasured run, because the runtime caches compiled code from it.
      afresh();
      await advance(files[0]!);
      const times: Record<string, number> = {};
      for (const [name, run] of Object.entries(cases)) {
        afresh();
        const begun = performance.now();
        await run();
        times[name] = performance.now() - begun;
      }
      return Object.entries(times).map(([name, value]) => ({
        case: name,
        value,
        unit: "ms",
        ...(name === ONE_EACH ? {} : { against: ONE_EACH }),
        ...(name === `--jobs ${JOBS}` ? { goal: GOAL } : {}),
      }));
    } finally {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    }
  },
};

export default bench;

const STREAM = [
  { type: "message_start", message: { usage: { input_tokens: 10 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "An answer." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

async function run(folder: string, env: Record<string, string>, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${folder}/flemma.js`, ...args],
    cwd: folder,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`failed: ${args.join(" ")}\n${new TextDecoder().decode(stderr)}`);
}
