// Runs that were stopped, or whose files were removed while they ran.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };

test("after Ctrl-C the result keeps the command's output, followed by the sentence that the command was stopped", async (place) => {
  place.write(
    "a.chat",
    callsDocument([{ id: "c1", command: "echo half; touch begun; sleep 300", status: "approved" }]),
  );
  const started = place.start(["advance", "a.chat"], { env: KEY });
  await place.appears("begun", started);
  started.kill("SIGINT");
  const { code, stderr } = await started.finished;
  assert.equal(code, 130, stderr);
  assert.match(
    place.read("a.chat"),
    /\(error\)\n\n```\nhalf\n\nThe user stopped this tool before it finished\.\n```/,
  );
  assert.match(stderr, /^Interrupted\. Continue with: flemma advance a\.chat$/m);
});

test("if another program removes the locks or the state folder of a run, the run ends normally with at most one notice", async (place) => {
  for (const gone of ["state/flemma/locks", "state"]) {
    await withServer(
      [{ ...textReply("I am well."), hang: true }, textReply("Well.")],
      async ({ env, received }) => {
        place.write("a.chat", "@You:\nHow are you?\n");
        const first = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
        await received(1);
        Deno.removeSync(`${place.folder}/${gone}`, { recursive: true });
        // Another run may have the document now, with a lock of its own, which is not taken away.
        await place.exits(0, ["status", "a.chat"]);
        first.kill("SIGINT");
        const { code, stderr } = await first.finished;
        assert.equal(code, 130, stderr);
        assert.doesNotMatch(stderr, /Internal error|\n {4}at /);
        // Who is asked, how the reply ended, what it used, and what to do.
        assert.ok(stderr.split("\n").length <= 5, stderr);
      },
    );
  }
});

test("when a run ends, it does not release a lock that a later run now holds", async (place) => {
  await withServer([{ ...textReply("I am well."), hang: true }], async ({ env, received }) => {
    place.write("a.chat", "@You:\nHow are you?\n");
    const first = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
    await received(1);
    const locks = `${place.folder}/state/flemma/locks`;
    const [lock] = [...Deno.readDirSync(locks)].map(({ name }) => `${locks}/${name}`);
    Deno.removeSync(lock!);
    Deno.writeTextFileSync(lock!, "somebody else's");
    first.kill("SIGINT");
    await first.finished;
    assert.equal(Deno.readTextFileSync(lock!), "somebody else's");
  });
});
