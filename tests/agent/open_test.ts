// A session on a file: locking, read-only opening, other writers, and closing.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { OwnTool } from "../../agent/types.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import {
  answer,
  answered,
  asking,
  codeOf,
  ECHO,
  type Place,
  sessionOf,
  testInPlace as test,
  waiting,
  withModel,
} from "./place.ts";

const QUESTION = "@You:\nHi\n";

function open(place: Place, name: string, options: Parameters<typeof openChat>[1] = {}) {
  return openChat(name, { environment: place.environment, ...options });
}

test("a session changes the file in place, and after it closes another session can open the file", async (place) => {
  place.write("a.chat", QUESTION);
  await withModel([{ reply: [{ text: "Hello." }] }], async (provider) => {
    {
      await using session = sessionOf(await open(place, "a.chat", { provider }));
      assert.equal(session.path, place.path("a.chat"));
      assert.equal((await session.advance()).reason, "done");
      assert.equal(await session.holder(), null);
    }
    assert.equal(place.read("a.chat"), `${QUESTION}\n@Assistant:\nHello.\n\n@You:\n\n`);
    await sessionOf(await open(place, "a.chat"))[Symbol.asyncDispose]();
  });
});

test("a second session on the same file is refused, or waits if it is asked to, and its wait can be cancelled", async (place) => {
  place.write("a.chat", QUESTION);
  const first = sessionOf(await open(place, "a.chat"));
  assert.equal(codeOf(await open(place, "a.chat")), "document-locked");
  const abort = new AbortController();
  const stopped = open(place, "a.chat", { wait: 600, signal: abort.signal });
  abort.abort();
  assert.equal(codeOf(await stopped), "cancelled");
  const second = open(place, "a.chat", { wait: 600 });
  await first[Symbol.asyncDispose]();
  await using session = sessionOf(await second);
  assert.equal(await session.edit([{ from: 0, to: 0, insert: "" }]), null);
});

test("if opening fails after the file was locked, the lock is released", async (place) => {
  place.write("a.chat", QUESTION);
  const settings = { overrides: { modle: "x" } };
  assert.equal(codeOf(await open(place, "a.chat", { settings })), "config-invalid");
  await sessionOf(await open(place, "a.chat"))[Symbol.asyncDispose]();
});

test("a path that cannot be a writable document is refused, and the error names the path", async (place) => {
  Deno.mkdirSync(place.path("folder"));
  place.write("nul.chat", "a\0b");
  for (
    const [name, code] of [
      ["none.chat", "document-missing"],
      ["folder", "document-is-folder"],
      ["nul.chat", "document-binary"],
      ["nul.chat/x", "document-missing"],
    ] as const
  ) {
    const refused = await open(place, name);
    assert.equal(codeOf(refused), code);
    assert.ok(!refused.ok && refused.problem.message.includes(name));
  }
});

test("a read-only session takes no lock, writes nothing, and refuses every change", async (place) => {
  const text = answered(asking(["a", "echo", '{"text":"x"}']), answer("a", "pending"));
  place.write("a.chat", text);
  const before = [await place.files("place"), await place.files("state")];
  await using session = sessionOf(await open(place, "a.chat", { readOnly: true, tools: [ECHO] }));
  await using _other = sessionOf(await open(place, "a.chat", { readOnly: true }));
  assert.equal((await session.calls())[0]?.status, "pending");
  assert.equal((await session.plan()).at(-1)?.do, "rest");
  assert.equal((await session.request()).kind, "ready");
  assert.equal((await session.diagnose()).blocked, false);
  assert.equal(await session.holder(), null);
  for (const each of [session.advance(), session.send(), session.execute("a")]) {
    assert.equal((await each).problem?.code, "read-only");
  }
  assert.equal(codeOf(await session.approve("a")), "read-only");
  assert.equal(codeOf(await session.reject("a")), "read-only");
  assert.equal((await session.edit([{ from: 0, to: 0, insert: "x" }]))?.code, "read-only");
  assert.deepEqual([await place.files("place"), await place.files("state")], before);
});

