// Several documents in one process: the report for each, the limits they share, and recovery after a kill.

import assert from "node:assert/strict";
import { withCrowd } from "./crowd.ts";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";

function questions(place: Scene, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    place.write(`q${at}.chat`, `@You:\nQuestion ${at}?\n`);
    return `q${at}.chat`;
  });
}

test("each document is reported in one line, a failed document does not stop the others, and the worst exit code is returned", (place) =>
  withCrowd({}, async ({ env, answered }) => {
    const [one = "", two = ""] = questions(place, 2);
    place.write("waits.chat", callsDocument([{ id: "c1", command: "true", status: "pending" }]));
    place.write("empty.chat", "Nothing yet.\n");
    const files = [one, "gone.chat", "waits.chat", two, "empty.chat", `./${one}`, "--jobs", "2"];
    const first = await place.exits(1, ["advance", ...files], { env });
    for (const file of [one, two]) assert.match(place.read(file), /An answer\./);
    assert.equal(answered.length, 2);
    assert.match(first.stderr, /^\[\d\/5\] q0\.chat: complete$/m);
    assert.match(first.stderr, /^\[\d\/5\] gone\.chat: There is no file gone\.chat\.$/m);
    assert.match(
      first.stderr,
      /^\[\d\/5\] waits\.chat: 1 call waits for you: flemma approve waits\.chat c1$/m,
    );
    assert.match(first.stderr, /^\[\d\/5\] empty\.chat: The document has no message\.$/m);
    assert.match(
      first.stderr,
      /^5 documents: 2 complete, 1 waiting for you, 1 with errors to correct, 1 failed; 2 requests, 20 tokens in, 6 out, /m,
    );
    // Once more: what is answered costs nothing, and each event says whose it is.
    const again = await place.exits(3, ["advance", one, "waits.chat", "--json", "--quiet"], { env });
    assert.equal(answered.length, 2);
    const events = again.stdout.trim().split("\n").map((line) => JSON.parse(line));
    const stopped = events.filter(({ event }) => event === "stopped");
    assert.deepEqual(
      stopped.map(({ document, reason, exit }) => [document, reason, exit]),
      [[one, "answered", 0], ["waits.chat", "pending", 3]],
    );
    assert.ok(events.every(({ document }) => document !== undefined));
    assert.equal(again.stderr, "[2/2] waits.chat: 1 call waits for you: flemma approve waits.chat c1\n");
  }));

test("a provider with a request limit never gets more requests in parallel", (place) =>
  withCrowd(
    { limit: 5, hold: ({ running, answered }) => running < 5 && running + answered < 20 },
    async (crowd) => {
      place.settings("providers: { anthropic: { max_requests: 5 } }\n");
      await place.exits(0, ["advance", "--jobs", "8", ...questions(place, 20)], crowd);
      assert.deepEqual([crowd.answered.length, crowd.most, crowd.refused], [20, 5, 0]);
    },
  ));

test("if a provider refuses too many parallel requests, fewer are sent, and all documents get their replies", (place) =>
  withCrowd({ limit: 3, hold: ({ refused }) => refused === 0 }, async (crowd) => {
    const { stderr } = await place.exits(0, ["advance", "--jobs", "8", ...questions(place, 16)], crowd);
    assert.equal(crowd.answered.length, 16);
    assert.ok(crowd.refused > 0);
    assert.match(stderr, /rate_limit_error/);
  }));

test("documents that are done leave nothing on a signal that all of them share", (place) =>
  withCrowd({}, async ({ env }) => {
    const { addEventListener: add, removeEventListener: remove } = AbortSignal.prototype;
    const listeners = new Map<AbortSignal, number>();
    const count = (signal: AbortSignal, change: number) =>
      listeners.set(signal, (listeners.get(signal) ?? 0) + change);
    AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...given: Parameters<typeof add>) {
      count(this, 1);
      add.apply(this, given);
    } as typeof add;
    AbortSignal.prototype.removeEventListener = function (
      this: AbortSignal,
      ...given: Parameters<typeof remove>
    ) {
      count(this, -1);
      remove.apply(this, given);
    } as typeof remove;
    const files = questions(place, 24);
    try {
      await place.exits(0, ["advance", "--jobs", "1", ...files], { env });
      assert.ok(Math.max(...listeners.values()) < files.length);
    } finally {
      AbortSignal.prototype.addEventListener = add;
      AbortSignal.prototype.removeEventListener = remove;
    }
  }));

