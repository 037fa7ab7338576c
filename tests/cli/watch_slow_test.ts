// `flemma watch` with real files, saved in the ways of real editors, and a server on loopback as the model.

import assert from "node:assert/strict";
import {
  type FileState,
  type IdleDocument,
  isSaved,
  knownAfter,
  knownAtStart,
} from "../../commands/serve/watched.ts";
import { Slots } from "../../commands/serve/slots.ts";
import { HABITS } from "../campaign/random.ts";
import { withCrowd } from "./crowd.ts";
import { callsDocument, testWithScene as test, withScene } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";
import { watching } from "./watching.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const at = (stamp: string, text: string): FileState => ({ stamp, text: bytes(text) });

Deno.test("watch reacts only to text that another program wrote: one row per condition", () => {
  const known: IdleDocument = { fileState: at("1", "a"), startsAgain: false };
  assert.equal(isSaved(known, at("2", "b")), true);
  assert.equal(isSaved(known, null), false, "it is gone");
  assert.equal(isSaved(known, at("2", "")), false, "an editor has emptied it and is about to write");
  assert.equal(
    isSaved(known, at("1", "b")),
    true,
    "it was saved during a check, or immediately after it",
  );
  assert.equal(
    isSaved({ ...known, startsAgain: true }, at("1", "a")),
    false,
    "nobody wrote since the last check",
  );
  assert.equal(isSaved(known, at("2", "a")), false, "the text is the same, and was advanced");
  assert.equal(isSaved({ ...known, startsAgain: true }, at("2", "a")), true, "what failed is tried again");
  assert.equal(isSaved({ fileState: null, startsAgain: false }, at("1", "a")), true, "it has come again");
});

Deno.test("files that a run writes start no other run, but a save by another program during a run does: one row per condition", () => {
  const ended = { ours: bytes("ours"), now: at("3", "theirs"), reason: "done" } as const;
  const isNext = (
    more: Partial<Parameters<typeof knownAfter>[0]>,
    now: FileState | null = at("3", "theirs"),
  ) => isSaved(knownAfter({ ...ended, now, ...more }), now);
  assert.equal(isNext({}), true);
  assert.equal(isNext({ reason: "conflict" }), true);
  assert.equal(isNext({}, at("3", "ours")), false, "the run's own text");
  assert.equal(isNext({}, null), false, "it is gone");
  assert.equal(isNext({ reason: "failed" }), false, "a failed run is not repeated automatically");
  assert.equal(isNext({ reason: "cancelled" }), false);
  const failed = knownAfter({ ...ended, reason: "failed" });
  assert.equal(isSaved(failed, at("4", "theirs")), true, "but by saving the same text again");
});

const QUESTION = "@You:\nHow are you?\n";

Deno.test("if watching begins with a text to send, saving the same text starts a run: one row per condition", () => {
  const known = (text: string) => knownAtStart(at("1", text));
  const savedAgain = (text: string) => isSaved(known(text), at("2", text));
  assert.equal(savedAgain(QUESTION), true);
  assert.equal(isSaved(known(QUESTION), at("1", QUESTION)), false, "nobody has saved it");
  assert.equal(savedAgain(`${QUESTION}\n@Assistant:\nFine.\n`), false, "the model spoke last");
  assert.equal(savedAgain("@You:\n"), false, "nothing to send");
  assert.equal(savedAgain(callsDocument([{ id: "c1", command: "ls", status: "pending" }])), false);
  assert.equal(savedAgain(callsDocument([{ id: "c1", command: "ls", status: "approved" }])), true);
  assert.deepEqual(knownAtStart(null), { fileState: null, startsAgain: false }, "it does not exist");
});

for (const [habit, save] of Object.entries(HABITS)) {
  Deno.test(`a file that is ${habit} is advanced once, and the text that the run writes starts no other run`, () =>
    withServer(
      [textReply("Fine."), textReply("Better."), textReply("Never asked.")],
      ({ env, requests }) =>
        withScene(async (place) => {
          place.write("a b.chat", "@You:\n");
          await watching(place, env, ["a b.chat"], async (watch) => {
            await save(place.path("a b.chat"), QUESTION);
            const stopped = await watch.next("stopped");
            assert.deepEqual([stopped.reason, stopped.document], ["done", "a b.chat"]);
            const answered = `${QUESTION}\n@Assistant:\nFine.\n\n@You:\n`;
            assert.equal(place.read("a b.chat").trimEnd(), answered.trimEnd());
            await save(place.path("a b.chat"), `${answered}And now?\n`);
            await watch.next("stopped");
            assert.equal(requests.length, 2);
            watch.kill("SIGINT");
            assert.equal(await watch.ends(), 0);
          });
        }),
    ));
}