test("a read-only session learns which run holds the document and which calls that run executes", async (place) => {
  place.write("a.chat", asking(["a", "wait"]));
  const { tool, begun, end } = waiting();
  const settings = { approve: ["wait"], overrides: { tools: { autopilot: { enabled: false } } } };
  await using running = sessionOf(await open(place, "a.chat", { tools: [tool], settings }));
  const advancing = running.advance();
  await begun;
  await using looking = sessionOf(await open(place, "a.chat", { readOnly: true, tools: [tool] }));
  assert.equal((await looking.holder())?.pid, Deno.pid);
  assert.equal((await looking.calls())[0]?.status, "running");
  end();
  await advancing;
});

test("notices about the file are sent as events, or given to the host's own function", async (place) => {
  for (const asked of [false, true]) {
    place.write("a.chat", `${QUESTION}\n@Assistant:\nHello.\n\n@You:\n`);
    const events: CycleEvent[] = [];
    const reported: string[] = [];
    await using session = sessionOf(
      await open(place, "a.chat", {
        emit: (event) => events.push(event),
        ...(asked ? { notify: ({ code }) => reported.push(code) } : {}),
      }),
    );
    place.write("a.chat", place.read("a.chat").replace("Hi\n", "Hi there\n"));
    const end = session.chat.byteLength;
    assert.equal(await session.edit([{ from: end, to: end, insert: "More.\n" }]), null);
    assert.match(place.read("a.chat"), /Hi there\n[^]*More\.\n$/);
    const codes = events.flatMap((event) => event.event === "notice" ? [event.code] : []);
    assert.deepEqual([codes, reported], asked ? [[], ["document-merged"]] : [["document-merged"], []]);
  }
});

test("while a sandboxed command runs, the document is written in place and not replaced", async (place) => {
  const text = asking(["a", "hold"], ["b", "echo", '{"text":"x"}']);
  place.write("a.chat", text);
  const inodes: (number | null)[] = [];
  const look = () => inodes.push(Deno.statSync(place.path("a.chat")).ino);
  const hold: OwnTool = {
    name: "hold",
    input_schema: { type: "object" },
    async: true,
    execute(_input, { sandbox }, callback) {
      sandbox.prepare(["true"]).then(async (prepared) => {
        look();
        await echoed.promise;
        look();
        if (prepared.ok) await prepared.value.dispose();
        callback({ success: true, output: "held" });
      });
      return () => {};
    },
  };
  const echoed = Promise.withResolvers<void>();
  await using session = sessionOf(
    await open(place, "a.chat", {
      tools: [hold, ECHO],
      settings: { approve: ["hold", "echo"], overrides: { tools: { autopilot: { enabled: false } } } },
      emit: (event) => event.event === "tool:finished" && event.id === "b" && echoed.resolve(),
    }),
  );
  await session.advance();
  assert.match(place.read("a.chat"), /```\nheld\n[^]*```\nx\n/);
  assert.equal(inodes.length, 2);
  assert.equal(inodes[0], inodes[1]);
});

test("closing a session while tools run leaves a valid document that the next session continues", async (place) => {
  place.write("a.chat", asking(["a", "wait"]));
  const { tool, begun } = waiting();
  const session = sessionOf(await open(place, "a.chat", { tools: [tool], settings: { approve: ["wait"] } }));
  const advancing = session.advance();
  await begun;
  await session[Symbol.asyncDispose]();
  assert.equal((await advancing).reason, "cancelled");
  const left = place.read("a.chat");
  await using next = sessionOf(await open(place, "a.chat", { tools: [tool] }));
  assert.equal(place.read("a.chat"), left);
  assert.deepEqual((await next.calls()).map(({ status }) => status), []);
});

test("an unfinished call of an earlier run does not count as running if no run holds the document", async (place) => {
  place.write("a.chat", answered(asking(["a", "echo", '{"text":"x"}']), answer("a", "approved")));
  const journal = await openJournal({ environment: place.environment, path: place.path("a.chat") });
  assert.ok(journal.ok);
  await journal.value.recordStart("a", "echo");
  await using session = sessionOf(await open(place, "a.chat", { readOnly: true, tools: [ECHO] }));
  assert.equal((await session.calls())[0]?.status, "approved");
});
