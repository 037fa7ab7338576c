// Documents that a run releases while it waits for a limit: what others do meanwhile, and what the run then does.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { ChatSession, OpenOptions } from "../../agent/types.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { openFile } from "../../cycle/storage/file_store.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { holderOf, lockDocument } from "../../cycle/storage/lock.ts";
import { documentKey, stateFolder } from "../../cycle/storage/state_files.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { systemClock } from "../../providers/http/patience.ts";
import { bytes, delta, END, SSE, stop, streamed } from "../cycle/sending.ts";
import type { Answer } from "../providers/loopback.ts";
import { ECHO, type Place, testInPlace as test } from "./place.ts";

const QUESTION = "@You:\nhi\n";
const GOOD = streamed(delta("Hello!"), stop("end_turn", 1), END);
const CALL = streamed(
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "c1", name: "echo", input: {} },
  },
  {
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json: '{"text":"one"}' },
  },
  { type: "content_block_stop", index: 0 },
  stop("tool_use", 1),
  END,
);
const LIMITED: Answer = {
  status: 429,
  headers: { "content-type": "application/json", "retry-after": "3000" },
  body: JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "No" } }),
};
const OVERLOADED: Answer = {
  status: 529,
  headers: { "content-type": "application/json", "retry-after": "3000" },
  body: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "No" } }),
};

interface Scene {
  readonly bodies: string[];
  readonly events: CycleEvent[];
  readonly open: (options?: Partial<OpenOptions>) => Promise<ChatSession>;
}

/** Sessions on `a.chat`, whose provider gives these answers in turn. */
function scene(place: Place, answers: readonly Answer[]): Scene {
  const bodies: string[] = [];
  const events: CycleEvent[] = [];
  const fetched: typeof fetch = async (_, init) => {
    const { status = 200, headers = SSE, body } = answers[Math.min(bodies.length, answers.length - 1)]!;
    bodies.push(await new Response(init?.body).text());
    return new Response(body as string, { status, headers });
  };
  const open = async (options: Partial<OpenOptions> = {}) => {
    const variables = { ...place.environment.variables, ANTHROPIC_API_KEY: "k" };
    const opened = await openChat("a.chat", {
      environment: { ...place.environment, variables },
      fetch: fetched,
      tools: [ECHO],
      settings: { overrides: { run: { wait_for_limit: 10_000 } } },
      emit: (event) => events.push(event),
      ...options,
    });
    return opened.ok ? opened.value : assert.fail(opened.problem.message);
  };
  return { bodies, events, open };
}

/** Advances a document whose first request is refused; `between` happens during the wait. */
async function advanced(
  first: Scene,
  between: () => unknown,
  act: (session: ChatSession) => Promise<Stop> = (session) => session.advance(),
): Promise<Stop> {
  await using session = await first.open();
  return await whileWaiting(between, () => act(session));
}

/** Does work in which every wait for a provider ends as soon as `between` has ended. */
async function whileWaiting<T>(between: () => unknown, work: () => Promise<T>): Promise<T> {
  const { wait } = systemClock;
  const { now } = systemClock;
  let passed = 0;
  systemClock.now = () => now() + passed;
  systemClock.wait = async (seconds, signal) => {
    await between();
    passed += seconds * 1000;
    return !signal.aborted;
  };
  try {
    return await work();
  } finally {
    systemClock.wait = wait;
    systemClock.now = now;
  }
}

/** Who has the lock of `a.chat`; null if nobody. */
const holder = (place: Place) => holderOf(place.path("a.chat"), place.environment);

for (const [what, answer] of [["a limit", LIMITED], ["an outage", OVERLOADED]] as const) {
  test(`a run that waits for ${what} releases the document, and takes it again for the request`, async (place) => {
    place.write("a.chat", QUESTION);
    const first = scene(place, [answer, GOOD]);
    const held: boolean[] = [];
    await using session = await first.open({
      emit: (event) => {
        if (event.event === "text") lockedAtReply = holder(place);
      },
    });
    let lockedAtReply: ReturnType<typeof holder> | null = null;
    const stopped = await whileWaiting(
      async () => held.push(await holder(place) !== null),
      () => session.advance(),
    );
    assert.deepEqual([stopped.reason, held], ["done", [false]]);
    assert.equal((await lockedAtReply!)?.pid, Deno.pid);
    assert.notEqual(await holder(place), null);
  });
}