Deno.test("a question that is saved while a reply streams is sent next", () =>
  withServer([textReply("Fine."), textReply("Better.")], ({ env, requests }) =>
    withScene(async (place) => {
      // The model is asked by way of a command that lets the test save in the middle.
      place.write("a.chat", "@You:\n");
      await watching(place, env, ["a.chat"], async (watch) => {
        const call = callsDocument([{
          id: "call_1",
          command: "touch began; until [ -e go ]; do sleep 0.01; done",
          status: "approved",
        }]);
        place.write("a.chat", call);
        while (!place.exists("began")) await new Promise((done) => setTimeout(done, 5));
        place.write("a.chat", place.read("a.chat").replace("Please.", "Please, now."));
        place.write("go", "");
        await watch.next("stopped");
        const text = place.read("a.chat");
        assert.match(text, /Please, now\./);
        place.write("a.chat", `${text.trimEnd()}\nThanks.\n`);
        await watch.next("stopped");
        assert.ok(requests.length >= 1 && requests.length <= 2);
        assert.match(JSON.stringify(requests.at(-1)), /Thanks|now/);
      });
    })));

Deno.test("watch says until when a run waits for a limit, and which model is asked instead", () => {
  const refuse = (status: number, type: string, headers: Record<string, string>): Reply => ({
    status,
    headers,
    body: JSON.stringify({ type: "error", error: { type, message: "No" } }),
  });
  const limited = refuse(429, "rate_limit_error", { "retry-after-ms": "1" });
  const overloaded = refuse(529, "overloaded_error", { "retry-after-ms": "1" });
  return withServer(
    [limited, overloaded, overloaded, overloaded, textReply("Fine.")],
    ({ env }) =>
      withScene(async (place) => {
        place.settings("run: { wait_for_limit: 600 }\nfallback: { models: [claude-opus-5-5] }\n");
        place.write("a.chat", "@You:\n");
        await watching(place, env, ["a.chat"], async (watch) => {
          place.write("a.chat", "@You:\nHi\n");
          await watch.next("request:retrying");
          await watch.reported("a.chat: rate_limit_error — No. Retrying in 0 s (attempt 2).");
          await watch.next("request:fallback");
          await watch.reported(
            "cannot answer: overloaded_error — No. Asking anthropic/claude-opus-5-5 for this reply.",
          );
          assert.equal((await watch.next("stopped")).reason, "done");
          await watch.reported("This reply is by anthropic/claude-opus-5-5");
          assert.match(place.read("a.chat"), /Fine\./);
        });
      }),
  );
});

Deno.test("watch handles each file separately, continues if a deleted file is created again, and follows a link to its file", () =>
  withServer(
    [textReply("One."), textReply("Two."), textReply("Three.")],
    ({ env, requests }) =>
      withScene(async (place) => {
        await Deno.mkdir(place.path("deep"));
        place.write("a.chat", "@You:\n");
        place.write("deep/real.chat", "@You:\n");
        await Deno.symlink("deep/real.chat", place.path("link.chat"));
        await watching(place, env, ["a.chat", "link.chat", "./a.chat"], async (watch) => {
          place.write("deep/real.chat", QUESTION);
          await watch.next("stopped", "link.chat");
          assert.match(place.read("deep/real.chat"), /One\./);
          await Deno.remove(place.path("a.chat"));
          place.write("a.chat", "");
          place.write("a.chat", QUESTION);
          await watch.next("stopped", "a.chat");
          assert.match(place.read("a.chat"), /Two\./);
          await Deno.rename(place.path("deep"), place.path("away"));
          await Deno.mkdir(place.path("deep"));
          place.write("deep/real.chat", QUESTION);
          await watch.next("stopped", "link.chat");
          assert.match(place.read("deep/real.chat"), /Three\./);
          assert.equal(requests.length, 3);
        });
      }),
  ));

Deno.test("watch follows a folder that is replaced, including parent folders and folders created later", () =>
  withServer(
    [textReply("One."), textReply("Two.")],
    ({ env }) =>
      withScene(async (place) => {
        const make = async (text: string) => {
          await Deno.mkdir(place.path("up/deep"), { recursive: true });
          place.write("up/deep/a.chat", text);
        };
        await make("@You:\n");
        await watching(place, env, ["up/deep/a.chat"], async (watch) => {
          await Deno.rename(place.path("up"), place.path("away"));
          await make(QUESTION);
          await watch.next("stopped");
          assert.match(place.read("up/deep/a.chat"), /One\./);
          await Deno.remove(place.path("up"), { recursive: true });
          await watch.reported("was removed");
          await make(`${QUESTION}Again.\n`);
          await watch.next("stopped");
          assert.match(place.read("up/deep/a.chat"), /Two\./);
        });
      }),
  ));

Deno.test("after a failure, saving the same text again starts a new attempt, and a waiting call is reported", () =>
  withServer(
    [{ status: 400, body: '{"error":{"message":"bad"}}' }, textReply("Now.")],
    ({ env, requests }) =>
      withScene(async (place) => {
        place.write("a.chat", "@You:\n");
        await watching(place, env, ["a.chat"], async (watch) => {
          place.write("a.chat", QUESTION);
          assert.equal((await watch.next("stopped")).reason, "failed");
          place.write("a.chat", place.read("a.chat"));
          assert.equal((await watch.next("stopped")).reason, "done");
          assert.equal(requests.length, 2);
          place.write("a.chat", callsDocument([{ id: "call_1", command: "ls", status: "pending" }]));
          const waits = await watch.next("stopped");
          assert.deepEqual([waits.reason, waits.ids], ["pending", ["call_1"]]);
        });
      }),
  ));

