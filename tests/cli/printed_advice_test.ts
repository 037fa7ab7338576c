// Follows the printed advice literally after every way a run can end: it must lead to a request that a server as
// strict as the real one accepts.

import assert from "node:assert/strict";
import { mayMount } from "../folder.ts";
import { type Replay, type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { callsDocument, type Finished, type Scene, testWithScene as test, withScene } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const QUESTION = "@You:\nTell me.\n";
const ANSWERED = "@You:\nTell me.\n\n@Assistant:\nSo be it.\n";
const KEY = { ANTHROPIC_API_KEY: "test-key" };

async function withReplay(
  replies: readonly ScriptedReply[],
  use: (replay: Replay, env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const replay = await startReplay({ replies });
  try {
    await use(replay, { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: replay.url });
  } finally {
    await replay.close();
  }
}

/** The last command of this program that a message advises, as the person would type it. */
function advised(words: string): string {
  const found = [...words.matchAll(/flemma advance[^\n]*?(?=$|[,.]? or |\.?$)/gm)].at(-1)?.[0];
  assert.ok(found, `no advice is printed: ${words}`);
  return found;
}

/** Follows the advice, and sees that the strict server answered. */
async function follow(place: Scene, words: string): Promise<Finished> {
  let finished: Finished | undefined;
  await withReplay([{ reply: [{ text: "And on." }] }], async (replay, env) => {
    finished = await place.shell(advised(words), { env });
    assert.deepEqual(replay.problems, [], words);
    assert.equal(replay.remaining, 0, `${words}\n${finished.stderr}`);
    assert.equal(finished.code, 0, finished.stderr);
  });
  assert.match(place.read("a.chat"), /@Assistant:\nAnd on\.\n\n@You:\n\n$/);
  return finished!;
}

const BEGUN = "Once upon a time there was ```a fence";
/** So many bytes of the stream that the text has begun and is not over. */
const CUT = 900;

test("after a stream that was cut, the printed advice works", (place) =>
  withReplay([{ reply: [{ text: BEGUN.repeat(20) }], fault: { cut: CUT } }], async (_, env) => {
    place.write("a.chat", QUESTION);
    const cut = await place.exits(1, ["advance", "a.chat"], { env });
    assert.match(place.read("a.chat"), /Once upon.*\n\n<!-- flemma:aborted: /);
    assert.match(
      cut.stderr,
      /The last message is the model's: write below a line @You:, or flemma advance a\.chat --continue\n$/,
    );
    await follow(place, cut.stderr);
  }));

test("after an error in the middle of a stream, the printed advice works", (place) => {
  const error = { type: "overloaded_error", message: "Overloaded" };
  return withReplay([{ reply: [{ text: "```js\nlet a" }], fault: { error } }], async (_, env) => {
    place.write("a.chat", QUESTION);
    const failed = await place.exits(1, ["advance", "a.chat"], { env });
    await follow(place, failed.stderr);
    assert.match(place.read("a.chat"), /-->\n\n@You:\nContinue\.\n/);
  });
});

test("after a request without any reply, the printed advice works", (place) =>
  withReplay([{ fault: { status: 503, body: "busy" } }], async (_, env) => {
    place.write("a.chat", QUESTION);
    const failed = await place.run(["advance", "a.chat", "--no-retry"], { env });
    assert.equal(place.read("a.chat"), QUESTION);
    await follow(place, failed.stderr);
  }));

test("after Ctrl-C and after kill -9 in the middle of a stream, the advice printed then or by the next run works", async (place) => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    await withServer([{ ...textReply("Once upon a time."), hang: true }], async ({ env, received }) => {
      place.write("a.chat", QUESTION);
      const started = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
      await received(1);
      while (!place.read("a.chat").includes("Once")) await new Promise((done) => setTimeout(done, 5));
      started.kill(signal);
      const ended = await started.finished;
      if (signal === "SIGINT") {
        assert.equal(ended.code, 130);
        assert.match(
          ended.stderr,
          /^Interrupted\. The last message is the model's: .* flemma advance a\.chat --continue$/m,
        );
        return await follow(place, ended.stderr).then(() => {});
      }
      const next = await place.exits(3, ["advance", "a.chat"], { env: { ...KEY, ...env } });
      assert.match(
        next.stderr,
        /the last message is the model's: write below a line @You:, or flemma advance a\.chat --continue\n$/,
      );
      const status = await place.run(["status", "a.chat"]);
      assert.match(
        status.stdout,
        /^next: the last message is the model's: .* flemma advance a\.chat --continue$/m,
      );
      await follow(place, next.stderr);
    });
  }
});

