// Tests the limits: documents and replies of up to 100 MB, thousands of calls, 1 GB of output.

import { conversation } from "../conversation.ts";
import type { Bench, Figure } from "../harness.ts";
import { type Ceiling, growth } from "./figures.ts";
import { callsDocument, type ReplyKind, replyStream, type Stored, sums } from "./made.ts";
import { type Spent, spent } from "./run.ts";

const MB = 1024 * 1024;
/** Exit code for a call that waits for a person. */
const WAITS = 3;
/** Exit code after SIGINT. */
const INTERRUPTED = 130;
/** Maximum multiple of the processor time for four times as much work. */
const LINEAR = 6;

const bench: Bench = {
  name: "ceilings",
  about: "processor time and peak memory of one run each; the ratio compares with the smallest case",
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    await Deno.mkdir(`${folder}/home`);
    try {
      // An unmeasured run, because the runtime caches compiled code from it.
      await Deno.writeTextFile(`${folder}/a.chat`, "@You:\nGo.\n");
      await answered(folder, 1);
      return [
        ...await replies(folder),
        ...await documents(folder),
        ...await calls(folder),
        ...await waiting(folder),
        ...await writes(folder),
        ...await watched(folder),
        ...await output(folder),
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Runs a case in each size. */
async function each(
  what: string,
  sizes: readonly number[],
  unit: string,
  run: (size: number) => Promise<Spent>,
  ceiling?: Ceiling,
): Promise<Figure[]> {
  const all: { name: string; spent: Spent }[] = [];
  for (const size of sizes) all.push({ name: `${size} ${unit}`, spent: await run(size) });
  return growth(what, all, ceiling);
}

/** Limits for replies, by kind. */
const REPLIES: Readonly<Record<ReplyKind, Ceiling>> = {
  text: { time: 12, memory: 350 },
  thinking: { time: 12, memory: 400 },
  call: { time: 12, memory: 1000 },
};

/** Streamed replies: text, thinking, the input of a call. */
async function replies(folder: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, ceiling] of Object.entries(REPLIES) as [ReplyKind, Ceiling][]) {
    const what = kind === "text" ? "reply" : kind === "call" ? "input of a call" : kind;
    figures.push(
      ...await each(what, [10, 100], "MB", async (size) => {
        await Deno.writeTextFile(`${folder}/a.chat`, "@You:\nGo.\n");
        const result = await answered(folder, size * MB, kind);
        const { size: written } = await Deno.stat(`${folder}/a.chat`);
        if (written < size * MB) throw new Error(`the reply is not whole: ${written} bytes`);
        return result;
      }, ceiling),
    );
  }
  return figures;
}

/** Long conversations: shown, checked, and sent. */
async function documents(folder: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  const write = (size: number) => {
    const text = new TextDecoder().decode(conversation(size * MB));
    // Without the frontmatter, which names an unavailable model.
    return Deno.writeTextFile(`${folder}/a.chat`, text.slice(text.indexOf("@System:")));
  };
  const ways: readonly (readonly [string, () => Promise<Spent>, number?])[] = [
    ["status", () => spent(folder, ["status", "a.chat"])],
    ["check", () => spent(folder, ["check", "a.chat"], {}, [0, 1])],
    ["advance", () => answered(folder, 1), 1600],
  ];
  for (const [what, run, memory] of ways) {
    figures.push(
      ...await each(`${what} of a document`, [10, 50, 100], "MB", async (size) => {
        await write(size);
        return await run();
      }, { time: 13, ...(memory === undefined ? {} : { memory }) }),
    );
  }
  return figures;
}

/** Calls of one reply, run to completion. */
function calls(folder: string): Promise<Figure[]> {
  return each("calls", [1000, 10_000], "calls", async (count) => {
    await withCalls(folder, count, "placed");
    await Deno.writeTextFile(`${folder}/config.yaml`, "tools: { auto_approve: [calculator] }\n");
    const result = await spent(folder, ["advance", "a.chat", "--no-autopilot", "--config", "config.yaml"]);
    const text = await Deno.readTextFile(`${folder}/a.chat`);
    if (text.includes("status=")) throw new Error("the calls did not all run");
    return result;
  }, { time: 13 });
}

/** Calls that wait for a person. */
async function waiting(folder: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ["status", ["status", "a.chat"]],
    ["approve --all", ["approve", "a.chat", "--all"]],
    ["approval show", ["approval", "show", "a.chat"]],
  ];
  for (const [what, args] of ways) {
    figures.push(
      ...await each(`${what} of pending calls`, [100, 1000, 10_000], "calls", async (count) => {
        await withCalls(folder, count, "pending");
        return await spent(folder, args, {}, [0, WAITS]);
      }, { time: 60 }),
    );
  }
  return figures;
}