test("without run.wait_for_limit the document stays locked between attempts", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [{ ...LIMITED, headers: { "retry-after": "5" } }, GOOD]);
  const held: boolean[] = [];
  await using session = await first.open({ settings: { overrides: { run: { wait_for_limit: 0 } } } });
  await whileWaiting(async () => held.push(await holder(place) !== null), () => session.advance());
  assert.deepEqual(held, [true]);
});

test("a question that is edited during the wait is sent as it then is", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const stopped = await advanced(first, () => place.write("a.chat", "@You:\nSomething else.\n"));
  assert.deepEqual([stopped.reason, first.bodies.length], ["done", 2]);
  assert.match(first.bodies[1]!, /Something else/);
  assert.equal(place.read("a.chat"), "@You:\nSomething else.\n\n@Assistant:\nHello!\n\n@You:\n\n");
});

for (
  const [how, act] of [
    ["advance", (session: ChatSession) => session.advance()],
    ["send", (session: ChatSession) => session.send()],
  ] as const
) {
  test(`a reply that another run got during the wait is not asked for again (${how})`, async (place) => {
    place.write("a.chat", QUESTION);
    const first = scene(place, [LIMITED, GOOD]);
    const second = scene(place, [GOOD]);
    const stopped = await advanced(first, async () => {
      await using other = await second.open();
      assert.equal((await other.advance()).reason, "done");
    }, act);
    assert.deepEqual([stopped.reason, first.bodies.length], ["answered", 1]);
    assert.equal(place.read("a.chat"), "@You:\nhi\n\n@Assistant:\nHello!\n\n@You:\n\n");
  });
}

test("a call that another run got during the wait waits for the person", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [CALL]);
  const stopped = await advanced(first, async () => {
    await using other = await second.open();
    assert.equal((await other.advance()).reason, "pending");
  });
  assert.deepEqual([stopped.reason, stopped.ids, first.bodies.length], ["pending", ["c1"], 1]);
});

test("a call that was approved during the wait runs once, and its result is sent", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [CALL]);
  const stopped = await advanced(first, async () => {
    await using other = await second.open();
    await other.advance();
    assert.deepEqual(await other.approve("c1"), { ok: true, value: ["c1"] });
  });
  assert.deepEqual([stopped.reason, first.bodies.length], ["done", 2]);
  assert.match(first.bodies[1]!, /"content":"one","tool_use_id":"c1"/);
  assert.equal(first.events.filter(({ event }) => event === "tool:executing").length, 1);
});

test("a call that another run ran during the wait does not run again", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [CALL, GOOD]);
  const stopped = await advanced(first, async () => {
    await using other = await second.open();
    await other.advance();
    await other.approve("c1");
    assert.equal((await other.advance()).reason, "done");
  });
  assert.deepEqual([stopped.reason, first.bodies.length], ["answered", 1]);
  assert.ok(first.events.every(({ event }) => event !== "tool:executing"));
});

test("a document that is removed during the wait stays removed, and nothing is sent", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const stopped = await advanced(first, () => Deno.remove(place.path("a.chat")));
  assert.deepEqual([stopped.reason, first.bodies.length], ["conflict", 1]);
  assert.match(
    stopped.problem!.message,
    /a\.chat was removed or moved while flemma waited\. Nothing was sent\./,
  );
  assert.deepEqual([...Deno.readDirSync(place.path("."))], []);
});

test("other settings after a wait end the run, so that they apply from its next step on", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const other = "```yaml\nflemma:\n  temperature: 0.5\n```\n\n@You:\nhi\n";
  const stopped = await advanced(first, () => place.write("a.chat", other));
  assert.deepEqual([stopped.reason, stopped.problem?.code, first.bodies.length], [
    "diagnostics",
    "frontmatter_changed",
    1,
  ]);
});

test("if another run uses the document after the wait, the run says so and waits for its end", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [GOOD]);
  let other: ChatSession | null = null;
  await using session = await first.open({
    emit: (event) => {
      if (event.event !== "notice" || event.code !== "document-in-use") return;
      first.events.push(event);
      void other!.edit([{ from: 6, to: 8, insert: "hey" }]).then(() => other![Symbol.asyncDispose]());
    },
  });
  const stopped = await whileWaiting(async () => other ??= await second.open(), () => session.advance());
  assert.deepEqual([stopped.reason, first.bodies.length], ["done", 2]);
  assert.match(first.bodies[1]!, /"hey"|hey/);
  const [notice] = first.events;
  assert.match(JSON.stringify(notice), /is in use by process \d+ on .*flemma waits until that run ends/);
});