Deno.test({
  name: "after a full disk, the printed advice works once there is space",
  ignore: !await mayMount(),
  fn: () =>
    withScene((place) =>
      withReplay(
        [{ reply: [{ text: "word ".repeat(40_000) }] }, { reply: [{ text: "And on." }] }],
        async (replay, env) => {
          place.write("a.chat", QUESTION);
          await Deno.mkdir(place.path("small"));
          const script = `set -e
          mount -t tmpfs -o size=64k none small
          cp a.chat small/a.chat; cd small
          "$@" advance a.chat 2> ../err || echo "code $?" >> ../err
          mount -o remount,size=10m .
          sed -n 's/.*\\(flemma advance a.chat --continue\\).*/\\1/p' ../err | tail -1 > ../advice
          [ "$(cat ../advice)" = "flemma advance a.chat --continue" ]
          "$@" advance a.chat --continue 2>> ../err
          cp a.chat ../b.chat`;
          const finished = await place.spawn(
            ["unshare", "-Urm", "sh", "-c", script, "sh", ...place.program],
            { env },
          )
            .finished;
          const words = place.exists("err") ? place.read("err") : "";
          assert.equal(finished.code, 0, finished.stderr + words);
          assert.match(words, /No space left on device/);
          assert.deepEqual([replay.problems, replay.remaining], [[], 0], words);
          assert.match(place.read("b.chat"), /\n\n@You:\nContinue\.\n\n@Assistant:\nAnd on\.\n\n@You:\n\n$/);
        },
      )
    ),
});

test("if the document ends with the model's turn, advance and send make no request, and --continue continues", async (place) => {
  for (const command of ["advance", "send"]) {
    await withReplay([{ reply: [{ text: "And on." }] }], async (replay, env) => {
      place.write("a.chat", ANSWERED);
      const stopped = await place.run([command, "a.chat"], { env });
      assert.deepEqual([stopped.code, replay.requests.length], [3, 0], stopped.stderr);
      assert.match(
        stopped.stderr,
        /the last message is the model's: write below a line @You:, or flemma advance a\.chat --continue/,
      );
      assert.equal(place.read("a.chat"), ANSWERED);
      await place.exits(0, [command, "a.chat", "--continue"], { env });
      assert.deepEqual(replay.problems, []);
      assert.equal(
        place.read("a.chat"),
        `${ANSWERED}\n@You:\nContinue.\n\n@Assistant:\nAnd on.\n\n@You:\n\n`,
      );
    });
  }
});