/** Calls that write a file each, of which every earlier content is kept for undo. */
function writes(folder: string): Promise<Figure[]> {
  return each("writes", [500, 2000], "calls", async (count) => {
    const document = `writes${count}.chat`;
    const calls = Array.from(
      { length: count },
      (_, at) => ({ name: "write", input: { path: `written/${count}/${at}.txt`, content: `${at}\n` } }),
    );
    await Deno.writeTextFile(`${folder}/${document}`, callsDocument(calls, "placed"));
    await Deno.writeTextFile(`${folder}/config.yaml`, "tools: { auto_approve: [write] }\n");
    const result = await spent(folder, ["advance", document, "--no-autopilot", "--config", "config.yaml"]);
    const written = [...Deno.readDirSync(`${folder}/written/${count}`)].length;
    if (written !== count) throw new Error(`${written} of ${count} files were written`);
    return result;
  }, { time: LINEAR });
}

/** Watched documents in one folder, all of them saved with a question at once. */
function watched(folder: string): Promise<Figure[]> {
  return each("watched documents", [50, 200], "documents", async (count) => {
    const place = `${folder}/watched${count}`;
    await Deno.mkdir(place);
    const files = Array.from({ length: count }, (_, at) => `${place}/${at}.chat`);
    for (const file of files) await Deno.writeTextFile(file, "@You:\n");
    const during = async (printed: (words: string) => Promise<void>) => {
      await printed("Watching");
      for (const file of files) await Deno.writeTextFile(file, "@You:\nGo.\n");
      for (const file of files) {
        while (!hasReply(file)) await new Promise((done) => setTimeout(done, 20));
      }
    };
    return await answering(
      1,
      "text",
      (env) => spent(folder, ["watch", ...files], env, [0, INTERRUPTED], undefined, during),
    );
  }, { time: LINEAR });
}

/** Whether a document has an answer, and place for the next question. */
function hasReply(path: string): boolean {
  return /^@Assistant:\n+\S.*\n\n@You:/ms.test(Deno.readTextFileSync(path));
}

/** A sandboxed command with much output; each in a separate document, so that approvals are new. */
function output(folder: string): Promise<Figure[]> {
  return each("output of a command", [10, 1024], "MB", async (size) => {
    const command = `head -c ${size * MB} /dev/zero | tr '\\0' 'x' | fold -w 99`;
    const document = `output${size}.chat`;
    await Deno.writeTextFile(
      `${folder}/${document}`,
      callsDocument([{ name: "bash", input: { command } }], "approved"),
    );
    return await spent(folder, ["advance", document, "--no-autopilot"]);
  }, { memory: 350 });
}

async function withCalls(folder: string, count: number, stored: Stored): Promise<void> {
  await Deno.writeTextFile(`${folder}/a.chat`, callsDocument(sums(count), stored));
}

/** Advances the document with a server on loopback that answers with `bytes` bytes. */
function answered(folder: string, bytes: number, kind: ReplyKind = "text"): Promise<Spent> {
  return answering(
    bytes,
    kind,
    (env) => spent(folder, ["advance", "a.chat", "--quiet", "--no-autopilot"], env),
  );
}

/** Runs the program beside a server on loopback that answers with `bytes` bytes. */
async function answering(
  bytes: number,
  kind: ReplyKind,
  run: (env: Readonly<Record<string, string>>) => Promise<Spent>,
): Promise<Spent> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    await request.body?.cancel();
    return new Response(replyStream(bytes, kind), { headers: { "content-type": "text/event-stream" } });
  });
  try {
    return await run({
      ANTHROPIC_API_KEY: "none",
      FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
    });
  } finally {
    await server.shutdown();
  }
}

export default bench;
