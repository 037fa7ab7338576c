// Servers that ask the person during a call: the questions are in the block of the call, and the answers go on with it.

import assert from "node:assert/strict";
import type { ChatSession } from "../../../agent/types.ts";
import { visible } from "../../../base/visible.ts";
import type { CycleEvent, Stop } from "../../../cycle/types.ts";
import type { Result } from "../../../parser/types.ts";
import { testsWith } from "../../tests_with.ts";
import { serveAsking } from "./asking_server.ts";
import { denoServer, type Place, type Ran, withPlace } from "./scene.ts";

const LEGACY = new URL("asking_legacy.ts", import.meta.url).pathname;

const test = testsWith(withPlace);

const resultOf = (chat: ChatSession, at = 0): Result => chat.chat.result(`call_${at}`)!;
const text = (chat: ChatSession) => new TextDecoder().decode(chat.chat.bytes);

/** Writes into the block of the call, as a person does in an editor. */
async function write(
  chat: ChatSession,
  changes: readonly (readonly [from: string, to: string])[],
): Promise<void> {
  const { place } = resultOf(chat);
  const before = chat.chat.text(place.from, place.to);
  const insert = changes.reduce((now, [from, to]) => {
    assert.ok(now.includes(from), `${from} is not in ${now}`);
    return now.replace(from, to);
  }, before);
  assert.equal(await chat.edit([{ from: place.from, to: place.to, insert }]), null);
}

const APPROVED = ["status=pending", "status=approved"] as const;
const codes = (events: readonly CycleEvent[]) =>
  events.flatMap((event) => event.event === "notice" ? [`${event.code}: ${event.message}`] : []);

/** Calls one tool of the server over HTTP. */
async function withAsked(
  place: Place,
  tool: string,
  work: (chat: ChatSession, stop: Stop, events: readonly CycleEvent[]) => Promise<void>,
): Promise<Ran> {
  const server = serveAsking();
  try {
    return await place.with(
      { web: { url: server.url } },
      [{ name: `web:${tool}` }],
      async (chat, events) => await work(chat, await chat.advance(), events),
    );
  } finally {
    await server.close();
  }
}

test("what a server asks is in the block of the call, which waits for the person", (place) =>
  withAsked(place, "ask", async (chat, stop, events) => {
    assert.equal(stop.reason, "pending");
    const { status, content, questions } = resultOf(chat);
    assert.deepEqual([status, content], ["pending", ""]);
    assert.match(questions!, /# > Where should the report go\?\n/);
    assert.match(questions!, /# Your address \(email address, required\)\nemail:\n/);
    assert.match(questions!, /\ncount: 3\n/);
    assert.ok(
      events.some((event) =>
        event.event === "tool:waiting" &&
        event.message === "The MCP server web asks you: Where should the report go? (line 15)"
      ),
    );
    // Nobody decided, so another run asks nothing of the server and changes nothing.
    const before = text(chat);
    assert.equal((await chat.advance()).reason, "pending");
    assert.equal(text(chat), before);
  }).then(() => {}));

test("approved answers go to the server with what it wants back, and the call gets its result", async (place) => {
  const ran = await withAsked(place, "ask", async (chat) => {
    await write(chat, [["email:", "email: a@example.com"], ["code:", "code: 007"], [
      "color: red",
      "color: green",
    ], APPROVED]);
    await chat.advance();
  });
  const content = { email: "a@example.com", count: 3, color: "green", code: "007", tags: ["a"], loud: false };
  assert.ok(
    ran.result(0).includes(
      JSON.stringify({ answers: { one: { action: "accept", content } }, state: "kept" }),
    ),
    ran.text,
  );
  assert.doesNotMatch(ran.text, /flemma:questions/);
});

test("a field that the person emptied or deleted is not sent", async (place) => {
  const ran = await withAsked(place, "ask", async (chat) => {
    await write(chat, [["email:", "email: a@b"], ["count: 3\n", ""], ["color: red", "color:"], APPROVED]);
    await chat.advance();
  });
  assert.match(ran.result(0), /\{"email":"a@b","tags":\["a"\],"loud":false\}/);
});

test("answers that do not fit wait again, with a sentence that names the field", (place) =>
  withAsked(place, "ask", async (chat, _, events) => {
    const rows: readonly (readonly [changes: readonly (readonly [string, string])[], why: string])[] = [
      [[], "email: is required."],
      [[["email:", "email: nobody"]], "email: must be an email address."],
      [[["email: nobody", "email: a@b"], ["count: 3", "count: 30"]], "count: must be <= 10."],
      [[["count: 30", "count: three"]], "count: must be a whole number."],
      [[["count: three", "count: 1.5"]], "count: must be integer."],
      [[["count: 1.5", "count: 1"], ["color: red", "color: blue"]], 'color: must be one of "red", "green".'],
      [[["color: blue", "color: red"], ['["a"]', "[z]"]], 'tags/0: must be one of "a", "b".'],
      [[["[z]", "a"]], "tags: must be a list, such as [a, b]."],
      [[["tags: a", "tags: [a]"], ["loud: false", "loud: maybe"]], "loud: must be true or false."],
      [[["loud: maybe", "loud: true"], ["code:", "cod:"]], "cod: is not asked for."],
      [[["cod:", "code: {"]], "is not valid YAML"],
    ];
    for (const [changes, why] of rows) {
      await write(chat, [...changes, APPROVED]);
      const { reason } = await chat.advance();
      const last = codes(events).at(-1)!;
      assert.equal(reason, "pending", why);
      assert.ok(
        last.startsWith("invalid-answers: The answers of call_0 cannot be sent: ") && last.includes(why),
        last,
      );
      assert.equal(resultOf(chat).status, "pending");
    }
    await write(chat, [["code: {", "code:"], APPROVED]);
    await chat.advance();
    assert.match(resultOf(chat).content, /"action":"accept"/);
  }).then(() => {}));

test("a person who rejects the call declines, and the server goes on", async (place) => {
  const ran = await withAsked(place, "ask", async (chat) => {
    await chat.reject("call_0");
    await chat.advance();
  });
  assert.match(ran.result(0), /\{"answers":\{"one":\{"action":"decline"\}\},"state":"kept"\}/);
});

test("a person who rejects the call with a reason ends it, and the server is not asked again", async (place) => {
  const ran = await withAsked(place, "ask", async (chat) => {
    await chat.reject("call_0", "Not now.");
    await chat.advance();
  });
  assert.match(ran.result(0), /\(error\)\n\n```\nNot now\.\n```/);
});

test("a server that asks again gets both answers, one after the other", async (place) => {
  const ran = await withAsked(place, "twice", async (chat) => {
    await write(chat, [["word:", "word: one"], APPROVED]);
    assert.equal((await chat.advance()).reason, "pending");
    assert.match(resultOf(chat).questions!, /Second\?[^]*\nword:\n/);
    await write(chat, [["word:", "word: two"], APPROVED]);
    await chat.advance();
  });
  assert.match(ran.result(0), /\{"word":"two"\}\}\},"state":"second"\}/);
});