test("if a document ends with the model's turn, a dry run shows no request that would be refused, and exits like a real run", async (place) => {
  place.write("a.chat", ANSWERED);
  const { code, stdout, stderr } = await place.run(["send", "--dry-run", "a.chat"], { env: KEY });
  assert.deepEqual([code, stdout], [3, ""]);
  assert.match(stderr, /The last message is the model's/);
});

test("a filter sends nothing if its document ends with the model's turn, and check only reports it", async (place) => {
  const filtered = await place.run(["advance", "--exit-code"], { stdin: ANSWERED, env: KEY });
  assert.deepEqual([filtered.code, filtered.stdout], [3, ANSWERED]);
  assert.match(filtered.stderr, /or flemma advance --continue\n$/);
  for (const command of ["advance", "send"]) {
    const silent = await place.run([command], { stdin: ANSWERED, env: KEY });
    assert.deepEqual([silent.code, silent.stdout, silent.stderr], [3, ANSWERED, filtered.stderr], command);
  }
  place.write("a.chat", ANSWERED);
  const checked = await place.run(["check", "a.chat"]);
  assert.deepEqual([checked.code, checked.stdout.match(/a\.chat:4:.*last message is the model's/)?.length], [
    0,
    1,
  ]);
});

test("--continue fills an empty @You: message, and does nothing if the person wrote a message or calls are open", async (place) => {
  const reply = { reply: [{ text: "And on." }] };
  await withReplay([reply, reply, reply], async (replay, env) => {
    const rows = [
      [
        "@You:\nhi\n\n@Assistant:\nWell.\n\n@You:\n\n",
        "@You:\nhi\n\n@Assistant:\nWell.\n\n@You:\nContinue.\n\n@Assistant:\nAnd on.\n\n@You:\n\n",
      ],
      [QUESTION, `${QUESTION}\n@Assistant:\nAnd on.\n\n@You:\n\n`],
      [
        "@You:\r\nhi\r\n\r\n@Assistant:\r\nWell.",
        "@You:\r\nhi\r\n\r\n@Assistant:\r\nWell.\r\n\r\n@You:\r\nContinue.\r\n\r\n@Assistant:\r\nAnd on.\r\n\r\n@You:\r\n\r\n",
      ],
    ];
    for (const [before, after] of rows) {
      place.write("a.chat", before!);
      const { stderr } = await place.run(["advance", "a.chat", "--continue"], { env });
      assert.deepEqual([place.read("a.chat"), replay.problems], [after, []], stderr);
    }
    const pending = callsDocument([{ id: "c1", command: "true", status: "pending" }]);
    place.write("a.chat", pending);
    const { code } = await place.run(["advance", "a.chat", "--continue"], { env });
    assert.deepEqual([code, place.read("a.chat")], [3, pending]);
  });
});

test("prefill: true sends a document that ends with the model's turn only to a model that can continue it", async (place) => {
  await withReplay([{ reply: [{ text: "And on." }] }], async (replay, env) => {
    place.settings("prefill: true\nparameters: { thinking: false }\n");
    place.write("a.chat", ANSWERED);
    const refused = await place.run(["advance", "a.chat"], { env });
    assert.deepEqual([refused.code, replay.requests.length], [3, 0], refused.stderr);
    place.settings("prefill: true\nmodel: claude-haiku-4-5\n");
    const thinks = await place.run(["advance", "a.chat"], { env });
    assert.deepEqual([thinks.code, replay.requests.length], [3, 0], thinks.stderr);
    place.settings("prefill: true\nmodel: claude-haiku-4-5\nparameters: { thinking: false }\n");
    const taken = await place.run(["advance", "a.chat"], { env });
    assert.deepEqual([taken.code, replay.problems], [0, []], taken.stderr);
  });
});

test("a question that is empty after its template is evaluated is not sent, whatever made it empty", async (place) => {
  await withReplay([], async (replay, env) => {
    for (const blank of ["{{ '' }}", "{% local x = 1 %}"]) {
      place.write("a.chat", `${ANSWERED}\n@You:\n${blank}\n`);
      const { code, stderr } = await place.run(["advance", "a.chat"], { env });
      assert.deepEqual([code, replay.requests.length], [4, 0], stderr);
      assert.match(stderr, /nothing to send/);
    }
    // Blank as it stands: whoever advances it again, as a scheduler does, has made no mistake; whoever sends has.
    place.write("a.chat", `${ANSWERED}\n@You:\n\u00a0\n`);
    for (const [command, wanted] of [["advance", 0], ["send", 3]] as const) {
      const { code, stderr } = await place.run([command, "a.chat"], { env });
      assert.deepEqual([code, replay.requests.length], [wanted, 0], stderr);
      assert.match(
        stderr,
        /^There is nothing to do\. Write below the last @You:, then: flemma advance a\.chat$/m,
      );
    }
  });
});

test("a reply cut at its length limit is not called complete, and --continue continues it", (place) =>
  withReplay(
    [{ reply: [{ text: "One, two," }], stop_reason: "max_tokens" }, { reply: [] }],
    async (_, env) => {
      place.write("a.chat", QUESTION);
      const cut = await place.run(["advance", "a.chat"], { env });
      assert.match(cut.stderr, /The reply was cut off/);
      assert.doesNotMatch(cut.stderr, /is complete/);
      place.write("b.chat", QUESTION);
      const empty = await place.run(["advance", "b.chat"], { env });
      assert.match(empty.stderr, /the reply is empty/);
      assert.doesNotMatch(empty.stderr, /is complete/);
      await follow(place, cut.stderr);
    },
  ));

test("send names the calls that have not run and the command that runs them, and execute shows their results", async (place) => {
  place.write("a.chat", callsDocument([{ id: "c1", command: "echo out; exit 3", status: "approved" }]));
  const sent = await place.exits(3, ["send", "a.chat"], { env: KEY });
  assert.match(sent.stderr, /^1 call \(c1\) has no result yet, .*: flemma advance a\.chat$/m);
  assert.doesNotMatch(sent.stderr, /approve/);
  const ran = await place.run(["execute", "a.chat", "c1"], { env: KEY });
  assert.match(ran.stderr, /^bash \(c1\) failed: out {3}line \d+$/m);
});

test("a call that policy denied is reported in one line", async (place) => {
  place.settings("tools:\n  presets:\n    $never: { deny: [bash] }\n  auto_approve: [$never]\n");
  place.write("a.chat", callsDocument([{ id: "c1", command: "rm -rf build" }]));
  const { stderr } = await place.run(["advance", "--no-autopilot", "a.chat"], { env: KEY });
  assert.match(stderr, /^flemma: denied by .*: bash: \$ rm -rf build$/m);
});

test("if a content filter stopped a reply, no advice suggests continuing it", async (place) => {
  const refused = { reply: [{ text: "I" }], stop_reason: "refusal", stop_details: { category: "cyber" } };
  await withReplay([refused], async (_, env) => {
    place.write("a.chat", QUESTION);
    const { stderr } = await place.exits(1, ["advance", "a.chat"], { env });
    assert.match(stderr, /Delete the partial reply, then reword your message/);
    assert.doesNotMatch(stderr, /--continue/);
  });
});
