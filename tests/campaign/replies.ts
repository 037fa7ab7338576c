// Saves in the ways of editors while replies stream into the file that the editor has open.

import assert from "node:assert/strict";
import { withScene } from "../cli/harness.ts";
import { type Chance, chance, HABITS, pause } from "./random.ts";

const SAVES_A_REPLY = 8;
const PIECES = 24;

/** Makes so many saves; answers what it did, and throws at the first thing that was lost or cut. */
export async function replies(count: number, seed: number): Promise<string> {
  const random = chance(seed);
  let made = 0;
  let runs = 0;
  for (; made < count; runs++) made += await oneReply(random, Math.min(SAVES_A_REPLY, count - made), runs);
  return `${made} saves while ${runs} replies streamed: no line lost, no reply cut`;
}

/** A person with the document open: what they have on their screen, and what they do with it. */
class Person {
  #buffer: string;
  readonly tokens: string[] = [];

  constructor(text: string) {
    this.#buffer = text;
  }

  /** Takes over what is in the file, as an editor does that was told; theirs is in there. */
  reload(text: string): void {
    this.#buffer = text;
  }

  type(token: string, where: "above" | "below"): void {
    this.tokens.push(token);
    this.#buffer = where === "above"
      ? this.#buffer.replace("Question one.\n", `Question one.\n${token}\n`)
      : `${this.#buffer.trimEnd()}\n\n@You:\n${token}\n`;
  }

  /** The text as it is saved: some editors take blanks at line ends away, or do not end the last line. */
  saved(random: Chance): string {
    const text = random.below(2) === 0 ? this.#buffer : this.#buffer.replace(/[ \t]+$/gm, "");
    return random.below(3) === 0 ? text.trimEnd() : text;
  }
}

async function oneReply(random: Chance, saves: number, run: number): Promise<number> {
  await withScene(async (place) => {
    const before = "@System:\nBe brief.  \n\n@You:\nQuestion one.\n\nQuestion two.\n";
    place.write("a.chat", before);
    const path = place.path("a.chat");
    const server = slowServer(random);
    const env = { ANTHROPIC_API_KEY: "k", FLEMMA_ANTHROPIC_BASE_URL: server.url };
    const started = place.start(["advance", "a.chat", "--no-autopilot"], { env });
    await server.begun;
    const person = new Person(before);
    for (let save = 0; save < saves; save++) {
      await pause(random.below(120));
      if (random.below(2) === 0) person.reload(await readWhole(path));
      const token = `Token ${run}.${save}.`;
      const how = random.below(8);
      if (how === 0) {
        person.tokens.push(token);
        await Deno.writeTextFile(path, `\n${token}\n`, { append: true });
        // Whoever appends beside an open editor has the file read anew, once what they appended stands there.
        let text = await readWhole(path);
        while (!text.includes(token)) {
          await pause(5);
          text = await readWhole(path);
        }
        person.reload(text);
        continue;
      }
      // A question is typed below once; more of them would stand in each other's way.
      const below = save === saves - 1 && random.below(2) === 0;
      person.type(token, below ? "below" : "above");
      await random.pick(Object.values(HABITS))(path, person.saved(random));
    }
    server.finish();
    const { code, stderr } = await started.finished;
    await server.close();
    const after = place.read("a.chat");
    assert.equal(code, 0, `${stderr}\n${after}`);
    for (const token of person.tokens) {
      assert.ok(after.includes(token), `${token} is lost:\n${after}\n${stderr}`);
    }
    const lines = server.reply().split("\n").filter((line) => line !== "");
    let at = 0;
    for (const line of lines) {
      const found = after.indexOf(line, at);
      assert.ok(found >= 0, `the reply lacks ${line}:\n${after}`);
      assert.equal(after.split(line).length, 2, `${line} stands twice:\n${after}`);
      at = found;
    }
    assert.deepEqual([...Deno.readDirSync(place.path(""))].map(({ name }) => name), ["a.chat"]);
  });
  return saves;
}

/** The file once it is there and not just emptied, as a person sees it. */
async function readWhole(path: string): Promise<string> {
  for (;;) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text !== "") return text;
    await pause(2);
  }
}

/** A server whose reply comes in pieces, some of them in the middle of a line, until it is told to finish. */
function slowServer(random: Chance) {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const pieces = Array.from(
    { length: PIECES },
    (_, at) => `word${100 + at}${random.pick([" ", "\n", ".\n\n", ", "])}`,
  );
  const event = (value: Record<string, unknown>) =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    const stream = new ReadableStream<string>({
      async start(controller) {
        const message = { id: "m", type: "message", role: "assistant", content: [], usage };
        controller.enqueue(event({ type: "message_start", message }));
        const content_block = { type: "text", text: "" };
        controller.enqueue(event({ type: "content_block_start", index: 0, content_block }));
        begun.resolve();
        for (const text of pieces) {
          const delta = { type: "text_delta", text };
          controller.enqueue(event({ type: "content_block_delta", index: 0, delta }));
          await pause(30);
        }
        await finish.promise;
        controller.enqueue(event({ type: "content_block_stop", index: 0 }));
        controller.enqueue(event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }));
        controller.enqueue(event({ type: "message_stop" }));
        controller.close();
      },
    });
    const body = stream.pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    begun: begun.promise,
    finish: finish.resolve,
    reply: () => pieces.join("").trimEnd(),
    close: () => server.shutdown(),
  };
}