test("after a run is killed and started again, no call runs twice and no question is sent twice", (place) =>
  withCrowd({}, async ({ env, answered }) => {
    const files = Array.from({ length: 8 }, (_, at) => {
      const command = `echo ${at} >> runs; until [ -e go ]; do read -t 0.1 < /dev/zero; done`;
      const free = `echo ${at} >> runs`;
      place.write(
        `c${at}.chat`,
        callsDocument([{ id: `c${at}`, command: at % 4 === 3 ? command : free, status: "approved" }]),
      );
      return `c${at}.chat`;
    });
    const started = place.start(["advance", "--jobs", "2", "--no-sandbox", ...files], { env });
    // Two of them hold both jobs up: the others before them are done, those behind have not begun.
    const runs = () => place.exists("runs") ? place.read("runs").trim().split("\n") : [];
    while (!(runs().includes("3") && runs().includes("7"))) {
      await new Promise((done) => setTimeout(done, 10));
    }
    started.kill("SIGKILL");
    await started.finished;
    place.write("go", "");
    const before = answered.length;
    assert.equal(before, 6);
    const again = await place.exits(3, ["advance", "--jobs", "4", "--no-sandbox", ...files], { env });
    assert.deepEqual(runs().sort(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert.equal(answered.length, before);
    assert.match(again.stderr, /2 waiting for you/);
  }));

test("Ctrl-C ends all running documents in order and leaves the others unchanged", (place) =>
  withCrowd({}, async ({ env }) => {
    const wait = (at: number) =>
      callsDocument([{ id: `c${at}`, command: `: > b${at}; sleep 60`, status: "approved" }]);
    const files = [0, 1, 2].map((at) => (place.write(`s${at}.chat`, wait(at)), `s${at}.chat`));
    const started = place.start(["advance", "--jobs", "2", "--no-sandbox", ...files], { env });
    await place.appears("b0", started);
    await place.appears("b1", started);
    started.kill("SIGINT");
    const { code, stderr } = await started.finished;
    assert.equal(code, 130, stderr);
    assert.equal(place.read("s2.chat"), wait(2));
    assert.ok(!place.exists("b2"));
    assert.match(stderr, /^3 documents: 2 interrupted, 1 not finished\.$/m);
  }));

test("a piped document next to other documents is refused and printed unchanged, and --jobs must be at least 1", async (place) => {
  questions(place, 1);
  const piped = await place.run(["advance", "-", "q0.chat"], { stdin: "@You:\nHi\n" });
  assert.deepEqual([piped.code, piped.stdout], [2, "@You:\nHi\n"]);
  assert.match(piped.stderr, /With several documents, all must be files/);
  const none = await place.exits(2, ["advance", "q0.chat", "--jobs", "0"]);
  assert.match(none.stderr, /1 or more/);
});

test("a call whose approval does not count is listed with the waiting calls, and one whose approval counts is not", async (place) => {
  place.settings("tools: { auto_approve_sandboxed: false }\ntrust: { approvals: here }\n");
  place.arrive("a.chat", callsDocument([{ id: "c1", command: "true", status: "approved" }]));
  const arrived = await place.exits(0, ["status", "--pending", "a.chat"]);
  assert.match(arrived.stdout, /^a\.chat:\d+: bash: \$ true {3}#1 c1\n$/);
  const status = await place.run(["status", "a.chat"]);
  assert.match(status.stdout, /waits for you: its approval was not given here/);
  const check = await place.run(["check", "a.chat"]);
  assert.match(check.stdout, /warning waits_for_you c1 waits for you: .* flemma approve \S*a\.chat c1/);
  assert.equal(check.code, 0);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await place.exits(0, ["status", "--pending", "a.chat"])).stdout, "");
  assert.doesNotMatch((await place.run(["check", "a.chat"])).stdout, /waits_for_you/);
});

test("waiting calls of several documents are listed one per line, and an unreadable document does not stop the others", async (place) => {
  place.write("a.chat", callsDocument([{ id: "call_aaaa", command: "make test", status: "pending" }]));
  place.write("b.chat", "@You:\nHi\n");
  place.write(
    "c.chat",
    callsDocument([{ id: "c1", command: "true", status: "pending" }, {
      id: "c2",
      command: "ls",
      status: "pending",
    }]),
  );
  const files = ["a.chat", "b.chat", "gone.chat", "c.chat"];
  const shown = await place.exits(1, ["status", "--pending", ...files]);
  assert.match(shown.stderr, /There is no file gone\.chat/);
  assert.match(
    shown.stdout,
    /^a\.chat:15: bash: \$ make test {3}#1 call_aaaa\nc\.chat:\d+: bash: \$ true {3}#1 c1\nc\.chat:\d+: bash: \$ ls {3}#2 c2\n$/,
  );
  const json = await place.run(["status", "--pending", "--json", "c.chat", "b.chat"]);
  assert.deepEqual(
    JSON.parse(json.stdout).map((each: { document: string; id: string }) => [each.document, each.id]),
    [["c.chat", "c1"], ["c.chat", "c2"]],
  );
  const both = await place.run(["status", "a.chat", "b.chat"]);
  assert.match(both.stdout, /^a\.chat:\npending .*\n(.*\n)*\nb\.chat:\nnext: flemma advance b\.chat sends/);
});