test("several questions at once are answered together", async (place) => {
  const ran = await withAsked(place, "two", async (chat) => {
    await write(chat, [["email:", "email: a@b"], ["sure:", "sure: true"], APPROVED]);
    await chat.advance();
  });
  assert.match(ran.result(0), /"a":\{"action":"accept","content":\{"email":"a@b"/);
  assert.match(ran.result(0), /"b c":\{"action":"accept","content":\{"sure":true\}\}\},"state":"two"/);
});

test("a page is named with its host, and never opened", async (place) => {
  const ran = await withAsked(place, "page", async (chat) => {
    assert.match(
      resultOf(chat).questions!,
      /a page of the host example\.com:\n# > Sign in there\n# +https:\/\/example\.com\/go\?x=1\n/,
    );
    await chat.approve("call_0");
    await chat.advance();
  });
  assert.match(ran.result(0), /\{"answers":\{"one":\{"action":"accept"\}\},"state":"page"\}/);
});

test("a form for a secret, or one that cannot be shown, is refused", async (place) => {
  for (
    const [tool, why] of [["secret", 'for a secret ("apiKey") in a form'], [
      "nested",
      'for "deep" in a form that flemma',
    ]]
  ) {
    const ran = await withAsked(place, tool!, () => Promise.resolve());
    assert.match(ran.result(0), /\(error\)/);
    assert.ok(ran.result(0).includes(`The MCP server web asked you ${why}`), ran.text);
  }
});

test("nothing that a server asks takes effect in the document", (place) =>
  withAsked(place, "forge", async (chat) => {
    assert.deepEqual(chat.chat.turns.map(({ role }) => role), ["You", "Assistant", "You"]);
    assert.deepEqual(chat.chat.results.map(({ id, status }) => [id, status]), [["call_0", "pending"]]);
    assert.deepEqual(chat.chat.diagnostics, []);
    assert.equal(visible(text(chat), { lines: true }), text(chat));
    for (const line of resultOf(chat).questions!.split("\n")) assert.match(line, /^(?:#|"|$)/);
    // The defaults are sent as the server wrote them.
    await chat.approve("call_0");
    await chat.advance();
    const { answers } = JSON.parse(resultOf(chat).content);
    const [forged, other] = Object.entries(answers.one.content);
    assert.equal(forged![0], forged![1]);
    assert.deepEqual(other, ["x: 1\ny", "ok"]);
  }).then(() => {}));

test("answers to questions of which nothing is known here are an error, and the call is not repeated", async (place) => {
  const ran = await withAsked(place, "ask", async (chat) => {
    await write(chat, [["email:", "email: a@b"]]);
    // The same text as another call: an id of its own, of which nothing is known.
    const copy = text(chat).replaceAll("call_0", "call_1").replace("status=pending", "status=approved");
    await chat.edit([{ from: 0, to: chat.chat.byteLength, insert: copy }]);
    await chat.advance();
  });
  assert.match(ran.text, /`call_1` \(error\)\n\n```\nThe server's questions are no longer known here/);
});

test("a call whose questions were deleted waits, and is not repeated", (place) =>
  withAsked(place, "ask", async (chat, _, events) => {
    const { place: at } = resultOf(chat);
    const insert = "**Tool Result:** `call_0`\n\n```flemma:tool status=approved\n```";
    await chat.edit([{ from: at.from, to: at.to, insert }]);
    assert.equal((await chat.advance()).reason, "pending");
    assert.match(codes(events).at(-1)!, /^invalid-answers: .*the questions were deleted/);
    await chat.reject("call_0");
    await chat.advance();
    assert.equal(resultOf(chat).status, "error");
  }).then(() => {}));

test("a call that was changed after the questions gets no answers of the old one", (place) =>
  withAsked(place, "ask", async (chat) => {
    await write(chat, [["email:", "email: a@b"]]);
    const changed = text(chat).replace("{}", '{"a":1}').replace("status=pending", "status=approved");
    await chat.edit([{ from: 0, to: chat.chat.byteLength, insert: changed }]);
    await chat.advance();
    assert.doesNotMatch(text(chat), /"action"/);
  }).then(() => {}));

test("flemma declares that it takes questions, and nothing else", async (place) => {
  const ran = await withAsked(place, "declared", () => Promise.resolve());
  assert.match(ran.result(0), /clientCapabilities":\{"elicitation":\{"form":\{\},"url":\{\}\}\}/);
});

/** Calls one tool of the server of the legacy protocol. */
function withLegacy(
  place: Place,
  tool: string,
  work: (chat: ChatSession, events: readonly CycleEvent[]) => Promise<void>,
): Promise<Ran> {
  return place.with({ old: denoServer(LEGACY, "notes") }, [{ name: `old:${tool}` }], async (chat, events) => {
    assert.equal((await chat.advance()).reason, "pending");
    await work(chat, events);
  });
}

for (const tool of ["once", "dies", "fails"]) {
  test(`a server that cannot wait is called again with the answer: ${tool}`, async (place) => {
    const ran = await withLegacy(place, tool, async (chat) => {
      assert.match(resultOf(chat).questions!, /\nword: "First\?"\n/);
      assert.match(resultOf(chat).questions!, /approving calls the tool again from the start\./);
      await write(chat, [['word: "First?"', "word: one"], APPROVED]);
      await chat.advance();
    });
    assert.match(ran.result(0), /\[\{"action":"accept","content":\{"word":"one"\}\},null\]/);
    const notes = await Deno.readTextFile(`${place.folder}/notes`);
    assert.equal(notes.match(/"action":"cancel"/g)?.length, 1);
    assert.equal(notes.match(/"tools\/call"/g)?.length, 2);
  });
}

test("a server that cannot wait and asks twice gets the first answer again", async (place) => {
  const ran = await withLegacy(place, "twice", async (chat) => {
    await write(chat, [['word: "First?"', "word: one"], APPROVED]);
    assert.equal((await chat.advance()).reason, "pending");
    assert.match(resultOf(chat).questions!, /Second\?/);
    assert.doesNotMatch(resultOf(chat).questions!, /First/);
    await chat.approve("call_0");
    await chat.advance();
  });
  assert.match(
    ran.result(0),
    /\[\{"action":"accept","content":\{"word":"one"\}\},\{"action":"accept","content":\{"word":"Second\?"\}\}\]/,
  );
});

test("a server that cannot wait is not called again if the person rejects the call", async (place) => {
  const ran = await withLegacy(place, "once", async (chat) => {
    await chat.reject("call_0");
    await chat.advance();
  });
  assert.match(
    ran.result(0),
    /\(error\)\n\n```\nThe user declined to answer the server's questions; the call did not go on\./,
  );
  assert.equal((await Deno.readTextFile(`${place.folder}/notes`)).match(/"tools\/call"/g)?.length, 1);
});

test("a call that needs an open page first waits for the person", async (place) => {
  const ran = await withLegacy(place, "pages", async (chat) => {
    assert.match(resultOf(chat).questions!, /a page of the host example\.com/);
    await chat.reject("call_0");
    await chat.advance();
  });
  assert.match(ran.result(0), /declined/);
});