test("a run that is canceled while another run uses the document ends, and its session works again later", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [GOOD]);
  let other: ChatSession | null = null;
  await using session = await first.open();
  const canceled = await whileWaiting(async () => {
    other = await second.open();
    session.cancel();
  }, () => session.advance());
  assert.equal(canceled.reason, "cancelled");
  const refused = await session.advance();
  assert.deepEqual([refused.reason, refused.problem?.code], ["failed", "document-locked"]);
  assert.equal(place.read("a.chat"), QUESTION);
  await other![Symbol.asyncDispose]();
  assert.equal((await whileWaiting(() => {}, () => session.advance())).reason, "done");
  assert.notEqual(await holder(place), null);
});

test("a canceled wait takes the document back at once if it is free", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  await using session = await first.open();
  const stopped = await whileWaiting(() => session.cancel(), () => session.advance());
  assert.equal(stopped.reason, "cancelled");
  assert.equal((await holder(place))?.pid, Deno.pid);
});

test("a host that edits during the wait writes under the lock, and only if nobody else uses the document", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [GOOD]);
  await using session = await first.open();
  const add = (insert: string) => session.edit([{ from: 8, to: 8, insert }]);
  await whileWaiting(async () => {
    assert.equal(await add(" there"), null);
    assert.equal(place.read("a.chat"), "@You:\nhi there\n");
    assert.equal(await holder(place), null);
    const other = await second.open();
    assert.equal((await add("!"))?.code, "document-locked");
    await other.edit([{ from: 6, to: 6, insert: "Oh " }]);
    await other[Symbol.asyncDispose]();
    assert.equal((await add("!"))?.code, "document-changed");
    assert.equal(place.read("a.chat"), "@You:\nOh hi there\n");
  }, () => session.advance());
  assert.match(first.bodies[1]!, /Oh hi there/);
});

test("a call that a run killed during the wait had started is not run again", async (place) => {
  place.write("a.chat", QUESTION);
  const first = scene(place, [LIMITED, GOOD]);
  const second = scene(place, [CALL]);
  const path = place.path("a.chat");
  const stopped = await advanced(first, async () => {
    const other = await second.open();
    await other.advance();
    await other.approve("c1");
    await other[Symbol.asyncDispose]();
    const journal = await openJournal({ environment: place.environment, path });
    assert.ok(journal.ok);
    await journal.value.recordStart("c1", "echo", "writes");
    const lock = `${stateFolder(place.environment)}/locks/${await documentKey(path)}.lock`;
    Deno.writeTextFileSync(lock, JSON.stringify({ pid: 1, host: "other", path }));
  });
  assert.deepEqual([stopped.reason, stopped.ids, first.bodies.length], ["pending", ["c1"], 1]);
  assert.ok(first.events.every(({ event }) => event !== "tool:executing"));
  assert.ok(first.events.some((event) => event.event === "notice" && event.code === "lock-taken-over"));
});

test("while commands run that must not write the document, it is not released", async (place) => {
  place.write("a.chat", QUESTION);
  const path = place.path("a.chat");
  const opened = await openFile(path, { environment: place.environment, wait: 0 });
  assert.ok(opened.ok);
  const store = opened.value;
  store.inPlaceWhile = () => true;
  await store.release();
  const options = { environment: place.environment, wait: 0, place: DEFAULT_SETTINGS.lock.place };
  assert.equal((await lockDocument(path, options)).ok, false);
  place.write("a.chat", "@You:\nho\n");
  assert.equal(await store.reclaim({ wait: 0 }), null);
  assert.equal(
    new TextDecoder().decode(store.chat.bytes),
    "@You:\nho\n",
    "changes are taken over all the same",
  );
  store.inPlaceWhile = () => false;
  await store.release();
  const taken = await lockDocument(path, options);
  assert.ok(taken.ok);
  assert.equal((await store.reclaim({ wait: 0 }))?.code, "document-locked");
  await taken.value.release();
  assert.equal(await store.reclaim({ wait: 0 }), null);
  assert.equal(await store.commit([{ from: 8, to: 8, insert: "!" }]), null);
  await store.close();
  assert.deepEqual(Deno.readFileSync(path), bytes("@You:\nho!\n"));
});

test("a document that is reclaimed before it was released stays locked", async (place) => {
  place.write("a.chat", QUESTION);
  const opened = await openFile(place.path("a.chat"), { environment: place.environment, wait: 0 });
  assert.ok(opened.ok);
  const releasing = opened.value.release();
  assert.equal(await opened.value.reclaim({ wait: 0 }), null);
  await releasing;
  assert.notEqual(await holder(place), null);
  await opened.value.close();
});
