// The program is killed in the middle of a reply: its complete calls are in the document, and none runs without
// asking.

import assert from "node:assert/strict";
import { type Scene, type Started, testWithScene as test } from "./harness.ts";
import { callReply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "k" };
const QUESTION = "@You:\nPlease.\n";
const HALF = { ...callReply("c1", "echo ran >> log", "And then"), hang: true };

/** Starts a run whose reply stops coming behind a whole call; settles when that is on the disk. */
async function halfReply(
  place: Scene,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Started> {
  const started = place.start(args, { env });
  while (!place.read("a.chat").includes("And then")) await new Promise((done) => setTimeout(done, 5));
  return started;
}

test("if kill -9 ends a reply after a complete call, the call waits for the person, who learns why", (place) =>
  withServer([HALF, textReply("Done.")], async ({ env: server, requests }) => {
    const env = { ...KEY, ...server };
    place.settings("tools: { auto_approve: [bash] }\n");
    place.write("a.chat", QUESTION);
    const killed = await halfReply(place, ["advance", "a.chat"], env);
    const living = await place.run(["status", "a.chat"], { env });
    assert.match(living.stdout, /in use by process/);
    assert.doesNotMatch(living.stdout, /ended|unfinished/);
    killed.kill("SIGKILL");
    await killed.finished;
    const status = await place.run(["status", "a.chat"], { env });
    assert.match(
      status.stdout,
      /The program ended before the reply with c1 was complete, so it waits for you\. To be asked: flemma advance .*a\.chat$/m,
    );
    for (let again = 0; again < 2; again++) {
      const next = await place.run(["advance", "a.chat"], { env });
      assert.deepEqual([next.code, place.exists("log"), requests.length], [3, false, 1], next.stderr);
      if (again === 0) {
        assert.match(
          next.stderr,
          /bash \(c1\) waits for you: the program ended before the reply was complete\./,
        );
      }
    }
    assert.match(place.read("a.chat"), /\*\*Tool Result:\*\* `c1`\n\n```flemma:tool status=pending\n```\n/);
    // Taken out of the document, the block comes back as it was: the word is the person's.
    place.write("a.chat", place.read("a.chat").replace(/\n@You:\n\n\*\*Tool Result[^]*$/, ""));
    await place.exits(3, ["advance", "a.chat"], { env });
    await place.exits(0, ["approve", "a.chat", "c1"], { env });
    const ran = await place.run(["advance", "a.chat"], { env });
    assert.deepEqual([ran.code, place.read("log"), requests.length], [0, "ran\n", 2], ran.stderr);
  }));

test("if a reply was completed or stopped, the person is not asked about its calls because of an incomplete reply", async (place) => {
  place.settings("tools: { auto_approve: [bash] }\n");
  place.write("a.chat", QUESTION);
  await withServer(
    [callReply("c1", "echo ran >> log", "And then"), textReply("Done.")],
    async ({ env }) => {
      const whole = await place.run(["advance", "a.chat"], { env: { ...KEY, ...env } });
      assert.deepEqual([whole.code, place.read("log")], [0, "ran\n"], whole.stderr);
      assert.doesNotMatch(whole.stderr, /waits for you/);
    },
  );
  place.write("a.chat", QUESTION);
  await withServer([HALF, textReply("Done.")], async ({ env: server, requests }) => {
    const env = { ...KEY, ...server };
    const stopped = await halfReply(place, ["advance", "a.chat"], env);
    stopped.kill("SIGINT");
    assert.equal((await stopped.finished).code, 130);
    const next = await place.run(["advance", "a.chat"], { env });
    assert.deepEqual([next.code, place.read("log"), requests.length], [0, "ran\n", 2], next.stderr);
  });
});

test("the document saved by a killed filter says that the reply was cut, so none of its calls run", (place) =>
  withServer([HALF, textReply("Done.")], async ({ env: server }) => {
    const env = { ...KEY, ...server };
    place.settings("tools: { auto_approve: [bash] }\n");
    const recovered = () => place.run(["recover"], {});
    const killed = place.start(["advance"], { stdin: QUESTION, env });
    const kept = `${place.folder}/state/flemma/recover`;
    const text = () => {
      try {
        return [...Deno.readDirSync(kept)].map(({ name }) => Deno.readTextFileSync(`${kept}/${name}`)).join(
          "",
        );
      } catch {
        // Not there yet.
        return "";
      }
    };
    while (!text().includes("And then")) await new Promise((done) => setTimeout(done, 5));
    killed.kill("SIGKILL");
    await killed.finished;
    const { stdout } = await recovered();
    assert.match(
      stdout,
      /And then\n\n<!-- flemma:aborted: The program ended before the reply was complete\. -->\n$/,
    );
    const next = await place.run(["advance"], { stdin: stdout, env });
    assert.deepEqual([next.code, place.exists("log")], [0, false], next.stderr);
    assert.match(
      next.stdout,
      /`c1` \(error\)\n\n```\nThe program ended before the reply was complete\.\n```\n/,
    );
  }));