test("Ctrl-C cancels a run, keeps the text that arrived, and ends watch with exit code 130", async (place) => {
  place.write("a.chat", "@You:\n");
  await watching(place, {}, ["a.chat"], async (watch) => {
    place.write(
      "a.chat",
      callsDocument([{ id: "call_1", command: "echo out; touch began; sleep 60", status: "approved" }]),
    );
    while (!place.exists("began")) await new Promise((done) => setTimeout(done, 5));
    watch.kill("SIGINT");
    assert.equal(await watch.ends(), 130);
    assert.match(place.read("a.chat"), /\(error\)\n\n```\nout\n/);
  });
});

test("if one of several files cannot be watched, watch refuses before it watches any", async (place) => {
  place.write("a.chat", "@You:\n");
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[], 2, /FILE/],
    [["-"], 2, /cannot be watched/],
    [["a.chat", "none.chat"], 1, /no file none\.chat\.\n {2}Create it: flemma new none\.chat$/m],
    [["."], 1, /is not a regular file/],
    [["--model"], 2, /--model/],
  ];
  for (const [words, code, stated] of rows) {
    const finished = await place.run(["watch", ...words]);
    assert.equal(finished.code, code, words.join(" ") + finished.stderr);
    assert.match(finished.stderr, stated);
    assert.equal(finished.stdout, "");
  }
});

test("watched documents share a provider's limit of parallel requests", (place) =>
  withCrowd(
    { limit: 2, hold: ({ running, answered }) => running < 2 && running + answered < 6 },
    async (crowd) => {
      place.settings("providers: { anthropic: { max_requests: 2 } }\n");
      const files = Array.from({ length: 6 }, (_, at) => `q${at}.chat`);
      for (const file of files) place.write(file, "@You:\n");
      await watching(place, crowd.env, files, async (watch) => {
        for (const file of files) place.write(file, QUESTION);
        for (const _ of files) await watch.next("stopped");
      });
      assert.deepEqual([crowd.answered.length, crowd.most, crowd.refused], [6, 2, 0]);
    },
  ));

Deno.test("a pipe next to the watched file, and a pipe in its place, hold nothing up", () =>
  withServer([textReply("Fine."), textReply("Again.")], ({ env }) =>
    withScene(async (place) => {
      const shell = async (line: string) => {
        const { success } = await new Deno.Command("sh", { args: ["-c", line], cwd: place.path("") })
          .output();
        assert.ok(success);
      };
      place.write("a.chat", "@You:\n");
      await watching(place, env, ["a.chat"], async (watch) => {
        await shell("mkfifo x; cat x >got & echo hi >x; wait");
        assert.equal(place.read("got"), "hi\n");
        place.write("a.chat", QUESTION);
        await watch.next("stopped");
        await shell("rm a.chat; mkfifo a.chat");
        await watch.reported("was removed");
        await shell("rm a.chat");
        place.write("a.chat", `${QUESTION}Again.\n`);
        await watch.next("stopped");
        watch.kill("SIGINT");
        assert.equal(await watch.ends(), 0);
      });
    })));

Deno.test("a save of the same length and time is reported too", () =>
  withServer([textReply("Fine."), textReply("Again.")], ({ env, requests }) =>
    withScene(async (place) => {
      place.write("a.chat", "@You:\n");
      await watching(place, env, ["a.chat"], async (watch) => {
        place.write("a.chat", QUESTION);
        await watch.next("stopped");
        const { atime, mtime } = Deno.statSync(place.path("a.chat"));
        const text = `${place.read("a.chat").trimEnd()}\nOne?\n`;
        place.write("a.chat", text);
        place.write("a.chat", text.replace("One", "Two"));
        Deno.utimeSync(place.path("a.chat"), atime!, mtime!);
        await watch.next("stopped");
        assert.match(JSON.stringify(requests.at(-1)), /Two/);
      });
    })));

Deno.test("at most --jobs documents run at the same time, the others in the order in which they came", async () => {
  for (const jobs of [1, 2, 4]) {
    const slots = new Slots(jobs);
    const order: number[] = [];
    const ends: (() => void)[] = [];
    let running = 0;
    const all = Array.from({ length: 10 }, (_, at) =>
      slots.during(async () => {
        order.push(at);
        running += 1;
        assert.ok(running <= jobs);
        await new Promise<void>((done) => ends.push(done));
        running -= 1;
        if (at === 3) throw new Error("failed");
      }).catch(() => {}));
    for (let ended = 0; ended < 10; ended++) {
      while (ends.length === 0) await Promise.resolve();
      ends.shift()!();
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
    await Promise.all(all);
    assert.deepEqual(order, Array.from({ length: 10 }, (_, at) => at));
  }
});
